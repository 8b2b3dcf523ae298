package xnn

import (
	"errors"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
)

// Error says at which stage a model failed, at which node and value, with which XNNPACK status, and why. Find it with
// errors.As; what kind it is with errors.Is and the Err variables below or a Status.
type Error = schema.Error

// The kinds of error. See package schema.
var (
	ErrFormat        = schema.ErrFormat
	ErrGraph         = schema.ErrGraph
	ErrShape         = schema.ErrShape
	ErrUnsupported   = schema.ErrUnsupported
	ErrArenaTooSmall = schema.ErrArenaTooSmall
	ErrMemoryLimit   = schema.ErrMemoryLimit
	ErrArgument      = schema.ErrArgument
	ErrBusy          = schema.ErrBusy
	ErrClosed        = schema.ErrClosed
)

// Status is XNNPACK's own answer to a call that failed, for errors.Is.
type Status = xnnpack.Status

// The statuses of XNNPACK.
const (
	StatusUninitialized        = xnnpack.Uninitialized
	StatusInvalidParameter     = xnnpack.InvalidParameter
	StatusInvalidState         = xnnpack.InvalidState
	StatusUnsupportedParameter = xnnpack.UnsupportedParameter
	StatusUnsupportedHardware  = xnnpack.UnsupportedHardware
	StatusOutOfMemory          = xnnpack.OutOfMemory
	StatusReallocationRequired = xnnpack.ReallocationRequired
)

// fromXNNPACK gives an error of the bridge its stage and kind. It returns nil for nil.
func fromXNNPACK(stage schema.Stage, err error) *Error {
	if err == nil {
		return nil
	}
	var x *xnnpack.Error
	if !errors.As(err, &x) {
		return schema.Errorf(stage, ErrUnsupported, "%v", err)
	}
	kind := ErrGraph
	switch x.Status {
	case xnnpack.OutOfMemory:
		kind = ErrMemoryLimit
	case xnnpack.UnsupportedHardware, xnnpack.UnsupportedParameter:
		kind = ErrUnsupported
	}
	e := schema.Errorf(stage, kind, "%s", x.Message)
	e.Status = x.Status
	return e
}

// orNil makes an error of e that is nil where e is.
func orNil(e *Error) error {
	if e == nil {
		return nil
	}
	return e
}
