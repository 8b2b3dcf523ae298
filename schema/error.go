package schema

import (
	"errors"
	"fmt"
	"strings"
)

// Kinds of error. Every error of this module that is about a model, a tensor or a call wraps exactly one of them, for
// errors.Is.
var (
	// ErrFormat: the bytes are not a well-formed file of a format this module reads.
	ErrFormat = errors.New("malformed file")
	// ErrGraph: the file is well formed but the graph in it is wrong.
	ErrGraph = errors.New("invalid graph")
	// ErrShape: shapes do not fit each other, or the operator.
	ErrShape = errors.New("shape mismatch")
	// ErrUnsupported: the graph is right but this build, processor or operator set cannot run it.
	ErrUnsupported = errors.New("unsupported")
	// ErrArenaTooSmall: the activation arena a file or an option fixes is smaller than the plan needs.
	ErrArenaTooSmall = errors.New("activation arena too small")
	// ErrMemoryLimit: the model needs more memory than its limit allows, or than there is.
	ErrMemoryLimit = errors.New("over the memory limit")
	// ErrArgument: a call was given something that does not fit the model.
	ErrArgument = errors.New("invalid argument")
	// ErrBusy: a session was used by two goroutines at once.
	ErrBusy = errors.New("session is busy in another goroutine")
	// ErrClosed: the model or session was closed.
	ErrClosed = errors.New("closed")
)

// Stage is the step of a model's way from bytes to numbers.
type Stage string

// The stages, in the order a model passes them.
const (
	StageVerify  Stage = "verify"  // proving that a file's offsets lie inside it
	StageCheck   Stage = "check"   // checking the graph: ids, shapes, constants, order
	StageDefine  Stage = "define"  // describing values and nodes to XNNPACK
	StageCreate  Stage = "create"  // making a runtime: kernels chosen, weights packed
	StageReshape Stage = "reshape" // propagating shapes, planning memory
	StageSetup   Stage = "setup"   // binding tensors
	StageInvoke  Stage = "invoke"  // running
)

// None is the Node or Value of an Error that is about no single one.
const None = -1

// Error says what went wrong, and where.
type Error struct {
	Stage  Stage
	Kind   error  // one of the sentinels of this package
	Node   int64  // index of the node in its file or graph, or None
	Value  int64  // id of the value in its file or graph, or None
	Name   string // the value's name, where its file gave it one
	Status error  // XNNPACK's status, nil where XNNPACK was not asked
	Detail string // what was found and what was needed; XNNPACK's own message where there is one
}

// Errorf makes an Error about no single node or value.
func Errorf(stage Stage, kind error, format string, args ...any) *Error {
	return &Error{Stage: stage, Kind: kind, Node: None, Value: None, Detail: fmt.Sprintf(format, args...)}
}

// AtNode sets the node an error is about and returns it.
func (e *Error) AtNode(index uint32) *Error {
	e.Node = int64(index)
	return e
}

// AtValue sets the value an error is about and returns it.
func (e *Error) AtValue(id uint32) *Error {
	e.Value = int64(id)
	return e
}

// Error gives stage, place, detail and status in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Stage))
	if e.Node != None {
		fmt.Fprintf(&b, ": node %d", e.Node)
	}
	if e.Value != None {
		fmt.Fprintf(&b, ": value %d", e.Value)
		if e.Name != "" {
			fmt.Fprintf(&b, " (%s)", e.Name)
		}
	}
	switch {
	case e.Detail != "":
		b.WriteString(": " + e.Detail)
	case e.Kind != nil:
		b.WriteString(": " + e.Kind.Error())
	}
	if e.Status != nil {
		fmt.Fprintf(&b, " [%v]", e.Status)
	}
	return b.String()
}

// Unwrap lets errors.Is find the kind and the status.
func (e *Error) Unwrap() []error {
	switch {
	case e.Kind == nil && e.Status == nil:
		return nil
	case e.Status == nil:
		return []error{e.Kind}
	case e.Kind == nil:
		return []error{e.Status}
	}
	return []error{e.Kind, e.Status}
}
