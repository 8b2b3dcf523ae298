package main

// family is operators of one nature, which pictures give one color.
type family struct {
	name  string
	color string // as SVG has it: light enough for black letters
	kinds []string
}

// families are all there are, in the order a legend shows them. The colors are those of Paul Tol's light scheme, made for people
// who do not see all colors.
var families = []family{
	{"convolution", "#77aadd", []string{"Conv2D", "DepthwiseConv2D", "ConvTranspose2D"}},
	{"matrix product", "#ee8866", []string{"FullyConnected", "FullyConnectedTransposed", "FullyConnectedSparse", "BatchMatMul",
		"BatchMatMulTransposed", "Attention"}},
	{"activation", "#eedd88", []string{"Clamp", "ELU", "Exp", "GELU", "HardSwish", "LeakyReLU", "PReLU", "Sigmoid", "Softmax",
		"Tanh"}},
	{"element by element", "#bbcc33", []string{"Abs", "Add", "Atan2", "BankersRounding", "BitwiseAnd", "BitwiseNot", "BitwiseOr",
		"BitwiseXor", "Ceiling", "Copysign", "Cosine", "CountLeadingZeros", "CubeRoot", "Divide", "Floor", "Log", "Maximum", "Minimum",
		"Modulus", "Multiply", "Negate", "PopCount", "Pow", "ReciprocalSquareRoot", "RotaryEmbedding", "ShiftLeft",
		"ShiftRightArithmetic", "ShiftRightLogical", "Sign", "Sine", "Square", "SquareRoot", "SquaredDifference", "Subtract"}},
	{"pooling and sums", "#ffaabb", []string{"ArgMaxPool2D", "AvgPool2D", "MaxPool2D", "ReduceMean", "ReduceSum", "Unpool2D"}},
	{"moving and resizing", "#99ddff", []string{"Concat", "Copy", "DepthToSpace2D", "EvenSplit", "ExpandDims", "Pad", "Reshape",
		"ResizeBilinear2D", "Slice", "SpaceToDepth2D", "Transpose"}},
	{"conversion", "#dddddd", []string{"Convert"}},
}

var familyByKind = map[string]*family{}

func init() {
	for i := range families {
		for _, kind := range families[i].kinds {
			familyByKind[kind] = &families[i]
		}
	}
}

// familyOf is the family of an operator; kinds that are not listed are computed element by element.
func familyOf(kind string) *family {
	if f := familyByKind[kind]; f != nil {
		return f
	}
	return familyByKind["Add"]
}
