package tflite

import (
	"github.com/xnngo/xnngo/schema"
)

// translate takes the operators, one after the other, into the graph, or computes what they give where their operands are known.
func (im *importer) translate() error {
	for i := range im.nodes {
		n := &im.nodes[i]
		done, err := n.folded()
		if err == nil && !done {
			err = n.translate()
		}
		if err != nil {
			return n.atNode(err)
		}
	}
	return nil
}

func (n *node) translate() error {
	if n.build == nil {
		return n.unsupported("its operands must be constants")
	}
	if err := n.build(n); err != nil {
		return err
	}
	return n.err
}

// folded computes the results where the operands are constants, and tells whether it did.
func (n *node) folded() (bool, error) {
	if n.fold == nil {
		return false, nil
	}
	in := make([]*constant, len(n.in))
	for i, at := range n.in {
		if at < 0 {
			if i < n.handler.in.least {
				return false, nil
			}
			continue
		}
		t, err := n.im.tensor(at)
		if err != nil {
			return false, err
		}
		if in[i] = t.constant; in[i] == nil && !n.ofShapes {
			return false, nil
		}
	}
	out, err := n.fold(n, in)
	if err != nil || out == nil {
		return false, err
	}
	for i, c := range out {
		t, err := n.result(i)
		if err != nil {
			return false, err
		}
		if t.typ != c.typ {
			return false, n.invalid("the result is declared %v, computed %v", t.typ, c.typ).AtValue(t.ref())
		}
		if t.known && !n.im.flexible && !t.shape.Equal(c.shape) {
			return false, n.at(errorf(schema.ErrShape, "the result is declared %v, computed %v", t.shape, c.shape)).AtValue(t.ref())
		}
		known := *c
		known.quant = t.quant
		t.shape, t.constant = c.shape, &known
	}
	return true, nil
}
