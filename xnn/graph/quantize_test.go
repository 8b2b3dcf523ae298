package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

const tiny = 0x1p-149 // the smallest subnormal

func TestChooseQuant(t *testing.T) {
	for _, c := range []struct {
		dtype  graph.DType
		lo, hi float32
		scale  float32
		zero   int
	}{
		{graph.QUInt8, 0, 255, 1, 0},
		{graph.QInt8, 0, 255, 1, -128},
		{graph.QInt8, -64, 63.5, 0.5, 0},
		{graph.QUInt8, -10, 245, 1, 10},
		{graph.QInt8, -10, 245, 1, -118},
		{graph.QUInt8, 5, 510, 2, 0},      // widened to contain zero
		{graph.QUInt8, -255, -3, 1, 255},  // on either side
		{graph.QInt8, -255, -3, 1, 127},   //
		{graph.QUInt8, -0.5, 254.5, 1, 0}, // 0.5 rounds to the even 0
		{graph.QUInt8, -1.5, 253.5, 1, 2}, // and 1.5 to 2
		{graph.QUInt8, 0, 0, 1, 0},
		{graph.QInt8, 0, 0, 1, -128},
		{graph.QUInt8, 0, tiny, 0x1p-126, 0},
		{graph.QUInt8, -math.MaxFloat32, math.MaxFloat32, 2 * (math.MaxFloat32 / 255), 128},
	} {
		q, err := graph.ChooseQuant(c.dtype, c.lo, c.hi)
		require.NoError(t, err)
		require.Equal(t, &graph.Quant{Scale: c.scale, ZeroPoint: c.zero}, q, "%v [%g, %g]", c.dtype, c.lo, c.hi)
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, r := range [][2]float32{{nan, 1}, {0, nan}, {-inf, 1}, {0, inf}, {2, 1}} {
		_, err := graph.ChooseQuant(graph.QInt8, r[0], r[1])
		require.ErrorIs(t, err, schema.ErrArgument)
	}
	_, err := graph.ChooseQuant(graph.QCInt8, 0, 1)
	require.ErrorIs(t, err, schema.ErrArgument)
}

// quantized is what a helper gave.
type quantized struct {
	t    graph.Type
	data []byte
}

// got checks that a helper did not fail.
func got(t *testing.T) func(graph.Type, []byte, error) quantized {
	return func(typ graph.Type, data []byte, err error) quantized {
		t.Helper()
		require.NoError(t, err)
		// It is a constant as it stands.
		g := graph.New()
		g.ConstantOf(typ, data)
		require.NoError(t, g.Check())
		return quantized{typ, data}
	}
}

func TestQuantizeTensor(t *testing.T) {
	whole := func(dtype graph.DType, scale float32, zero int, n int, data ...byte) quantized {
		return quantized{graph.Type{DType: dtype, Shape: graph.Shape{n}, Quant: &graph.Quant{Scale: scale, ZeroPoint: zero}}, data}
	}
	// Ties go to even before the zero point is added, so that an odd one does not turn them around.
	require.Equal(t, whole(graph.QUInt8, 1, 11, 6, 0, 11, 11, 13, 13, 255),
		got(t)(graph.QuantizeTensor([]float32{-11, 0, 0.5, 1.5, 2.5, 244}, graph.Shape{6}, graph.QUInt8)))
	require.Equal(t, whole(graph.QInt8, 2, -128, 3, 0x80, 0x80, 0x7f),
		got(t)(graph.QuantizeTensor([]float32{0, 1, 510}, graph.Shape{3}, graph.QInt8)))
	require.Equal(t, whole(graph.QInt8, 1, -128, 2, 0x80, 0x80),
		got(t)(graph.QuantizeTensor([]float32{0, 0}, graph.Shape{2}, graph.QInt8)))
	require.Equal(t, whole(graph.QUInt8, 1, 0, 0),
		quantizedOrNil(got(t)(graph.QuantizeTensor(nil, graph.Shape{0}, graph.QUInt8))))

	require.Equal(t, whole(graph.QInt8, 1, 0, 5, 0x81, 64, 0, 2, 127),
		got(t)(graph.QuantizeSymmetric([]float32{-127, 63.5, 0.5, 1.5, 127}, graph.Shape{5}, graph.QInt8)))
	require.Equal(t, whole(graph.QUInt8, 1, 128, 5, 1, 192, 128, 130, 255),
		got(t)(graph.QuantizeSymmetric([]float32{-127, 63.5, 0.5, 1.5, 127}, graph.Shape{5}, graph.QUInt8)))
	require.Equal(t, whole(graph.QInt8, 1, 0, 1, 0),
		got(t)(graph.QuantizeSymmetric([]float32{0}, graph.Shape{1}, graph.QInt8)))
	require.Equal(t, whole(graph.QInt8, 0x1p-126, 0, 2, 0, 1),
		got(t)(graph.QuantizeSymmetric([]float32{tiny, 0x1p-126}, graph.Shape{2}, graph.QInt8)), "the least scale there is")
	require.Equal(t, whole(graph.QInt8, math.MaxFloat32/127, 0, 2, 0x81, 127),
		got(t)(graph.QuantizeSymmetric([]float32{-math.MaxFloat32, math.MaxFloat32}, graph.Shape{2}, graph.QInt8)))
}

// quantizedOrNil makes no bytes nil.
func quantizedOrNil(q quantized) quantized {
	if len(q.data) == 0 {
		q.data = nil
	}
	return q
}

func TestQuantizeChannels(t *testing.T) {
	channels := func(dtype graph.DType, shape graph.Shape, axis int, scales []float32, data ...byte) quantized {
		return quantized{graph.Type{DType: dtype, Shape: shape, Quant: &graph.Quant{Axis: axis, Scales: scales}}, data}
	}
	require.Equal(t, channels(graph.QCInt8, graph.Shape{2, 3}, 0, []float32{2, 1}, 127, 0xc0, 0, 0, 0, 0),
		got(t)(graph.QuantizeChannels([]float32{254, -127, 1, 0, 0, 0}, graph.Shape{2, 3}, 0, graph.QCInt8)), "one channel is zero")
	require.Equal(t, channels(graph.QCInt8, graph.Shape{2, 2}, 1, []float32{1, 0.5}, 127, 3, 0x81, 127),
		got(t)(graph.QuantizeChannels([]float32{127, 1.5, -127, 63.5}, graph.Shape{2, 2}, 1, graph.QCInt8)))
	require.Equal(t, channels(graph.QCInt8, graph.Shape{1, 2, 1, 2}, 3, []float32{1, 2}, 127, 127, 0, 1),
		got(t)(graph.QuantizeChannels([]float32{127, 254, 0, 2}, graph.Shape{1, 2, 1, 2}, 3, graph.QCInt8)), "a depthwise filter")
	// Even columns lie in the lower half, as value+8, and what is left of a row stands for zero.
	require.Equal(t, channels(graph.QCInt4, graph.Shape{2, 3}, 0, []float32{1, 0.5}, 0x1f, 0x89, 0xf8, 0x84),
		got(t)(graph.QuantizeChannels([]float32{7, -7, 1, 0, 3.5, -1.75}, graph.Shape{2, 3}, 0, graph.QCInt4)))
	require.Equal(t, channels(graph.QCInt4, graph.Shape{2, 2}, 1, []float32{1, 2}, 0xff, 0x84),
		got(t)(graph.QuantizeChannels([]float32{7, 14, -3.5, 1}, graph.Shape{2, 2}, 1, graph.QCInt4)))
	require.Equal(t, channels(graph.QCInt4, graph.Shape{1, 1}, 0, []float32{0x1p-126}, 0x88),
		got(t)(graph.QuantizeChannels([]float32{tiny}, graph.Shape{1, 1}, 0, graph.QCInt4)))
}

func TestQuantizeBlocks(t *testing.T) {
	data := make([]float32, 128)
	data[0], data[1], data[31] = 7, -7, 3.5 // scale 1, ties to even: 4
	data[64] = 7 * (1 + 0x1p-8)             // halfway between the scales 1 and 1+2^-7: 1, and 7.03 rounds to 7
	data[65] = -0.5                         // 0
	data[96], data[97] = -14, 1             // scale 2
	q := got(t)(graph.QuantizeBlocks(data, graph.Shape{2, 64}, 32))
	require.Equal(t, graph.Type{DType: graph.QBInt4, Shape: graph.Shape{2, 64}, Quant: &graph.Quant{Block: 32, Scales: []float32{1,
		1, 1, 2}}}, q.t)
	want := make([]byte, 64)
	for i := range want {
		want[i] = 0x88
	}
	want[0], want[15], want[32], want[48] = 0x1f, 0xc8, 0x8f, 0x81
	require.Equal(t, want, q.data)

	data = make([]float32, 32)
	data[0] = tiny
	q = got(t)(graph.QuantizeBlocks(data, graph.Shape{1, 32}, 32))
	require.Equal(t, []float32{0x1p-122}, q.t.Quant.Scales)
}

func TestQuantizeBias(t *testing.T) {
	x := graph.Type{DType: graph.QInt8, Quant: &graph.Quant{Scale: 0.5, ZeroPoint: 3}}
	whole := graph.Type{DType: graph.QInt8, Quant: &graph.Quant{Scale: 0.25}}
	channels := graph.Type{DType: graph.QCInt8, Quant: &graph.Quant{Scales: []float32{0.25, 0.5}}}
	require.Equal(t, quantized{graph.Type{DType: graph.QInt32, Shape: graph.Shape{4}, Quant: &graph.Quant{Scale: 0.125}},
		[]byte{8, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0xf8, 0xff, 0xff, 0xff}},
		got(t)(graph.QuantizeBias([]float32{1, -0.0625, 0.1875, -1}, x, whole)))
	require.Equal(t, quantized{graph.Type{DType: graph.QCInt32, Shape: graph.Shape{2}, Quant: &graph.Quant{Scales: []float32{0.125,
		0.25}}},
		[]byte{8, 0, 0, 0, 4, 0, 0, 0}}, got(t)(graph.QuantizeBias([]float32{1, 1}, x, channels)))

	small := graph.Type{DType: graph.QInt8, Quant: &graph.Quant{Scale: 0x1p-100}}
	floats := graph.Type{DType: graph.Float32}
	blocks := graph.Type{DType: graph.QBInt4, Quant: &graph.Quant{Scales: []float32{1}, Block: 32}}
	for name, c := range map[string]struct {
		bias      []float32
		x, filter graph.Type
	}{
		"does not fit":        {[]float32{0x1p28}, x, whole},
		"not a number":        {[]float32{float32(math.NaN())}, x, whole},
		"scale is subnormal":  {[]float32{0}, small, small},
		"channels":            {[]float32{0, 0, 0}, x, channels},
		"plain operand":       {[]float32{0}, floats, whole},
		"plain filter":        {[]float32{0}, x, floats},
		"operand of channels": {[]float32{0}, channels, whole},
		"bias of blocks":      {[]float32{0}, x, blocks},
		"infinite":            {[]float32{float32(math.Inf(1))}, x, whole},
	} {
		_, _, err := graph.QuantizeBias(c.bias, c.x, c.filter)
		require.ErrorIs(t, err, schema.ErrArgument, name)
	}
	_, data, err := graph.QuantizeBias([]float32{-0x1p28}, x, whole)
	require.NoError(t, err)
	require.Equal(t, []byte{0, 0, 0, 0x80}, data, "the least there is")
}

func TestQuantizeRejects(t *testing.T) {
	bad := []float32{1, float32(math.NaN())}
	inf := []float32{float32(math.Inf(-1)), 1}
	two := graph.Shape{2}
	for name, f := range map[string]func() (graph.Type, []byte, error){
		"NaN":              func() (graph.Type, []byte, error) { return graph.QuantizeTensor(bad, two, graph.QInt8) },
		"infinity":         func() (graph.Type, []byte, error) { return graph.QuantizeSymmetric(inf, two, graph.QInt8) },
		"NaN in a channel": func() (graph.Type, []byte, error) { return graph.QuantizeChannels(bad, two, 0, graph.QCInt8) },
		"too few":          func() (graph.Type, []byte, error) { return graph.QuantizeTensor(bad[:1], two, graph.QInt8) },
		"too many": func() (graph.Type, []byte, error) {
			return graph.QuantizeChannels(bad, graph.Shape{1}, 0, graph.QCInt8)
		},
		"negative":         func() (graph.Type, []byte, error) { return graph.QuantizeTensor(nil, graph.Shape{-1}, graph.QInt8) },
		"fp32":             func() (graph.Type, []byte, error) { return graph.QuantizeTensor(inf, two, graph.Float32) },
		"symmetric qint32": func() (graph.Type, []byte, error) { return graph.QuantizeSymmetric(inf, two, graph.QInt32) },
		"channels of qint8": func() (graph.Type, []byte, error) {
			return graph.QuantizeChannels([]float32{1, 2}, two, 0, graph.QInt8)
		},
		"axis past the end": func() (graph.Type, []byte, error) {
			return graph.QuantizeChannels([]float32{1, 2}, two, 1, graph.QCInt8)
		},
		"axis negative": func() (graph.Type, []byte, error) {
			return graph.QuantizeChannels([]float32{1, 2}, two, -1, graph.QCInt4)
		},
		"block of 16": func() (graph.Type, []byte, error) {
			return graph.QuantizeBlocks(make([]float32, 32), graph.Shape{1, 32}, 16)
		},
		"block of 0": func() (graph.Type, []byte, error) {
			return graph.QuantizeBlocks(make([]float32, 32), graph.Shape{1, 32}, 0)
		},
		"block too large": func() (graph.Type, []byte, error) {
			return graph.QuantizeBlocks(make([]float32, 32), graph.Shape{1, 32}, 64)
		},
		"blocks of a vector": func() (graph.Type, []byte, error) {
			return graph.QuantizeBlocks(make([]float32, 32), graph.Shape{32}, 32)
		},
		"NaN in a block": func() (graph.Type, []byte, error) {
			return graph.QuantizeBlocks(append(make([]float32, 31), bad[1]), graph.Shape{1, 32}, 32)
		},
	} {
		typ, data, err := f()
		require.ErrorIs(t, err, schema.ErrArgument, name)
		require.Zero(t, typ, name)
		require.Nil(t, data, name)
	}
}

func TestDequantize(t *testing.T) {
	typ := func(dtype graph.DType, q graph.Quant, shape ...int) graph.Type {
		return graph.Type{DType: dtype, Shape: shape, Quant: &q}
	}
	for _, c := range []struct {
		t    graph.Type
		data []byte
		want []float32
	}{
		{typ(graph.QInt8, graph.Quant{Scale: 0.5, ZeroPoint: -3}, 3), []byte{0x80, 0xfd, 0x7f}, []float32{-62.5, 0, 65}},
		{typ(graph.QUInt8, graph.Quant{Scale: 2, ZeroPoint: 10}, 3), []byte{0, 10, 255}, []float32{-20, 0, 490}},
		{typ(graph.QInt32, graph.Quant{Scale: 0.25}, 2), []byte{1, 0, 0, 0, 0, 0, 0, 0x80}, []float32{0.25, -0x1p29}},
		{typ(graph.QCInt32, graph.Quant{Scales: []float32{1, 2}}, 2), []byte{1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, []float32{1, -2}},
		{typ(graph.QCInt8, graph.Quant{Scales: []float32{1, 2}}, 2, 2), []byte{1, 0xff, 1, 0xff}, []float32{1, -1, 2, -2}},
		{typ(graph.QCInt8, graph.Quant{Scales: []float32{1, 2}, Axis: 1}, 2, 2), []byte{1, 0xff, 1, 0xff}, []float32{1, -2, 1, -2}},
		{typ(graph.QCInt4, graph.Quant{Scales: []float32{1, 2}}, 2, 3), []byte{0x0f, 0x89, 0xf8, 0x84}, []float32{7, -8, 1, 0, 14, -8}},
		{typ(graph.QCInt4, graph.Quant{Scales: []float32{}, Axis: 1}, 2, 0), []byte{}, []float32{}},
	} {
		numbers, err := graph.Dequantize(c.t, c.data)
		require.NoError(t, err, "%v", c.t)
		require.Equal(t, c.want, numbers, "%v", c.t)
	}
	// A block's scale is a BFloat, whatever was given: 1+2^-9 is 1.
	data := make([]byte, 32)
	for i := range data {
		data[i] = 0x88
	}
	data[0], data[31] = 0x0f, 0x98
	numbers, err := graph.Dequantize(typ(graph.QBInt4, graph.Quant{Block: 32, Scales: []float32{1 + 0x1p-9, 2}}, 1, 64), data)
	require.NoError(t, err)
	want := make([]float32, 64)
	want[0], want[1], want[63] = 7, -8, 2
	require.Equal(t, want, numbers)

	for name, c := range map[string]quantized{
		"fp32":              {graph.Type{DType: graph.Float32, Shape: graph.Shape{1}}, make([]byte, 4)},
		"found at run time": {typ(graph.QDInt8, graph.Quant{Inner: 1}, 1), make([]byte, 1)},
		"no scale":          {graph.Type{DType: graph.QInt8, Shape: graph.Shape{1}}, make([]byte, 1)},
		"scale zero":        {typ(graph.QInt8, graph.Quant{}, 1), make([]byte, 1)},
		"too few bytes":     {typ(graph.QInt8, graph.Quant{Scale: 1}, 2), make([]byte, 1)},
		"too many bytes":    {typ(graph.QCInt4, graph.Quant{Scales: []float32{1}}, 1, 3), make([]byte, 3)},
		"too few scales":    {typ(graph.QCInt8, graph.Quant{Scales: []float32{1}}, 2), make([]byte, 2)},
		"shape":             {typ(graph.QInt8, graph.Quant{Scale: 1}, -1), nil},
	} {
		_, err := graph.Dequantize(c.t, c.data)
		require.ErrorIs(t, err, schema.ErrArgument, name)
	}
}

// TestQuantizeRoundTrip: what comes back is within half a scale of what went in, for lengths that leave half a byte and those
// that do not.
func TestQuantizeRoundTrip(t *testing.T) {
	for _, n := range []int{1, 2, 3, 31, 33} {
		data := make([]float32, 2*n)
		for i := range data {
			data[i] = float32(math.Sin(float64(i)*1.7)) * float32(1+i)
		}
		shape := graph.Shape{2, n}
		for name, q := range map[string]quantized{
			"tensor":    got(t)(graph.QuantizeTensor(data, shape, graph.QUInt8)),
			"symmetric": got(t)(graph.QuantizeSymmetric(data, shape, graph.QInt8)),
			"rows":      got(t)(graph.QuantizeChannels(data, shape, 0, graph.QCInt8)),
			"columns":   got(t)(graph.QuantizeChannels(data, shape, 1, graph.QCInt8)),
			"4 bits":    got(t)(graph.QuantizeChannels(data, shape, 0, graph.QCInt4)),
		} {
			back, err := graph.Dequantize(q.t, q.data)
			require.NoError(t, err)
			for i, f := range back {
				scale := q.t.Quant.Scale
				if s := q.t.Quant.Scales; s != nil && q.t.Quant.Axis == 0 {
					scale = s[i/n]
				} else if s != nil {
					scale = s[i%n]
				}
				require.InDelta(t, data[i], f, float64(scale)*0.5001, "%s %d of %d", name, i, n)
			}
		}
	}
}
