package graph

// Constant is a block of bytes that values can be bound to.
type Constant struct {
	// Data is little-endian, packed, outermost dimension first. A graph read from a file shares the file's bytes. It is nil where
	// the bytes are made when somebody needs them: see Bytes and Graph.ConstantFrom.
	Data []byte
	// Reserve is the number of bytes the constant takes, the rest filled with zeros; 0 means Len.
	Reserve uint32

	fill func(dst []byte) // writes the bytes into zeros, where Data is nil
	size int              // of what fill writes
}

// Len is the number of bytes of Data, or of those that are made in its place.
func (c Constant) Len() int {
	if c.fill != nil {
		return c.size
	}
	return len(c.Data)
}

// Size is the number of bytes the constant provides.
func (c Constant) Size() int { return max(c.Len(), int(c.Reserve)) }

// Bytes is Data, or what is made in its place, at each call anew.
func (c Constant) Bytes() []byte {
	if c.fill == nil {
		return c.Data
	}
	made := make([]byte, c.size)
	c.fill(made)
	return made
}

// CopyTo writes the constant to dst, which holds zeros: the first bytes where it is shorter.
func (c Constant) CopyTo(dst []byte) {
	if c.fill != nil && len(dst) >= c.size {
		c.fill(dst[:c.size])
		return
	}
	copy(dst, c.Bytes())
}

// absent tells a constant that nobody gave bytes.
func (c Constant) absent() bool { return c.Data == nil && c.fill == nil }

// ConstantFrom is ConstantOf for bytes that are made when somebody needs them, such as weights of another precision: fill writes
// them into size zeros, any number of times, also at once in several goroutines.
func (g *Graph) ConstantFrom(t Type, size int, fill func(dst []byte)) ID {
	return g.constant(t, Constant{fill: fill, size: size})
}
