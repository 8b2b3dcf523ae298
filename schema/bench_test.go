package schema

import (
	"fmt"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema/xnngraph"
)

// chain builds a file of n nodes, each with a value of its own, and a constant of the given bytes.
func chain(n, constant int) []byte {
	b := flatbuffers.NewBuilder(0)
	nodes, values := make([]flatbuffers.UOffsetT, n), make([]flatbuffers.UOffsetT, n)
	for i := range n {
		xnngraph.XNNNode2x1Start(b)
		xnngraph.XNNNode2x1AddInput1Id(b, uint32(i))
		xnngraph.XNNNode2x1AddOutputId(b, uint32(i+1))
		add := xnngraph.XNNNode2x1End(b)
		xnngraph.XNodeStart(b)
		xnngraph.XNodeAddXnodeType(b, xnngraph.XNodeUnionXNNAdd)
		xnngraph.XNodeAddXnode(b, add)
		nodes[i] = xnngraph.XNodeEnd(b)

		xnngraph.XNNTensorValueStartDimsVector(b, 1)
		b.PrependUint32(256)
		dims := b.EndVector(1)
		xnngraph.XNNTensorValueStart(b)
		xnngraph.XNNTensorValueAddDims(b, dims)
		xnngraph.XNNTensorValueAddIdOut(b, uint32(i))
		tensor := xnngraph.XNNTensorValueEnd(b)
		xnngraph.XValueStart(b)
		xnngraph.XValueAddXvalueType(b, xnngraph.XValueUnionXNNTensorValue)
		xnngraph.XValueAddXvalue(b, tensor)
		values[i] = xnngraph.XValueEnd(b)
	}
	storage := b.CreateByteVector(make([]byte, constant))
	xnngraph.BufferStart(b)
	xnngraph.BufferAddStorage(b, storage)
	buffer := xnngraph.BufferEnd(b)
	buffers := b.CreateVectorOfTables([]flatbuffers.UOffsetT{buffer})
	xnodes, xvalues := b.CreateVectorOfTables(nodes), b.CreateVectorOfTables(values)
	xnngraph.XNNGraphStart(b)
	xnngraph.XNNGraphAddXnodes(b, xnodes)
	xnngraph.XNNGraphAddXvalues(b, xvalues)
	xnngraph.XNNGraphAddConstantBuffer(b, buffers)
	b.Finish(xnngraph.XNNGraphEnd(b))
	return b.FinishedBytes()
}

// The time goes with the tables, not with the bytes: a constant of 64 MiB costs nothing.
func BenchmarkVerify(b *testing.B) {
	for _, c := range []struct{ nodes, constant int }{{1, 16}, {1000, 16}, {1000, 64 << 20}} {
		b.Run(fmt.Sprintf("%dnodes/%dbytes", c.nodes, c.constant), func(b *testing.B) {
			buf, d := chain(c.nodes, c.constant), XNNGraph()
			b.ReportAllocs()
			for b.Loop() {
				if err := Verify(buf, d, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(4*c.nodes+2), "ns/table")
		})
	}
}

func BenchmarkParseDescription(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseDescription(xnngraphSchema); err != nil {
			b.Fatal(err)
		}
	}
}
