package schema

import (
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema/testdata/zoo"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// sum keeps what a walker reads from being optimised away. Its arithmetic means nothing.
type sum uint64

func (s *sum) add(values ...uint64) {
	for _, v := range values {
		*s = *s*31 + sum(v)
	}
}

func (s *sum) bytes(b []byte) {
	for _, c := range b {
		s.add(uint64(c))
	}
}

// walkXNNGraph reads everything the generated accessors of XNNGraph can reach.
func walkXNNGraph(b []byte) sum {
	var s sum
	g := xnngraph.GetRootAsXNNGraph(b, 0)
	s.bytes(g.Version())
	s.add(uint64(g.NumExterns()))
	for i := range g.XnodesLength() {
		var n xnngraph.XNode
		g.Xnodes(&n, i)
		s.add(uint64(n.XnodeType()), uint64(n.DebugHandle()))
		var u flatbuffers.Table
		if n.Xnode(&u) && n.XnodeType() == xnngraph.XNodeUnionXNNAdd {
			var a xnngraph.XNNNode2x1
			a.Init(u.Bytes, u.Pos)
			s.add(uint64(a.Input1Id()), uint64(a.Input2Id()), uint64(a.OutputId()), uint64(a.Flags()))
		}
		if m := n.OutputMinMax(nil); m != nil {
			s.add(uint64(m.OutputMin()), uint64(m.OutputMax()))
		}
	}
	for i := range g.XvaluesLength() {
		var x xnngraph.XValue
		g.Xvalues(&x, i)
		s.add(uint64(x.XvalueType()))
		var u flatbuffers.Table
		if !x.Xvalue(&u) {
			continue
		}
		switch x.XvalueType() {
		case xnngraph.XValueUnionXNNTensorValue:
			var v xnngraph.XNNTensorValue
			v.Init(u.Bytes, u.Pos)
			s.tensor(&v)
		case xnngraph.XValueUnionXNNQuantizedTensorValue:
			var q xnngraph.XNNQuantizedTensorValue
			q.Init(u.Bytes, u.Pos)
			s.quantized(&q)
		}
	}
	for i := range g.InputIdsLength() {
		s.add(uint64(g.InputIds(i)))
	}
	for i := range g.OutputIdsLength() {
		s.add(uint64(g.OutputIds(i)))
	}
	for i := range g.ConstantBufferLength() {
		var c xnngraph.Buffer
		g.ConstantBuffer(&c, i)
		s.bytes(c.StorageBytes())
		for j := range c.StorageLength() {
			s.add(uint64(c.Storage(j)))
		}
	}
	for i := range g.MemBufferSizesLength() {
		s.add(uint64(g.MemBufferSizes(i)))
	}
	for i := range g.ConstantDataLength() {
		var c xnngraph.ConstantDataOffset
		g.ConstantData(&c, i)
		s.add(c.Offset(), c.Size())
		s.bytes(c.NamedKey())
	}
	return s
}

func (s *sum) tensor(v *xnngraph.XNNTensorValue) {
	s.add(uint64(v.Datatype()), uint64(v.NumDims()), uint64(v.ConstantBufferIdx()), uint64(v.ExternalId()))
	s.add(uint64(v.Flags()), uint64(v.IdOut()), uint64(v.DqDatatype()))
	for j := range v.DimsLength() {
		s.add(uint64(v.Dims(j)))
	}
}

func (s *sum) quantized(q *xnngraph.XNNQuantizedTensorValue) {
	if v := q.TensorValue(nil); v != nil {
		s.tensor(v)
	}
	var u flatbuffers.Table
	if !q.QuantParams(&u) {
		return
	}
	switch q.QuantParamsType() {
	case xnngraph.XNNQuantParamsPerChannelQuant:
		var p xnngraph.PerChannelQuant
		p.Init(u.Bytes, u.Pos)
		s.add(uint64(p.ChannelDim()), uint64(p.ScaleBufferIdx()), uint64(p.NumScales()))
		for i := range p.ScaleLength() {
			s.add(uint64(math.Float32bits(p.Scale(i))))
		}
	case xnngraph.XNNQuantParamsPerChannelGroupQuant:
		var p xnngraph.PerChannelGroupQuant
		p.Init(u.Bytes, u.Pos)
		s.add(uint64(p.GroupSize()))
		for i := range p.ScaleBf16Length() {
			s.add(uint64(p.ScaleBf16(i)))
		}
	}
}

// walkZoo reads everything the generated accessors of testdata/zoo.fbs can reach.
func walkZoo(b []byte) sum {
	var s sum
	z := zoo.GetRootAsZoo(b, 0)
	s.bytes(z.Name())
	s.add(z.Year())
	for i := range z.CagesLength() {
		var c zoo.Cage
		z.Cages(&c, i)
		s.add(uint64(c.Mood()), uint64(c.AnimalType()))
		s.box(c.Area(nil))
		for j := range c.KeepersLength() {
			var k zoo.Keeper
			c.Keepers(&k, j)
			s.keeper(&k)
		}
		var u flatbuffers.Table
		if !c.Animal(&u) {
			continue
		}
		switch c.AnimalType() {
		case zoo.AnimalLion:
			var l zoo.Lion
			l.Init(u.Bytes, u.Pos)
			s.lion(&l)
		case zoo.AnimalBird:
			var bird zoo.Bird
			bird.Init(u.Bytes, u.Pos)
			s.bytes(bird.Song())
			s.add(uint64(math.Float32bits(bird.Span())))
			for j := range bird.RouteLength() {
				var p zoo.Point
				bird.Route(&p, j)
				s.point(&p)
			}
		case zoo.AnimalNamed:
			var k zoo.Keeper
			k.Init(u.Bytes, u.Pos)
			s.keeper(&k)
		}
	}
	for i := range z.TagsLength() {
		s.bytes(z.Tags(i))
	}
	for i := range z.MapLength() {
		var x zoo.Box
		z.Map(&x, i)
		s.box(&x)
	}
	for i := range z.PricesLength() {
		s.add(uint64(z.Prices(i)))
	}
	for i := range z.MoodsLength() {
		s.add(uint64(z.Moods(i)))
	}
	s.bytes(z.RawBytes())
	if p := z.Gate(nil); p != nil {
		s.point(p)
	}
	if k := z.Founder(nil); k != nil {
		s.keeper(k)
	}
	return s
}

func (s *sum) keeper(k *zoo.Keeper) {
	s.bytes(k.Name())
	s.add(uint64(k.Age()))
}

func (s *sum) lion(l *zoo.Lion) {
	s.add(math.Float64bits(l.Weight()))
	if l.Mane() {
		s.add(1)
	}
	for i := range l.CubsLength() {
		var cub zoo.Lion
		l.Cubs(&cub, i)
		s.lion(&cub)
	}
}

func (s *sum) point(p *zoo.Point) { s.add(uint64(math.Float32bits(p.X())), math.Float64bits(p.Y())) }

func (s *sum) box(b *zoo.Box) {
	if b == nil {
		return
	}
	var p zoo.Point
	s.point(b.Low(&p))
	s.point(b.High(&p))
	s.add(uint64(b.Id()), uint64(b.Code()))
}
