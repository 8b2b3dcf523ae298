package tflite

import (
	"errors"

	"github.com/xnngo/xnngo/schema"
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

// tensor is what the file says of one.
type tensor struct {
	index int
	name  string
	typ   wire.TensorType
	shape graph.Shape
	known bool   // the shape is one, and not just missing
	loose []bool // the dimensions that the file leaves open; nil: none
	quant *scales

	constant *constant // nil for a tensor that is computed or given
	id       graph.ID  // the graph's value, where there is one
	has      bool
	err      error // why it cannot be had
}

// scales are how a tensor's integers stand for real numbers.
type scales struct {
	scale []float32
	zero  []int64 // as many, or one
	axis  int
}

func (t *tensor) ref() uint32 { return uint32(t.index) }

// tensor reads what the file says of one, once.
func (im *importer) tensor(at int) (*tensor, error) {
	t := im.tensors[at]
	if t == nil {
		t = &tensor{index: at}
		im.tensors[at] = t
		if err := t.read(im); err != nil {
			t.err = err.AtValue(t.ref())
		}
	}
	return t, t.err
}

func (t *tensor) read(im *importer) *schema.Error {
	var w wire.Tensor
	im.sub.Tensors(&w, t.index)
	t.name, t.typ = shorten(w.Name()), w.Type()
	if w.IsVariable() {
		return unsupported("it is a variable, which keeps its contents from run to run")
	}
	if err := t.readShape(im, &w); err != nil {
		return err
	}
	var err *schema.Error
	if t.quant, err = im.scales(&w); err != nil {
		return err
	}
	t.constant, err = im.constantOf(t, &w)
	return err
}

func (t *tensor) readShape(im *importer, w *wire.Tensor) *schema.Error {
	n := w.ShapeLength()
	if n > graph.MaxRank {
		return unsupported("%d dimensions, at most %d are supported", n, graph.MaxRank)
	}
	t.shape = make(graph.Shape, n)
	for i := range t.shape {
		t.shape[i] = int(w.Shape(i))
	}
	t.known = n > 0 || w.HasRank() || im.input[t.index]
	if signed := w.ShapeSignatureLength(); signed > 0 && signed != n {
		return invalid("shape_signature has %d entries, the shape %v has %d", signed, t.shape, n)
	}
	for i := range w.ShapeSignatureLength() {
		switch s := int(w.ShapeSignature(i)); {
		case s == -1:
			if t.loose == nil {
				t.loose = make([]bool, n)
			}
			t.loose[i] = true
		case s != t.shape[i]:
			return invalid("dimension %d is %d in shape_signature and %d in shape", i, s, t.shape[i])
		}
	}
	_, err := (graph.Type{DType: graph.QInt8, Shape: t.shape}).Count()
	var e *schema.Error
	errors.As(err, &e)
	return e
}

// scales reads a tensor's quantisation, nil where it has none. Ranges alone, which training leaves behind, say nothing.
func (im *importer) scales(w *wire.Tensor) (*scales, *schema.Error) {
	q := w.Quantization(nil)
	if q == nil {
		return nil, nil
	}
	if q.DetailsType() != wire.QuantizationDetailsNONE {
		return nil, unsupported("its quantisation is of a kind of its own (details %v)", q.DetailsType())
	}
	n, zeros := q.ScaleLength(), q.ZeroPointLength()
	if n == 0 {
		return nil, nil
	}
	if zeros > 1 && zeros != n {
		return nil, invalid("its quantisation has %d scales and %d zero points", n, zeros)
	}
	if err := im.read(n + zeros); err != nil {
		return nil, err
	}
	s := &scales{scale: make([]float32, n), zero: make([]int64, max(1, zeros)), axis: int(q.QuantizedDimension())}
	for i := range s.scale {
		s.scale[i] = q.Scale(i)
	}
	for i := range zeros {
		s.zero[i] = q.ZeroPoint(i)
	}
	return s, nil
}

// read counts numbers of lists that are about to be copied.
func (im *importer) read(n int) *schema.Error {
	if n > im.words {
		return invalid("the lists of the file have more entries than it has room for")
	}
	im.words -= n
	return nil
}

// one is the quantisation by a single scale: that of the tensor, or 1 where it has none.
func (t *tensor) one() (*graph.Quant, *schema.Error) {
	if t.quant == nil {
		return &graph.Quant{Scale: 1}, nil
	}
	if n := len(t.quant.scale); n > 1 {
		return nil, unsupported("it has %d scales along dimension %d; only weights can", n, t.quant.axis)
	}
	zero := t.quant.zero[0]
	if zero != int64(int32(zero)) {
		return nil, invalid("zero point %d", zero)
	}
	return &graph.Quant{Scale: t.quant.scale[0], ZeroPoint: int(zero)}, nil
}

// graphType is the type of the graph's value that a tensor becomes.
func (t *tensor) graphType() (graph.Type, error) {
	typ := graph.Type{Shape: t.shape}
	switch t.typ {
	case wire.TensorTypeFLOAT32:
		typ.DType = graph.Float32
	case wire.TensorTypeFLOAT16:
		typ.DType = graph.Float16
	case wire.TensorTypeBFLOAT16:
		typ.DType = graph.BFloat16
	case wire.TensorTypeINT32:
		typ.DType = graph.Int32
	case wire.TensorTypeINT8, wire.TensorTypeUINT8:
		q, err := t.one()
		if err != nil {
			return typ, err.AtValue(t.ref())
		}
		typ.DType, typ.Quant = graph.QInt8, q
		if t.typ == wire.TensorTypeUINT8 {
			typ.DType = graph.QUInt8
		}
	default:
		return typ, unsupported("elements of %v are not supported", t.typ).AtValue(t.ref())
	}
	return typ, nil
}

// elementSize is the number of bytes of an element, 0 of those of any size or less than one.
func elementSize(t wire.TensorType) int {
	switch t {
	case wire.TensorTypeBOOL, wire.TensorTypeINT8, wire.TensorTypeUINT8:
		return 1
	case wire.TensorTypeFLOAT16, wire.TensorTypeBFLOAT16, wire.TensorTypeINT16, wire.TensorTypeUINT16:
		return 2
	case wire.TensorTypeFLOAT32, wire.TensorTypeINT32, wire.TensorTypeUINT32:
		return 4
	case wire.TensorTypeFLOAT64, wire.TensorTypeINT64, wire.TensorTypeUINT64, wire.TensorTypeCOMPLEX64:
		return 8
	case wire.TensorTypeCOMPLEX128:
		return 16
	}
	return 0
}
