package graph

import (
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Convert appends a node that gives the elements of x another type, As or Quantized, or quantises them at run time, Dynamic.
// Real numbers become whole ones by rounding to the nearest, and what is too large the largest of the type; BFloat16 cuts off
// what it has no bits for. Integers of a quantised type stand for real numbers before and after, so that one type may be
// converted to itself with another scale.
func (g *Graph) Convert(x ID, opts ...Option) ID { return g.unary(Convert, x, opts) }

// Dynamic makes the result a QDInt8: quantised at run time, each row of so many inner dimensions with a scale and zero point of
// its own. Only operators that multiply with a filter read it.
func Dynamic(inner int) Option {
	return func(o *options) { o.typ = Type{DType: QDInt8, Quant: &Quant{Inner: inner}} }
}

func init() {
	var types []Signature
	for _, from := range allDTypes {
		for _, to := range allDTypes {
			types = append(types, Signature{[]DType{from}, []DType{to}})
		}
	}
	types = append(types, Signature{[]DType{Float32}, []DType{QDInt8}}, Signature{[]DType{Float16}, []DType{QDInt8}})
	registerUnary(Convert, types, form{
		tag:     xnngraph.XNodeUnionXNNConvert,
		dialect: dialectExecuTorch,
		decode:  decode1x1(Unary{Func: Convert}),
		encode:  encode1x1,
	})
}
