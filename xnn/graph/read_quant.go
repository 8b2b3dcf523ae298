package graph

import (
	"encoding/binary"
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

var quantKinds = map[xnngraph.XNNQuantParams]quantKind{
	xnngraph.XNNQuantParamsPerTensorQuant:       quantTensor,
	xnngraph.XNNQuantParamsPerChannelQuant:      quantChannel,
	xnngraph.XNNQuantParamsPerChannelGroupQuant: quantBlock,
	xnngraph.XNNQuantParamsPerTokenDynamicQuant: quantDynamic,
}

// quant reads how a value's integers stand for numbers. What it says is checked with the value.
func (r *reader) quant(t DType, v *xnngraph.XNNQuantizedTensorValue) (*Quant, *schema.Error) {
	if v == nil {
		if t.quant() != quantNone && r.dialect == dialectSeed {
			return nil, r.unsupported("%v needs a scale and zero point, for which this dialect has no place", t)
		}
		return nil, nil
	}
	var table flatbuffers.Table
	if !v.QuantParams(&table) {
		return nil, r.errorf("has no quant_params")
	}
	kind, ok := quantKinds[v.QuantParamsType()]
	if !ok {
		return nil, r.errorf("quant_params are of the unknown kind %v", v.QuantParamsType())
	}
	if kind != t.quant() {
		return nil, r.errorf("quant_params are %v, which %v cannot have", v.QuantParamsType(), t)
	}
	switch kind {
	case quantTensor:
		var q xnngraph.PerTensorQuant
		q.Init(table.Bytes, table.Pos)
		return &Quant{Scale: q.Scale(), ZeroPoint: int(q.ZeroPoint())}, nil
	case quantChannel:
		var q xnngraph.PerChannelQuant
		q.Init(table.Bytes, table.Pos)
		scales, err := r.scales(scaleSource{
			buffer: q.ScaleBufferIdx(), count: q.NumScales(), read: fp32Scales,
			inline: []scaleList{{"scale", q.ScaleLength(), q.Scale}},
		})
		return &Quant{Axis: int(q.ChannelDim()), Scales: scales}, err
	case quantBlock:
		var q xnngraph.PerChannelGroupQuant
		q.Init(table.Bytes, table.Pos)
		scales, err := r.scales(scaleSource{
			buffer: q.ScaleBufferIdx(), count: q.NumScales(), read: bf16Scales,
			inline: []scaleList{
				{"scale", q.ScaleLength(), q.Scale},
				{"scale_bf16", q.ScaleBf16Length(), func(i int) float32 { return BFloat(q.ScaleBf16(i)).Float32() }},
			},
		})
		return &Quant{Axis: int(q.ChannelDim()), Block: int(q.GroupSize()), Scales: scales}, err
	}
	var q xnngraph.PerTokenDynamicQuant
	q.Init(table.Bytes, table.Pos)
	return &Quant{Inner: int(q.NumNonbatchDims())}, nil
}

// scaleSource is where the scales of a value can be.
type scaleSource struct {
	buffer uint32 // the constant that holds them; 0: they are in the table itself
	count  uint32 // how many there are; 0 where they are in the table and it does not say
	read   scaleFormat
	inline []scaleList
}

// scaleList is a vector of scales in a table.
type scaleList struct {
	field string
	n     int
	at    func(int) float32
}

// scaleFormat is how a constant holds scales.
type scaleFormat struct {
	size int
	at   func([]byte) float32
}

var (
	fp32Scales = scaleFormat{4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }}
	bf16Scales = scaleFormat{2, func(b []byte) float32 { return BFloat(binary.LittleEndian.Uint16(b)).Float32() }}
)

// scales reads the scales of a value. Whether their number fits its shape is checked with the value.
func (r *reader) scales(s scaleSource) ([]float32, *schema.Error) {
	if s.buffer != 0 {
		return r.bufferScales(s)
	}
	var found *scaleList
	for i := range s.inline {
		l := &s.inline[i]
		switch {
		case l.n == 0:
			continue
		case found != nil:
			return nil, r.errorf("%s has %d scales and %s has %d, only one of them can have any", found.field, found.n, l.field, l.n)
		}
		found = l
	}
	n := 0
	if found != nil {
		n = found.n
	}
	if s.count != 0 && int64(s.count) != int64(n) {
		return nil, r.errorf("num_scales is %d, scale has %d entries", s.count, n)
	}
	if err := r.takeScales(n); err != nil {
		return nil, err
	}
	scales := make([]float32, n)
	for i := range scales {
		scales[i] = found.at(i)
	}
	return scales, nil
}

func (r *reader) bufferScales(s scaleSource) ([]float32, *schema.Error) {
	index, err := r.constant("scale_buffer_idx", s.buffer)
	if err != nil {
		return nil, err
	}
	data := r.g.Constants[index].Data
	if int64(s.count) > int64(len(data)/s.read.size) {
		return nil, r.errorf("scale_buffer_idx %d: num_scales %d of %d bytes each need %d bytes, found %d",
			index, s.count, s.read.size, int64(s.count)*int64(s.read.size), len(data))
	}
	n := int(s.count)
	if err := r.takeScales(n); err != nil {
		return nil, err
	}
	scales := make([]float32, n)
	for i := range scales {
		scales[i] = s.read.at(data[i*s.read.size:])
	}
	return scales, nil
}

func (r *reader) takeScales(n int) *schema.Error {
	if r.scaleBudget -= n; r.scaleBudget < 0 {
		return r.errorf("the values have more scales than the file can hold")
	}
	return nil
}
