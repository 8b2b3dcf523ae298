package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// BatchMatMul multiplies matrices, the last two dimensions of its operands: [..., M, K] and [..., K, N] make [..., M, N]. The
// other dimensions are broadcast against each other. XNNPACK refuses matrices without elements.
type BatchMatMul struct {
	// Transposed: the second operand is [..., N, K].
	Transposed bool
}

// Kind is BatchMatMul or BatchMatMulTransposed.
func (o BatchMatMul) Kind() string {
	if o.Transposed {
		return "BatchMatMulTransposed"
	}
	return "BatchMatMul"
}

func (o BatchMatMul) infer(in, _ []Value) ([]Shape, error) {
	a, b := &in[0], &in[1]
	for _, v := range in {
		if len(v.Shape) < 2 {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "%v is no matrix", v.Shape).AtValue(v.Ref)
		}
		if matrix := v.Shape[len(v.Shape)-2:]; matrix.Elements() == 0 {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%v has no elements to multiply", v.Shape).AtValue(v.Ref)
		}
	}
	ra, rb := len(a.Shape)-2, len(b.Shape)-2
	m, k := a.Shape[ra], a.Shape[ra+1]
	kb, n, columns := b.Shape[rb], b.Shape[rb+1], rb+1
	if o.Transposed {
		kb, n, columns = n, kb, rb
	}
	if k != kb {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "%v and %v do not multiply: %d against %d", a.Shape, b.Shape, k,
			kb)
	}
	if b.DType == QCInt8 {
		if err := o.checkWeights(b, columns); err != nil {
			return nil, err
		}
	}
	if err := checkRows(a, k); err != nil {
		return nil, err
	}
	batch, err := Broadcast(a.Shape[:ra], b.Shape[:rb])
	if err != nil {
		return nil, err
	}
	for i, d := range batch {
		// XNNPACK takes the larger of the two for the result's.
		if d == 0 && (padded(a.Shape[:ra], len(batch), i) != 0 || padded(b.Shape[:rb], len(batch), i) != 0) {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%v and %v: a dimension of 1 is not broadcast over none",
				a.Shape, b.Shape)
		}
	}
	return []Shape{append(batch, m, n)}, nil
}

// checkWeights holds a quantised operand to what XNNPACK has scales for: one matrix with a scale for each column of the result.
func (o BatchMatMul) checkWeights(b *Value, columns int) *schema.Error {
	fault := func(format string, args ...any) *schema.Error {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, format, args...).AtValue(b.Ref)
	}
	switch batch := b.Shape[:len(b.Shape)-2]; {
	case b.Constant == 0:
		return fault("weights of %v must be a constant", b.DType)
	case b.Quant.Axis != columns:
		return fault("the scales of %v are along dimension %d, the columns of the result are dimension %d", b.Type, b.Quant.Axis,
			columns)
	case batch.Elements() != 1:
		return fault("weights of %v are one matrix, found %v", b.DType, b.Shape)
	}
	return nil
}

// padded is dimension i of s where s has ones in front of it up to this rank.
func padded(s Shape, rank, i int) int {
	if i += len(s) - rank; i >= 0 {
		return s[i]
	}
	return 1
}

// BatchMatMul appends a node that multiplies matrices, [..., M, K] with [..., K, N], the other dimensions broadcast. With a of
// QDInt8, b is a constant of QCInt8 and the result Float32.
func (g *Graph) BatchMatMul(a, b ID, opts ...Option) ID {
	return g.apply1(BatchMatMul{}, []ID{a, b}, opts)
}

// BatchMatMulTransposed is BatchMatMul with b of [..., N, K].
func (g *Graph) BatchMatMulTransposed(a, b ID, opts ...Option) ID {
	return g.apply1(BatchMatMul{Transposed: true}, []ID{a, b}, opts)
}

func init() {
	for _, transposed := range []bool{false, true} {
		register(operator{
			op:      BatchMatMul{Transposed: transposed},
			inputs:  exactly(2),
			outputs: exactly(1),
			types: []Signature{
				{[]DType{Float32, Float32}, []DType{Float32}},
				{[]DType{Float16, Float16}, []DType{Float16}},
				{[]DType{QDInt8, QCInt8}, []DType{Float32}},
			},
			forms: []form{{
				tag:     xnngraph.XNodeUnionXNNBatchMatrixMultiply,
				dialect: dialectExecuTorch,
				decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
					var n xnngraph.XNNNode2x1
					n.Init(t.Bytes, t.Pos)
					op := BatchMatMul{Transposed: n.Flags()&flagTransposed != 0}
					return op, []operand{{"input1_id", n.Input1Id()}, {"input2_id", n.Input2Id()}},
						[]operand{{"output_id", n.OutputId()}}, onlyFlags(op.Kind(), n.Flags(), flagTransposed)
				},
				encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
					flags := uint32(0)
					if op.(BatchMatMul).Transposed {
						flags = flagTransposed
					}
					xnngraph.XNNNode2x1Start(b)
					xnngraph.XNNNode2x1AddInput1Id(b, in[0])
					xnngraph.XNNNode2x1AddInput2Id(b, in[1])
					xnngraph.XNNNode2x1AddOutputId(b, out[0])
					xnngraph.XNNNode2x1AddFlags(b, flags)
					return xnngraph.XNNNode2x1End(b)
				},
			}},
		})
	}
}
