package xnn

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
)

// TestStatusHasAReason: whatever XNNPACK refuses comes with stage, place, status name and its own words.
func TestStatusHasAReason(t *testing.T) {
	for status, name := range map[Status]string{StatusUninitialized: "uninitialized", StatusInvalidParameter: "invalid_parameter",
		StatusInvalidState: "invalid_state", StatusUnsupportedParameter: "unsupported_parameter",
		StatusUnsupportedHardware: "unsupported_hardware", StatusOutOfMemory: "out_of_memory",
		StatusReallocationRequired: "reallocation_required"} {
		require.Equal(t, "xnn_status_"+name, status.Error())
		e := &Error{Stage: "create", Kind: ErrUnsupported, Node: 3, Value: 4, Status: status, Detail: "why"}
		require.ErrorIs(t, e, status)
		require.ErrorIs(t, e, ErrUnsupported)
		require.False(t, errors.Is(e, ErrGraph))
		require.Equal(t, "create: node 3: value 4: why [xnn_status_"+name+"]", e.Error())
	}

	// XNNPACK itself, asked for what package graph would have refused before.
	require.NoError(t, xnnpack.Init())
	sub, err := xnnpack.NewSubgraph(0)
	require.NoError(t, err)
	defer sub.Close()
	_, err = sub.Define(xnnpack.Tensor{Type: xnnpack.Float32, Dims: make([]int, 7)})
	e := fromXNNPACK(schema.StageDefine, err).AtValue(7)
	failed(t, e, StatusUnsupportedParameter, "define", "value 7", "dimensions", "xnn_status_unsupported_parameter")
	require.ErrorIs(t, e, ErrUnsupported)
	err = sub.Binary(xnnpack.Add, 5, 6, 7)
	failed(t, fromXNNPACK(schema.StageDefine, err), StatusInvalidParameter, "define", "5", "xnn_status_invalid_parameter")
	require.Nil(t, fromXNNPACK(schema.StageDefine, nil))
	other := fromXNNPACK(schema.StageDefine, errors.New("the archive is stale"))
	failed(t, other, ErrUnsupported, "the archive is stale")
	require.NotRegexp(t, `(^|[ (])/`, e.Error(), "no path of the machine that built XNNPACK")
}

// TestMisuse: calls that do not fit the model are errors, those without an error to return are told by the next Run.
func TestMisuse(t *testing.T) {
	nothingHeld(t)
	m := loaded(t, double(3).bytes())
	x, y := NewTensor(ramp(3), 3), NewTensor(ramp(3), 3)
	half := NewTensor(make([]Half, 3), 3)
	for name, c := range map[string]struct {
		in    []*Tensor
		kind  error
		parts []string
	}{
		"none":            {nil, ErrArgument, []string{"0", "1"}},
		"too many":        {[]*Tensor{x, x}, ErrArgument, []string{"2", "1"}},
		"nil":             {[]*Tensor{nil}, ErrArgument, []string{"input 0"}},
		"zero":            {[]*Tensor{{}}, ErrArgument, []string{"input 0"}},
		"dtype":           {[]*Tensor{half}, ErrArgument, []string{"input 0", "fp16", "fp32"}},
		"size":            {[]*Tensor{NewTensor(ramp(4), 3)}, ErrShape, []string{"4", "[3]"}},
		"rank":            {[]*Tensor{NewTensor(ramp(3), 1, 3)}, ErrShape, []string{"[1,3]", "[3]"}},
		"negative":        {[]*Tensor{NewTensor(ramp(3), -3)}, ErrShape, []string{"-3"}},
		"overflow":        {[]*Tensor{NewTensor(ramp(0), math.MaxInt, math.MaxInt, 0)}, nil, nil},
		"rank 7":          {[]*Tensor{NewTensor(ramp(1), 1, 1, 1, 1, 1, 1, 1)}, ErrUnsupported, []string{"7"}},
		"no dims of many": {[]*Tensor{NewTensor(ramp(3))}, ErrShape, []string{"3", "[]"}},
	} {
		_, err := m.Run(t.Context(), c.in...)
		require.Error(t, err, name)
		if c.kind != nil {
			failed(t, err, c.kind, c.parts...)
		}
		require.Error(t, m.RunInto(t.Context(), []*Tensor{y}, c.in), name)
	}
	for name, c := range map[string]struct {
		out  []*Tensor
		kind error
	}{
		"none": {nil, ErrArgument}, "too many": {[]*Tensor{y, y}, ErrArgument}, "nil": {[]*Tensor{nil}, ErrArgument},
		"dtype": {[]*Tensor{half}, ErrArgument}, "shape": {[]*Tensor{NewTensor(ramp(4), 4)}, ErrShape},
		"size": {[]*Tensor{NewTensor(ramp(2), 3)}, ErrShape},
	} {
		require.ErrorIs(t, m.RunInto(t.Context(), c.out, []*Tensor{x}), c.kind, name)
	}
	require.NoError(t, m.RunInto(nil, []*Tensor{y}, []*Tensor{x})) // a nil context is no context
	require.Equal(t, []float32{0, 2, 4}, Data[float32](y))

	s := opened(t, m)
	for name, wrong := range map[string]func(){
		"dtype": func() { require.Nil(t, Data[Half](s.Input(0))) }, "input": func() { require.Nil(t, s.Input(1)) },
		"output": func() { require.Nil(t, s.Output(-1)) },
	} {
		wrong()
		failed(t, s.Run(), ErrArgument)
		require.NoError(t, s.Run(), "%s: told once", name)
	}
	_, err := s.Profile()
	failed(t, err, ErrArgument, "WithProfile")
}
