package graph

import (
	"math"

	"github.com/xnngo/xnngo/schema"
)

func (g *Graph) unary(f UnaryFunc, x ID, opts []Option) ID {
	return g.apply1(Unary{Func: f}, []ID{x}, opts)
}

// Abs appends a node that takes the absolute value of each element of x.
func (g *Graph) Abs(x ID, opts ...Option) ID { return g.unary(Abs, x, opts) }

// BankersRounding appends a node that rounds each element of x to the nearest whole number, halves to the even one.
func (g *Graph) BankersRounding(x ID, opts ...Option) ID { return g.unary(BankersRounding, x, opts) }

// BitwiseNot appends a node that turns over every bit of x.
func (g *Graph) BitwiseNot(x ID, opts ...Option) ID { return g.unary(BitwiseNot, x, opts) }

// Ceiling appends a node that rounds each element of x up to a whole number.
func (g *Graph) Ceiling(x ID, opts ...Option) ID { return g.unary(Ceiling, x, opts) }

// Clamp appends a node that limits each element of x to [lo, hi], of which either may be infinite. Limits of an Int32 are whole
// numbers up to 2^24 in size. NaN becomes one of the limits.
func (g *Graph) Clamp(x ID, lo, hi float32, opts ...Option) ID {
	if !(lo < hi) { // [0, 0], too, which a Range would take for no limits
		g.fail(schema.Errorf(schema.StageCheck, schema.ErrGraph, "limits [%g, %g]: the lower must be below the upper", lo, hi).
			AtNode(uint32(len(g.Nodes))))
	}
	return g.apply1(Unary{Func: Clamp, Range: Range{lo, hi}}, []ID{x}, opts)
}

// CountLeadingZeros appends a node that counts the zero bits above the highest one bit of each element of x.
func (g *Graph) CountLeadingZeros(x ID, opts ...Option) ID {
	return g.unary(CountLeadingZeros, x, opts)
}

// CubeRoot appends a node that takes the cube root of each element of x.
func (g *Graph) CubeRoot(x ID, opts ...Option) ID { return g.unary(CubeRoot, x, opts) }

// Cosine appends a node that takes the cosine of each element of x, in radians.
func (g *Graph) Cosine(x ID, opts ...Option) ID { return g.unary(Cosine, x, opts) }

// ELU appends a node that makes alpha (e^x - 1) of each negative element of x. Alpha is positive; 1 is usual.
func (g *Graph) ELU(x ID, alpha float32, opts ...Option) ID {
	return g.apply1(Unary{Func: ELU, Alpha: alpha}, []ID{x}, opts)
}

// Exp appends a node that raises e to the power of each element of x.
func (g *Graph) Exp(x ID, opts ...Option) ID { return g.unary(Exp, x, opts) }

// Floor appends a node that rounds each element of x down to a whole number.
func (g *Graph) Floor(x ID, opts ...Option) ID { return g.unary(Floor, x, opts) }

// GELU appends a node that multiplies each element x by the chance that a standard normal number is below it:
// x/2 (1 + erf(x / sqrt 2)), not the approximation by tanh.
func (g *Graph) GELU(x ID, opts ...Option) ID { return g.unary(GELU, x, opts) }

// HardSwish appends a node that computes x/6 min(max(x+3, 0), 6) of each element x.
func (g *Graph) HardSwish(x ID, opts ...Option) ID { return g.unary(HardSwish, x, opts) }

// LeakyReLU appends a node that multiplies each negative element of x by slope.
func (g *Graph) LeakyReLU(x ID, slope float32, opts ...Option) ID {
	return g.apply1(Unary{Func: LeakyReLU, Alpha: slope}, []ID{x}, opts)
}

// Log appends a node that takes the natural logarithm of each element of x.
func (g *Graph) Log(x ID, opts ...Option) ID { return g.unary(Log, x, opts) }

// Negate appends a node that changes the sign of each element of x.
func (g *Graph) Negate(x ID, opts ...Option) ID { return g.unary(Negate, x, opts) }

// PopCount appends a node that counts the one bits of each element of x.
func (g *Graph) PopCount(x ID, opts ...Option) ID { return g.unary(PopCount, x, opts) }

// ReciprocalSquareRoot appends a node that computes 1 / sqrt x of each element x.
func (g *Graph) ReciprocalSquareRoot(x ID, opts ...Option) ID {
	return g.unary(ReciprocalSquareRoot, x, opts)
}

// ReLU appends a node that makes each negative element of x zero: a Clamp to [0, +Inf].
func (g *Graph) ReLU(x ID, opts ...Option) ID { return g.Clamp(x, 0, float32(math.Inf(1)), opts...) }

// Sigmoid appends a node that computes 1 / (1 + e^-x) of each element x.
func (g *Graph) Sigmoid(x ID, opts ...Option) ID { return g.unary(Sigmoid, x, opts) }

// Sign appends a node that makes -1 of each negative element of x and 1 of each positive one.
func (g *Graph) Sign(x ID, opts ...Option) ID { return g.unary(Sign, x, opts) }

// Sine appends a node that takes the sine of each element of x, in radians.
func (g *Graph) Sine(x ID, opts ...Option) ID { return g.unary(Sine, x, opts) }

// Square appends a node that multiplies each element of x by itself.
func (g *Graph) Square(x ID, opts ...Option) ID { return g.unary(Square, x, opts) }

// SquareRoot appends a node that takes the square root of each element of x.
func (g *Graph) SquareRoot(x ID, opts ...Option) ID { return g.unary(SquareRoot, x, opts) }

// Tanh appends a node that takes the hyperbolic tangent of each element of x.
func (g *Graph) Tanh(x ID, opts ...Option) ID { return g.unary(Tanh, x, opts) }
