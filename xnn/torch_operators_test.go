package xnn

import (
	"math"

	"github.com/xnngo/xnngo/xnn/graph"
)

// builderCall applies the builder method that a case is about.
type builderCall func(g *graph.Graph, in []graph.ID, p *torchParams, opts ...graph.Option) []graph.ID

func unaryCall(method func(*graph.Graph, graph.ID, ...graph.Option) graph.ID) builderCall {
	return func(g *graph.Graph, in []graph.ID, _ *torchParams, opts ...graph.Option) []graph.ID {
		return []graph.ID{method(g, in[0], opts...)}
	}
}

func binaryCall(method func(_ *graph.Graph, _, _ graph.ID, _ ...graph.Option) graph.ID) builderCall {
	return func(g *graph.Graph, in []graph.ID, _ *torchParams, opts ...graph.Option) []graph.ID {
		return []graph.ID{method(g, in[0], in[1], opts...)}
	}
}

// productCall is that of a method with a filter and a bias.
func productCall(method func(_ *graph.Graph, _, _, _ graph.ID, _ ...graph.Option) graph.ID) builderCall {
	return func(g *graph.Graph, in []graph.ID, _ *torchParams, opts ...graph.Option) []graph.ID {
		return []graph.ID{method(g, in[0], in[1], in[2], opts...)}
	}
}

// oneCall is that of a method with parameters and one result.
func oneCall(method func(*graph.Graph, []graph.ID, *torchParams, []graph.Option) graph.ID) builderCall {
	return func(g *graph.Graph, in []graph.ID, p *torchParams, opts ...graph.Option) []graph.ID {
		return []graph.ID{method(g, in, p, opts)}
	}
}

func (p *torchParams) padding() graph.Padding {
	return graph.Padding{Top: p.Pad[0], Right: p.Pad[1], Bottom: p.Pad[2], Left: p.Pad[3]}
}

func (p *torchParams) pool() graph.Pool2D {
	return graph.Pool2D{Kernel: p.Kernel, Stride: p.Stride, Dilation: p.Dilation, Padding: p.padding(), SamePadding: p.Same}
}

// builderCalls are the builder methods that have cases, by name.
var builderCalls = map[string]builderCall{
	"Abs":                  unaryCall((*graph.Graph).Abs),
	"BankersRounding":      unaryCall((*graph.Graph).BankersRounding),
	"BitwiseNot":           unaryCall((*graph.Graph).BitwiseNot),
	"Ceiling":              unaryCall((*graph.Graph).Ceiling),
	"Convert":              unaryCall((*graph.Graph).Convert),
	"Copy":                 unaryCall((*graph.Graph).Copy),
	"Cosine":               unaryCall((*graph.Graph).Cosine),
	"CountLeadingZeros":    unaryCall((*graph.Graph).CountLeadingZeros),
	"CubeRoot":             unaryCall((*graph.Graph).CubeRoot),
	"Exp":                  unaryCall((*graph.Graph).Exp),
	"Floor":                unaryCall((*graph.Graph).Floor),
	"GELU":                 unaryCall((*graph.Graph).GELU),
	"HardSwish":            unaryCall((*graph.Graph).HardSwish),
	"Log":                  unaryCall((*graph.Graph).Log),
	"Negate":               unaryCall((*graph.Graph).Negate),
	"PopCount":             unaryCall((*graph.Graph).PopCount),
	"ReLU":                 unaryCall((*graph.Graph).ReLU),
	"ReciprocalSquareRoot": unaryCall((*graph.Graph).ReciprocalSquareRoot),
	"Sigmoid":              unaryCall((*graph.Graph).Sigmoid),
	"Sign":                 unaryCall((*graph.Graph).Sign),
	"Sine":                 unaryCall((*graph.Graph).Sine),
	"Softmax":              unaryCall((*graph.Graph).Softmax),
	"Square":               unaryCall((*graph.Graph).Square),
	"SquareRoot":           unaryCall((*graph.Graph).SquareRoot),
	"Tanh":                 unaryCall((*graph.Graph).Tanh),

	"Add":                   binaryCall((*graph.Graph).Add),
	"Atan2":                 binaryCall((*graph.Graph).Atan2),
	"BatchMatMul":           binaryCall((*graph.Graph).BatchMatMul),
	"BatchMatMulTransposed": binaryCall((*graph.Graph).BatchMatMulTransposed),
	"BitwiseAnd":            binaryCall((*graph.Graph).BitwiseAnd),
	"BitwiseOr":             binaryCall((*graph.Graph).BitwiseOr),
	"BitwiseXor":            binaryCall((*graph.Graph).BitwiseXor),
	"Copysign":              binaryCall((*graph.Graph).Copysign),
	"Divide":                binaryCall((*graph.Graph).Divide),
	"Maximum":               binaryCall((*graph.Graph).Maximum),
	"Minimum":               binaryCall((*graph.Graph).Minimum),
	"Modulus":               binaryCall((*graph.Graph).Modulus),
	"Multiply":              binaryCall((*graph.Graph).Multiply),
	"PReLU":                 binaryCall((*graph.Graph).PReLU),
	"Pow":                   binaryCall((*graph.Graph).Pow),
	"ShiftLeft":             binaryCall((*graph.Graph).ShiftLeft),
	"ShiftRightArithmetic":  binaryCall((*graph.Graph).ShiftRightArithmetic),
	"ShiftRightLogical":     binaryCall((*graph.Graph).ShiftRightLogical),
	"SquaredDifference":     binaryCall((*graph.Graph).SquaredDifference),
	"Subtract":              binaryCall((*graph.Graph).Subtract),

	"FullyConnected":           productCall((*graph.Graph).FullyConnected),
	"FullyConnectedTransposed": productCall((*graph.Graph).FullyConnectedTransposed),

	"Clamp": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.Clamp(in[0], p.Lo, p.Hi, opts...)
	}),
	"ELU": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.ELU(in[0], p.Alpha, opts...)
	}),
	"LeakyReLU": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.LeakyReLU(in[0], p.Alpha, opts...)
	}),
	"ReduceSum": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.ReduceSum(in[0], p.Axes, p.Keep, opts...)
	}),
	"ReduceMean": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.ReduceMean(in[0], p.Axes, p.Keep, opts...)
	}),
	"Reshape": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, _ []graph.Option) graph.ID {
		return g.Reshape(in[0], p.Dims...)
	}),
	"ExpandDims": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, _ []graph.Option) graph.ID {
		return g.ExpandDims(in[0], p.Axes...)
	}),
	"Transpose": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, _ []graph.Option) graph.ID {
		return g.Transpose(in[0], p.Perm...)
	}),
	"Slice": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.Slice(in[0], p.Offsets, p.Sizes, opts...)
	}),
	"Concat": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, _ []graph.Option) graph.ID {
		return g.Concat(p.Axis, in...)
	}),
	"EvenSplit": func(g *graph.Graph, in []graph.ID, p *torchParams, _ ...graph.Option) []graph.ID {
		return g.EvenSplit(in[0], p.Axis, p.Parts)
	},
	"Pad": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.Pad(in[0], p.Pre, p.Post, p.Value, opts...)
	}),
	"DepthToSpace2D": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.DepthToSpace2D(in[0], p.Block, opts...)
	}),
	"SpaceToDepth2D": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.SpaceToDepth2D(in[0], p.Block, opts...)
	}),
	"ResizeBilinear2D": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		mode := map[string]graph.ResizeMode{"AlignCorners": graph.AlignCorners, "Legacy": graph.Legacy}[p.Mode] // else HalfPixel
		return g.ResizeBilinear2D(in[0], p.Size[0], p.Size[1], mode, opts...)
	}),
	"Conv2D": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.Conv2D(in[0], in[1], in[2], graph.Conv2D{Padding: p.padding(), SamePadding: p.Same, Stride: p.Stride,
			Dilation: p.Dilation, Groups: p.Groups}, opts...)
	}),
	"DepthwiseConv2D": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.DepthwiseConv2D(in[0], in[1], in[2], graph.DepthwiseConv2D{Padding: p.padding(), SamePadding: p.Same,
			Stride: p.Stride, Dilation: p.Dilation}, opts...)
	}),
	"ConvTranspose2D": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.ConvTranspose2D(in[0], in[1], in[2], graph.ConvTranspose2D{Padding: p.padding(), Stride: p.Stride,
			Dilation: p.Dilation, Groups: p.Groups, Adjustment: p.Adjust}, opts...)
	}),
	"AvgPool2D": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.AvgPool2D(in[0], p.pool(), opts...)
	}),
	"MaxPool2D": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.MaxPool2D(in[0], p.pool(), opts...)
	}),
	"ArgMaxPool2D": func(g *graph.Graph, in []graph.ID, p *torchParams, _ ...graph.Option) []graph.ID {
		values, indices := g.ArgMaxPool2D(in[0], graph.ArgMaxPool2D{Kernel: p.Kernel, Padding: p.padding(), SamePadding: p.Same})
		return []graph.ID{values, indices}
	},
	"Unpool2D": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, _ []graph.Option) graph.ID {
		return g.Unpool2D(in[0], in[1], graph.Unpool2D{Kernel: p.Kernel, Padding: p.padding()})
	}),
	"Attention": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.Attention(in[0], in[1], in[2], in[3], in[4], p.Cap, opts...)
	}),
	"RotaryEmbedding": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, opts []graph.Option) graph.ID {
		return g.RotaryEmbedding(in[0], in[1], p.Tokens, opts...)
	}),

	// A few nodes together.
	"LayerNorm": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, _ []graph.Option) graph.ID {
		return layerNorm(g, in[0], in[1], in[2], p.Eps)
	}),
	"RMSNorm": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, _ []graph.Option) graph.ID {
		mean := g.ReduceMean(g.Square(in[0]), []int{-1}, true)
		return g.Multiply(g.Multiply(in[0], g.ReciprocalSquareRoot(g.Add(mean, scalar(g, p.Eps)))), in[1])
	}),
	"GroupNorm": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, _ []graph.Option) graph.ID {
		s := g.Values[in[0]].Shape
		x := g.Reshape(in[0], s[0], s[1]*s[2], p.Groups, s[3]/p.Groups)
		return g.Add(g.Multiply(g.Reshape(normalize(g, x, p.Eps, 1, 3), s...), in[1]), in[2])
	}),
	"BatchNorm": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, _ []graph.Option) graph.ID {
		gamma, beta, mean, variance := in[1], in[2], in[3], in[4]
		scale := g.Multiply(gamma, g.ReciprocalSquareRoot(g.Add(variance, scalar(g, p.Eps))))
		return g.Add(g.Multiply(g.Subtract(in[0], mean), scale), beta)
	}),
	"SiLU": oneCall(func(g *graph.Graph, in []graph.ID, _ *torchParams, _ []graph.Option) graph.ID {
		return g.Multiply(in[0], g.Sigmoid(in[0]))
	}),
	"HardSigmoid": oneCall(func(g *graph.Graph, in []graph.ID, _ *torchParams, _ []graph.Option) graph.ID {
		return hardSigmoid(g, in[0])
	}),
	"LogSoftmax": oneCall(func(g *graph.Graph, in []graph.ID, _ *torchParams, _ []graph.Option) graph.ID {
		return g.Log(g.Softmax(in[0]))
	}),
	"GELUTanh": oneCall(func(g *graph.Graph, in []graph.ID, _ *torchParams, _ []graph.Option) graph.ID {
		x := in[0]
		cubed := g.Multiply(scalar(g, 0.044715), g.Multiply(x, g.Square(x)))
		inner := g.Multiply(scalar(g, float32(math.Sqrt(2/math.Pi))), g.Add(x, cubed))
		return g.Multiply(g.Multiply(scalar(g, 0.5), x), g.Add(g.Tanh(inner), scalar(g, 1)))
	}),
	"Softplus": oneCall(func(g *graph.Graph, in []graph.ID, _ *torchParams, _ []graph.Option) graph.ID {
		return g.Log(g.Add(g.Exp(in[0]), scalar(g, 1)))
	}),
	"L2Normalize": oneCall(func(g *graph.Graph, in []graph.ID, _ *torchParams, _ []graph.Option) graph.ID {
		return g.Multiply(in[0], g.ReciprocalSquareRoot(g.ReduceSum(g.Square(in[0]), []int{-1}, true)))
	}),
	"SqueezeExcite": oneCall(func(g *graph.Graph, in []graph.ID, _ *torchParams, _ []graph.Option) graph.ID {
		return squeezeExcite(g, in[0], in[1], in[2], in[3], in[4])
	}),
	"MultiHeadAttention": oneCall(func(g *graph.Graph, in []graph.ID, p *torchParams, _ []graph.Option) graph.ID {
		return multiHead(g, in[0], in[1], in[2], in[3], in[4], p.Heads, false)
	}),
	"DynamicLinears": oneCall(func(g *graph.Graph, in []graph.ID, _ *torchParams, _ []graph.Option) graph.ID {
		rows := graph.Dynamic(1)
		hidden := g.FullyConnected(g.Convert(in[0], rows), in[1], graph.None, graph.Limits(0, float32(math.Inf(1))))
		return g.FullyConnected(g.Convert(hidden, rows), in[2], graph.None)
	}),
}
