package graph

import (
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema/xnngraph"
)

// quant writes how a value's integers stand for numbers.
func (w *writer) quant(t Type) (xnngraph.XNNQuantParams, flatbuffers.UOffsetT) {
	b, q := w.b, t.Quant
	switch t.DType.quant() {
	case quantTensor:
		xnngraph.PerTensorQuantStart(b)
		xnngraph.PerTensorQuantAddScale(b, q.Scale)
		xnngraph.PerTensorQuantAddZeroPoint(b, int32(q.ZeroPoint))
		return xnngraph.XNNQuantParamsPerTensorQuant, xnngraph.PerTensorQuantEnd(b)
	case quantChannel:
		scales := w.floats(q.Scales)
		xnngraph.PerChannelQuantStart(b)
		xnngraph.PerChannelQuantAddScale(b, scales)
		xnngraph.PerChannelQuantAddChannelDim(b, int32(q.Axis))
		return xnngraph.XNNQuantParamsPerChannelQuant, xnngraph.PerChannelQuantEnd(b)
	case quantBlock:
		scales := w.floats(q.Scales)
		xnngraph.PerChannelGroupQuantStart(b)
		xnngraph.PerChannelGroupQuantAddScale(b, scales)
		xnngraph.PerChannelGroupQuantAddChannelDim(b, int32(q.Axis))
		xnngraph.PerChannelGroupQuantAddGroupSize(b, int32(q.Block))
		return xnngraph.XNNQuantParamsPerChannelGroupQuant, xnngraph.PerChannelGroupQuantEnd(b)
	}
	xnngraph.PerTokenDynamicQuantStart(b)
	xnngraph.PerTokenDynamicQuantAddNumNonbatchDims(b, int32(q.Inner))
	return xnngraph.XNNQuantParamsPerTokenDynamicQuant, xnngraph.PerTokenDynamicQuantEnd(b)
}

func (w *writer) floats(v []float32) flatbuffers.UOffsetT {
	w.b.StartVector(flatbuffers.SizeUint32, len(v), flatbuffers.SizeUint32)
	for i := len(v) - 1; i >= 0; i-- {
		w.b.PrependUint32(math.Float32bits(v[i]))
	}
	return w.b.EndVector(len(v))
}
