package xnn

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMalformed is one wrong file a row: each must be an error that names what is wrong and where, never a signal.
func TestMalformed(t *testing.T) {
	const unset = math.MaxUint32
	for _, c := range []struct {
		name  string
		file  func() file
		kind  error
		parts []string
	}{
		{"short constant", func() file { // kernels would read past the file
			f := addConst(3)
			f.sizes = nil
			f.values = []value{input(0, 1000000), output(1, 1000000), constant(2, 1, 1000000)}
			f.buffers[1] = floats(5)
			return f
		}, nil, []string{"value 2", "4000000", " 4"}},
		{"constant of no whole element", func() file {
			f := addConst(3)
			f.sizes = nil
			f.buffers[1] = f.buffers[1][:11]
			return f
		}, nil, []string{"value 2", "12", "11"}},
		{"size wraps", func() file {
			return file{externs: 2,
				values: []value{input(0, unset-1, unset-1, unset-1), output(1, unset-1, unset-1, unset-1)},
				nodes:  []node{{a: 0, b: 0, out: 1}}}
		}, nil, []string{"value 0"}},
		{"size wraps inside", func() file {
			return file{externs: 2,
				values: []value{input(0, 1<<31, 1), output(1, 1<<31, 1<<31), inner(2, 1<<31, 1<<31), constant(3, 1, 1)},
				nodes:  []node{{a: 0, b: 0, out: 2}, {a: 2, b: 0, out: 1}}, buffers: [][]byte{nil, floats(1)}}
		}, nil, []string{"2147483648"}},
		{"size wraps to zero", func() file {
			return file{externs: 2,
				values: []value{input(0, 65536, 65536, 65536, 65536), output(1, 65536, 65536, 65536, 65536)},
				nodes:  []node{{a: 0, b: 0, out: 1}}}
		}, nil, []string{"value 0", "65536"}},
		{"size wraps behind a zero", func() file {
			return file{externs: 2,
				values: []value{input(0, 0, unset-1, unset-1, unset-1), output(1, 0, unset-1, unset-1, unset-1)},
				nodes:  []node{{a: 0, b: 0, out: 1}}}
		}, nil, []string{"value 0"}},
		{"num_dims more", func() file {
			f := double(2)
			f.values[0].dims, f.values[0].numDims = []uint32{2, 2}, ptr[uint32](3)
			return f
		}, ErrGraph, []string{"value 0", "num_dims", "3", "2"}},
		{"num_dims fewer", func() file {
			f := double(2)
			f.values[0].dims, f.values[0].numDims = []uint32{2, 2}, ptr[uint32](1)
			return f
		}, ErrGraph, []string{"value 0", "num_dims", "1", "2"}},
		{"num_dims without dims", func() file {
			f := double(2)
			f.values[0].dims, f.values[0].numDims = nil, ptr[uint32](2)
			return f
		}, ErrGraph, []string{"value 0", "num_dims", "2", "0"}},
		{"num_dims huge", func() file {
			f := double(2)
			f.values[0].numDims = ptr[uint32](unset)
			return f
		}, ErrGraph, []string{"value 0", "num_dims", "4294967295", "1"}},
		{"rank 7", func() file {
			f := double(2)
			f.values[0].dims = []uint32{1, 1, 1, 1, 1, 1, 1}
			return f
		}, ErrUnsupported, []string{"value 0", "7", "6"}},
		{"constant outside the table", func() file {
			f := addConst(3)
			f.values[2].constant = 9
			return f
		}, nil, []string{"value 2", "constant_buffer_idx", "9", "2"}},
		{"constant without a table", func() file {
			f := addConst(3)
			f.buffers, f.sizes = nil, nil
			return f
		}, nil, []string{"value 2", "constant_buffer_idx", "1"}},
		{"constant without data", func() file {
			f := addConst(3)
			f.buffers[1], f.sizes = nil, nil
			return f
		}, nil, []string{"value 2", "1"}},
		{"largest constant index", func() file {
			f := addConst(3)
			f.values[2].constant = unset
			return f
		}, nil, []string{"value 2", "constant_buffer_idx", "4294967295", "2"}},
		{"entry 0 is not a constant", func() file { // so nothing provides value 2
			f := addConst(3)
			f.values[2].constant = 0
			f.buffers[0] = floats(1, 2, 3)
			return f
		}, ErrGraph, []string{"value 2"}},
		{"second operand unknown", func() file {
			f := double(3)
			f.nodes[0].b = 77
			return f
		}, ErrGraph, []string{"node 0", "input2_id", "77"}},
		{"first operand invalid", func() file {
			f := double(3)
			f.nodes[0].a = unset
			return f
		}, ErrGraph, []string{"node 0", "input1_id", "4294967295"}},
		{"result unknown", func() file {
			f := double(3)
			f.nodes[0].out = 77
			return f
		}, ErrGraph, []string{"node 0", "output_id", "77"}},
		{"declared smaller than computed", func() file {
			return file{externs: 3, values: []value{input(0, 1, 4), input(1, 4, 1), output(2, 1, 4)},
				nodes: []node{{a: 0, b: 1, out: 2}}}
		}, ErrShape, []string{"value 2", "[1,4]", "[4,4]"}},
		{"declared smaller inside", func() file {
			return file{externs: 3, values: []value{input(0, 1, 4), input(1, 4, 1), output(2, 4, 4), inner(3, 4)},
				nodes: []node{{a: 0, b: 1, out: 3}, {a: 3, b: 1, out: 2}}}
		}, ErrShape, []string{"value 3", "[4]", "[4,4]"}},
		{"declared larger than computed", func() file {
			f := double(3)
			f.values[1].dims = []uint32{4}
			return f
		}, ErrShape, []string{"value 1", "[4]", "[3]"}},
		{"unset dimension of an input", func() file {
			f := double(3)
			f.values[0].dims = []uint32{unset, 3}
			return f
		}, ErrShape, []string{"value 0", "4294967295", "dynamic"}},
		{"unset dimension inside", func() file {
			f := double(3)
			f.values = append(f.values, inner(2, unset, 3))
			return f
		}, ErrShape, []string{"value 2", "4294967295", "dynamic"}},
		{"shapes do not broadcast", func() file {
			return file{externs: 3, values: []value{input(0, 2, 3), input(1, 2, 4), output(2, 2, 3)},
				nodes: []node{{a: 0, b: 1, out: 2}}}
		}, ErrShape, []string{"node 0", "[2,3]", "[2,4]"}},
		{"zero does not broadcast to three", func() file {
			return file{externs: 3, values: []value{input(0, 0, 2), input(1, 3, 2), output(2, 3, 2)},
				nodes: []node{{a: 0, b: 1, out: 2}}}
		}, ErrShape, []string{"node 0", "0", "3"}},
		{"mixed operands", func() file {
			f := file{externs: 3, values: []value{input(0, 3), input(1, 3), output(2, 3)}, nodes: []node{{a: 0, b: 1, out: 2}}}
			f.values[0].dtype = 2
			return f
		}, ErrUnsupported, []string{"node 0", "fp16", "fp32", "0", "1", "2"}},
		{"mixed result", func() file {
			f := double(3)
			f.values[1].dtype = 2
			return f
		}, ErrUnsupported, []string{"node 0", "fp16", "fp32", "0", "1"}},
		{"datatype 0", func() file { f := double(3); f.values[0].dtype = 0; return f }, nil, []string{"value 0", "0"}},
		{"datatype 99", func() file { f := double(3); f.values[0].dtype = 99; return f }, nil, []string{"value 0", "99"}},
		{"qint8 without a scale", func() file {
			f := double(3)
			f.values[0].dtype, f.values[1].dtype = 3, 3
			return f
		}, ErrUnsupported, []string{"value 0", "qint8", "scale", "zero point"}},
		{"qint32 without a scale", func() file {
			f := double(3)
			f.values[0].dtype, f.values[1].dtype = 4, 4
			return f
		}, ErrUnsupported, []string{"value 0", "qint32", "scale"}},
		{"external id too large", func() file { f := double(3); f.externs = 1; return f }, ErrGraph,
			[]string{"external_id 1", "num_externs 1"}},
		{"no externals", func() file { f := double(3); f.externs = 0; return f }, ErrGraph,
			[]string{"external_id 0", "num_externs 0"}},
		{"unknown operator", func() file { f := double(3); f.nodes[0].tag = 200; return f }, nil, []string{"200"}},
		{"no operator", func() file { f := double(3); f.nodes[0].tag = -1; return f }, nil, []string{"node 0"}},
		{"unknown kind of value", func() file { f := double(3); f.values[0].tag = 9; return f }, nil, []string{"9"}},
		{"node flags", func() file { f := double(3); f.nodes[0].flags = 4; return f }, nil, []string{"node 0", "flags", "4"}},
		{"input listed twice", func() file { f := double(3); f.inputs = []uint32{0, 0}; return f }, ErrGraph, []string{"input"}},
		{"output unknown", func() file { f := double(3); f.outputs = []uint32{7}; return f }, ErrGraph, []string{"output_ids", "7"}},
		{"two producers", func() file {
			f := double(3)
			f.nodes = append(f.nodes, node{a: 0, b: 0, out: 1})
			return f
		}, ErrGraph, []string{"node 1", "value 1"}},
		{"cycle", func() file {
			f := double(3)
			f.values = append(f.values, inner(2, 3), inner(3, 3))
			f.nodes = []node{{a: 0, b: 3, out: 2}, {a: 2, b: 0, out: 3}, {a: 3, b: 0, out: 1}}
			return f
		}, ErrGraph, []string{"cycle"}},
		{"never produced", func() file {
			f := double(3)
			f.values = append(f.values, inner(2, 3))
			f.nodes[0].b = 2
			return f
		}, ErrGraph, []string{"node 0", "value 2"}},
		{"output not written", func() file { f := double(3); f.nodes = nil; return f }, ErrGraph, []string{"value 1"}},
		{"reserve smaller than the data", func() file { f := addConst(3); f.sizes[1] = 8; return f }, nil,
			[]string{"mem_buffer_sizes", "8", "12"}},
		{"reserve smaller than the data of an unused constant", func() file {
			f := addConst(3)
			f.buffers = append(f.buffers, floats(1, 2, 3))
			f.sizes = append(f.sizes, 8)
			return f
		}, nil, []string{"mem_buffer_sizes", "8", "12"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			nothingHeld(t)
			data := c.file().bytes()
			start := time.Now()
			m, err := Load(data)
			defer m.Close()
			require.Error(t, err)
			require.Nil(t, m)
			if c.kind == nil {
				kindOf(t, err)
			} else {
				require.ErrorIs(t, err, c.kind)
			}
			failed(t, err, err, c.parts...)
			require.Less(t, time.Since(start), time.Second)
		})
	}
}

// kindOf is the one sentinel that an error about a file wraps.
func kindOf(t testing.TB, err error) error {
	t.Helper()
	var found []error
	for _, k := range []error{ErrFormat, ErrGraph, ErrShape, ErrUnsupported, ErrMemoryLimit} {
		if errors.Is(err, k) {
			found = append(found, k)
		}
	}
	require.Len(t, found, 1, "%v", err)
	return found[0]
}
