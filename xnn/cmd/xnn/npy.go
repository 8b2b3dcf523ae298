package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/sbinet/npyio/npy"

	"github.com/xnngo/xnngo/xnn"
)

// npyDescr is how NumPy calls the element types, in the byte order of the machines this runs on.
var npyDescr = map[xnn.DType]string{
	xnn.Float32: "'<f4'",
	xnn.Float16: "'<f2'",
	xnn.Int32:   "'<i4'",
	xnn.QInt8:   "'|i1'",
	xnn.QUInt8:  "'|u1'",
}

// npyMaxHeader bounds the header of a file, which NumPy writes in some hundred bytes.
const npyMaxHeader = 1 << 20

// npyFile is an array whose header was read and whose elements come next. The library reads headers; elements are taken as
// they are, since it has no float16.
type npyFile struct {
	file *os.File
	r    *bufio.Reader
	typ  xnn.Type
}

// newNpy reads the header; r reads from f.
func newNpy(f *os.File, r *bufio.Reader) (*npyFile, error) {
	a := &npyFile{file: f, r: r}
	return a, a.readHeader()
}

func (a *npyFile) close() { _ = a.file.Close() } // it was only read

func (a *npyFile) readHeader() error {
	h, err := readNpyHeader(a.r)
	if err != nil {
		return err
	}
	for dtype, descr := range npyDescr {
		if "'"+h.Descr.Type+"'" == descr {
			a.typ.DType = dtype
		}
	}
	switch {
	case strings.HasPrefix(h.Descr.Type, ">"):
		return fmt.Errorf("elements are big-endian ('%s'); save it with astype('%s')", h.Descr.Type, "<"+h.Descr.Type[1:])
	case a.typ.DType == 0:
		return fmt.Errorf("elements are '%s'; '<f4', '<f2', '<i4', '|i1' or '|u1' is needed", h.Descr.Type)
	case h.Descr.Fortran:
		return errors.New("it is in Fortran order; save it with numpy.ascontiguousarray")
	}
	a.typ.Shape = h.Descr.Shape
	if _, err := a.typ.Count(); err != nil {
		return err
	}
	// Before memory is made for it: does the file hold what the header says?
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	at, err := a.file.Seek(0, io.SeekCurrent)
	if err != nil || !info.Mode().IsRegular() {
		return nil // a pipe: read tells
	}
	if rest := info.Size() - at + int64(a.r.Buffered()); rest != int64(a.typ.Bytes()) {
		return fmt.Errorf("%v needs %d bytes, the file has %d", a.typ, a.typ.Bytes(), rest)
	}
	return nil
}

func (a *npyFile) shape(input int, t xnn.Type) (xnn.Shape, error) {
	if a.typ.DType != t.DType && a.typ.DType != xnn.Float32 {
		return nil, fmt.Errorf("it holds %v, input %d takes %v (%s)", a.typ, input, t, npyTypeOf(t.DType))
	}
	return a.typ.Shape, nil
}

// npyTypeOf is how an output of this type is written: NumPy has no bfloat16.
func npyTypeOf(t xnn.DType) string {
	if t == xnn.BFloat16 {
		t = xnn.Float32
	}
	return npyDescr[t]
}

// read fills a tensor of the array's shape.
func (a *npyFile) read(t *xnn.Tensor) error {
	if t.DType() == a.typ.DType {
		return a.readBytes(t.Bytes())
	}
	data := make([]float32, a.typ.Shape.Elements())
	from := xnn.NewTensor(data, a.typ.Shape...)
	if err := a.readBytes(from.Bytes()); err != nil {
		return err
	}
	copyNumbers(t, from)
	return nil
}

func (a *npyFile) readBytes(mem []byte) error {
	if n, err := io.ReadFull(a.r, mem); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%v needs %d bytes, the file has %d", a.typ, len(mem), n)
		}
		return err
	}
	return nil
}

// readNpyHeader reads a header with the library, which trusts what it reads: a length is an allocation, and a dictionary it
// does not understand is a panic.
func readNpyHeader(r *bufio.Reader) (h npy.Header, err error) {
	if start, err := r.Peek(12); err == nil && start[6] >= 2 && binary.LittleEndian.Uint32(start[8:]) > npyMaxHeader {
		return h, fmt.Errorf("the .npy header has %d bytes, at most %d are read", binary.LittleEndian.Uint32(start[8:]), npyMaxHeader)
	}
	defer func() {
		if recover() != nil {
			err = errors.New("the .npy header is malformed")
		}
	}()
	reader, err := npy.NewReader(r)
	switch {
	case errors.Is(err, npy.ErrInvalidNumPyFormat), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return h, errors.New("it is not a .npy file")
	case err != nil:
		return h, err
	}
	return reader.Header, nil
}

// writeNpy writes a tensor to a file. The library writes neither float16 nor a shape apart from Go's own array types, so
// the header is made here: version 1.0, padded such that the elements start at a multiple of 64.
func writeNpy(path string, t *xnn.Tensor) error {
	if t.DType() == xnn.BFloat16 {
		wide := xnn.NewTensor(make([]float32, t.Shape().Elements()), t.Shape()...)
		copyNumbers(wide, t)
		t = wide
	}
	dims := make([]string, len(t.Shape()))
	for i, d := range t.Shape() {
		dims[i] = strconv.Itoa(d)
	}
	shape := strings.Join(dims, ", ")
	if len(dims) == 1 {
		shape += ","
	}
	dict := fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': (%s), }", npyDescr[t.DType()], shape)
	const before = 10 // magic, version, length
	dict += strings.Repeat(" ", 63-(before+len(dict))%64) + "\n"
	header := append(npy.Magic[:], 1, 0)
	header = binary.LittleEndian.AppendUint16(header, uint16(len(dict)))
	header = append(header, dict...)
	return writeFile(path, func(w io.Writer) error {
		if _, err := w.Write(header); err != nil {
			return err
		}
		_, err := w.Write(t.Bytes())
		return err
	})
}
