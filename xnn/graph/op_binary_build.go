package graph

func (g *Graph) binary(f BinaryFunc, a, b ID, opts []Option) ID {
	return g.apply1(Binary{Func: f}, []ID{a, b}, opts)
}

// Add appends a node that sums x and y, with broadcasting, and returns the sum.
func (g *Graph) Add(x, y ID, opts ...Option) ID { return g.binary(Add, x, y, opts) }

// Atan2 appends a node that computes the angle, in radians, of each point (x, y) from the x axis, with broadcasting.
func (g *Graph) Atan2(y, x ID, opts ...Option) ID { return g.binary(Atan2, y, x, opts) }

// BitwiseAnd appends a node that takes the bits that x and y both have, with broadcasting.
func (g *Graph) BitwiseAnd(x, y ID, opts ...Option) ID { return g.binary(BitwiseAnd, x, y, opts) }

// BitwiseOr appends a node that takes the bits that x or y has, with broadcasting.
func (g *Graph) BitwiseOr(x, y ID, opts ...Option) ID { return g.binary(BitwiseOr, x, y, opts) }

// BitwiseXor appends a node that takes the bits that only one of x and y has, with broadcasting.
func (g *Graph) BitwiseXor(x, y ID, opts ...Option) ID { return g.binary(BitwiseXor, x, y, opts) }

// Copysign appends a node that gives |x| the sign of y, with broadcasting.
func (g *Graph) Copysign(x, y ID, opts ...Option) ID { return g.binary(Copysign, x, y, opts) }

// Divide appends a node that divides x by y, with broadcasting.
func (g *Graph) Divide(x, y ID, opts ...Option) ID { return g.binary(Divide, x, y, opts) }

// Maximum appends a node that takes the larger of x and y, with broadcasting.
func (g *Graph) Maximum(x, y ID, opts ...Option) ID { return g.binary(Maximum, x, y, opts) }

// Minimum appends a node that takes the smaller of x and y, with broadcasting.
func (g *Graph) Minimum(x, y ID, opts ...Option) ID { return g.binary(Minimum, x, y, opts) }

// Modulus appends a node that gives what is left of x when y is taken off as often as it fits, with x's sign and with
// broadcasting; 0 where y is 0.
func (g *Graph) Modulus(x, y ID, opts ...Option) ID { return g.binary(Modulus, x, y, opts) }

// Multiply appends a node that multiplies x and y element by element, with broadcasting.
func (g *Graph) Multiply(x, y ID, opts ...Option) ID { return g.binary(Multiply, x, y, opts) }

// Pow appends a node that raises x to the power y, with broadcasting. Integers to a negative power are 0.
func (g *Graph) Pow(x, y ID, opts ...Option) ID { return g.binary(Pow, x, y, opts) }

// PReLU appends a node that multiplies each negative element of x by slope, with broadcasting: of [batch, height, width,
// channels] and [channels] by one slope a channel.
func (g *Graph) PReLU(x, slope ID, opts ...Option) ID { return g.binary(PReLU, x, slope, opts) }

// ShiftLeft appends a node that moves the bits of x up by y modulo 32, with broadcasting.
func (g *Graph) ShiftLeft(x, y ID, opts ...Option) ID { return g.binary(ShiftLeft, x, y, opts) }

// ShiftRightArithmetic appends a node that moves the bits of x down by y modulo 32 and keeps the sign, with broadcasting.
func (g *Graph) ShiftRightArithmetic(x, y ID, opts ...Option) ID {
	return g.binary(ShiftRightArithmetic, x, y, opts)
}

// ShiftRightLogical appends a node that moves the bits of x down by y modulo 32, zeros above, with broadcasting.
func (g *Graph) ShiftRightLogical(x, y ID, opts ...Option) ID {
	return g.binary(ShiftRightLogical, x, y, opts)
}

// SquaredDifference appends a node that computes (x - y)^2, with broadcasting.
func (g *Graph) SquaredDifference(x, y ID, opts ...Option) ID {
	return g.binary(SquaredDifference, x, y, opts)
}

// Subtract appends a node that takes y from x, with broadcasting.
func (g *Graph) Subtract(x, y ID, opts ...Option) ID { return g.binary(Subtract, x, y, opts) }
