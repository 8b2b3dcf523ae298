package graph_test

import "github.com/xnngo/xnngo/xnn/graph"

// fullyConnected has weights [4, 3], each operand of its type.
func fullyConnected(x, weights, bias graph.Type, y graph.Option) func(g *graph.Graph) {
	return func(g *graph.Graph) {
		outs(g, g.FullyConnected(g.InputOf(x), g.ConstantOf(weights, count(12)), g.ConstantOf(bias, count(16)), y))
	}
}

// dynamic is fp32 quantised row by row on the way into weights [4, n].
func dynamic(dtype graph.DType, q graph.Quant, n int, data []byte) func(g *graph.Graph) {
	return func(g *graph.Graph) {
		x := g.Convert(g.Input(graph.Float32, 2, n), graph.Dynamic(1))
		handle(g, 65535)
		weights := g.ConstantOf(graph.Type{DType: dtype, Shape: graph.Shape{4, n}, Quant: &q}, data)
		outs(g, g.FullyConnected(x, weights, g.Constant(numbers(4), 4)))
	}
}

// spare adds a constant that no value has.
func spare(build func(*graph.Graph), data []byte) func(*graph.Graph) {
	return func(g *graph.Graph) {
		build(g)
		g.Constants = append(g.Constants, graph.Constant{Data: data})
	}
}

func perChannel(t graph.DType, scales []float32, dims ...int) graph.Type {
	return graph.Type{DType: t, Shape: dims, Quant: &graph.Quant{Scales: scales}}
}

func init() {
	limits := graph.Limits(-1, 6)
	eight := append(scales[:4:4], scales...)
	var half []float32
	for _, s := range scales {
		half = append(half, s/2)
	}
	var bf16 []byte
	for _, s := range eight {
		b := graph.BFloatOf(s)
		bf16 = append(bf16, byte(b), byte(b>>8))
	}
	qcint4 := []byte{0x21, 0x83, 0x54, 0x86, 0x77, 0x88, 0x1a, 0x82} // rows of three, 8 behind them
	qint8 := scaled(graph.QInt8, 0.5, -3, 2, 3)
	toQInt8 := graph.Quantized(graph.QInt8, 2, 4)
	channels, blocks := graph.Quant{Scales: scales}, graph.Quant{Scales: eight, Block: 32}
	images := func(g *graph.Graph, dims ...int) graph.ID { return g.Input(graph.Float32, dims...) }
	fixtureTable = append(fixtureTable, []fixture{
		{name: "executorch/fully_connected", build: func(g *graph.Graph) {
			outs(g, g.FullyConnected(images(g, 2, 3), g.Constant(numbers(12), 4, 3), g.Constant(numbers(4), 4), limits))
			handle(g, 11)
		}},
		{name: "executorch/fully_connected_transposed", build: func(g *graph.Graph) {
			outs(g, g.FullyConnectedTransposed(images(g, 2, 3), g.Constant(numbers(12), 3, 4), graph.None))
		}},
		{name: "executorch/fully_connected_qint8", build: fullyConnected(qint8, scaled(graph.QInt8, 0.5, 0, 4, 3),
			scaled(graph.QInt32, 0.25, 0, 4), toQInt8)},
		{name: "executorch/fully_connected_qcint8", build: fullyConnected(qint8, perChannel(graph.QCInt8, scales, 4, 3),
			perChannel(graph.QCInt32, half, 4), toQInt8)},
		{name: "executorch/dynamic_qcint8", build: dynamic(graph.QCInt8, channels, 3, count(12))},
		{name: "executorch/dynamic_qcint4", build: dynamic(graph.QCInt4, channels, 3, qcint4)},
		{name: "executorch/dynamic_qbint4", build: dynamic(graph.QBInt4, blocks, 64, count(128))},
		{name: "executorch/foreign_scale_buffer", foreign: true,
			build: spare(dynamic(graph.QCInt8, channels, 3, count(12)), append(little(scales...), 1, 2, 3))},
		{name: "executorch/foreign_scale_buffer_bf16", foreign: true,
			build: spare(dynamic(graph.QBInt4, blocks, 64, count(128)), bf16)},
		{name: "executorch/foreign_scale_bf16", foreign: true, build: dynamic(graph.QBInt4, blocks, 64, count(128))},
		{name: "executorch/foreign_num_scales", foreign: true, build: dynamic(graph.QCInt8, channels, 3, count(12))},
		{name: "executorch/foreign_dq_datatype", foreign: true, build: dynamic(graph.QCInt8, channels, 3, count(12))},

		{name: "executorch/conv_2d", build: func(g *graph.Graph) {
			outs(g, g.Conv2D(images(g, 1, 5, 6, 4), g.Constant(numbers(108), 6, 3, 3, 2), g.Constant(numbers(6), 6), graph.Conv2D{
				Padding: graph.Padding{Top: 1, Right: 1, Bottom: 1}, Stride: [2]int{2, 1}, Dilation: [2]int{1, 2}, Groups: 2}, limits))
			handle(g, 3)
		}},
		{name: "executorch/depthwise_conv_2d", build: func(g *graph.Graph) {
			outs(g, g.DepthwiseConv2D(images(g, 1, 5, 5, 3), g.Constant(numbers(54), 1, 3, 3, 6), graph.None, graph.DepthwiseConv2D{
				Padding: graph.Padding{Top: 1, Right: 1, Bottom: 1, Left: 1}}, limits))
			handle(g, 3)
		}},
		{name: "executorch/conv_transpose_2d", build: func(g *graph.Graph) {
			outs(g, g.ConvTranspose2D(images(g, 1, 3, 3, 2), g.Constant(numbers(36), 3, 3, 2, 2), g.Constant(numbers(3), 3),
				graph.ConvTranspose2D{Padding: graph.Padding{Top: 1}, Stride: [2]int{2, 2}, Adjustment: [2]int{1, 0}}, limits))
			handle(g, 3)
		}},
		{name: "executorch/avg_pooling_2d", build: func(g *graph.Graph) {
			o := graph.Pool2D{Kernel: [2]int{2, 2}, Padding: graph.Padding{Top: 1, Bottom: 1}}
			outs(g, g.AvgPool2D(images(g, 1, 4, 4, 2), o, limits))
		}},
		{name: "executorch/max_pooling_2d", build: func(g *graph.Graph) {
			outs(g, g.MaxPool2D(images(g, 1, 4, 5, 2), graph.Pool2D{Kernel: [2]int{3, 3}, Stride: [2]int{1, 1}, Dilation: [2]int{1, 2},
				Padding: graph.Padding{Top: 1, Right: 2, Bottom: 1, Left: 2}}, limits))
		}},
		{name: "executorch/arg_max_pooling_2d", build: func(g *graph.Graph) {
			values, indices := g.ArgMaxPool2D(images(g, 1, 4, 4, 2), graph.ArgMaxPool2D{Kernel: [2]int{2, 2}})
			outs(g, values, indices)
		}},
		{name: "ours/unpooling_2d", build: func(g *graph.Graph) {
			outs(g, g.Unpool2D(images(g, 1, 2, 2, 2), g.Input(graph.Int32, 1, 2, 2, 2), graph.Unpool2D{Kernel: [2]int{2, 2},
				Padding: graph.Padding{Top: 1}}))
		}},
		{name: "executorch/scaled_dot_product_attention", build: func(g *graph.Graph) {
			outs(g, g.Attention(images(g, 1, 2, 3, 4), images(g, 1, 2, 5, 4), images(g, 1, 2, 5, 4), images(g, 4), images(g, 3, 5), 0))
		}},
		{name: "ours/attention", build: func(g *graph.Graph) {
			outs(g, g.Attention(images(g, 1, 2, 3, 4), images(g, 1, 2, 5, 4), images(g, 1, 2, 5, 4), images(g, 4), images(g, 3, 5), 30))
		}},
		{name: "ours/rotary_embedding", build: func(g *graph.Graph) {
			outs(g, g.RotaryEmbedding(images(g, 1, 3, 2, 4), g.Constant(numbers(32), 8, 4), 8))
		}},
		{name: "ours/fully_connected_sparse", build: func(g *graph.Graph) {
			outs(g, g.FullyConnectedSparse(images(g, 2, 3), g.Constant(numbers(12), 4, 3), g.Constant(numbers(4), 4)))
		}},
	}...)
}
