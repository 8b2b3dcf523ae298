package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// quant reads how a value's integers stand for numbers. What it says is checked with the value.
func (r *reader) quant(t DType, v *xnngraph.XNNQuantizedTensorValue) (*Quant, *schema.Error) {
	if v == nil {
		if t.quant() != quantNone && r.dialect == dialectSeed {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported,
				"%v needs a scale and zero point, for which this dialect has no place", t)
		}
		return nil, nil
	}
	var table flatbuffers.Table
	if !v.QuantParams(&table) {
		return nil, r.errorf("has no quant_params")
	}
	kind := v.QuantParamsType()
	want, ok := map[xnngraph.XNNQuantParams]quantKind{
		xnngraph.XNNQuantParamsPerTensorQuant:       quantTensor,
		xnngraph.XNNQuantParamsPerChannelQuant:      quantChannel,
		xnngraph.XNNQuantParamsPerChannelGroupQuant: quantBlock,
		xnngraph.XNNQuantParamsPerTokenDynamicQuant: quantDynamic,
	}[kind]
	if !ok {
		return nil, r.errorf("quant_params are of the unknown kind %v", kind)
	}
	if want != t.quant() {
		return nil, r.errorf("quant_params are %v, which %v cannot have", kind, t)
	}
	switch want {
	case quantTensor:
		var q xnngraph.PerTensorQuant
		q.Init(table.Bytes, table.Pos)
		return &Quant{Scale: q.Scale(), ZeroPoint: int(q.ZeroPoint())}, nil
	case quantChannel:
		var q xnngraph.PerChannelQuant
		q.Init(table.Bytes, table.Pos)
		return &Quant{Axis: int(q.ChannelDim()), Scales: floats(q.ScaleLength(), q.Scale)}, nil
	case quantBlock:
		var q xnngraph.PerChannelGroupQuant
		q.Init(table.Bytes, table.Pos)
		return &Quant{Axis: int(q.ChannelDim()), Block: int(q.GroupSize()), Scales: floats(q.ScaleLength(), q.Scale)}, nil
	}
	var q xnngraph.PerTokenDynamicQuant
	q.Init(table.Bytes, table.Pos)
	return &Quant{Inner: int(q.NumNonbatchDims())}, nil
}

func floats(n int, at func(int) float32) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = at(i)
	}
	return list
}
