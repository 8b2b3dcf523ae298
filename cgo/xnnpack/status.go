package xnnpack

// #include "bridge.h"
import "C"

import "fmt"

// Status is XNNPACK's answer to a call. As an error it matches with errors.Is.
type Status uint32

// The statuses of XNNPACK. Success is never an error.
const (
	Success              Status = C.xnn_status_success
	Uninitialized        Status = C.xnn_status_uninitialized
	InvalidParameter     Status = C.xnn_status_invalid_parameter
	InvalidState         Status = C.xnn_status_invalid_state
	UnsupportedParameter Status = C.xnn_status_unsupported_parameter
	UnsupportedHardware  Status = C.xnn_status_unsupported_hardware
	OutOfMemory          Status = C.xnn_status_out_of_memory
	ReallocationRequired Status = C.xnn_status_reallocation_required
)

var statusNames = map[Status]string{
	Success:              "xnn_status_success",
	Uninitialized:        "xnn_status_uninitialized",
	InvalidParameter:     "xnn_status_invalid_parameter",
	InvalidState:         "xnn_status_invalid_state",
	UnsupportedParameter: "xnn_status_unsupported_parameter",
	UnsupportedHardware:  "xnn_status_unsupported_hardware",
	OutOfMemory:          "xnn_status_out_of_memory",
	ReallocationRequired: "xnn_status_reallocation_required",
}

// Error gives the name XNNPACK has for the status.
func (s Status) Error() string {
	if name, ok := statusNames[s]; ok {
		return name
	}
	return fmt.Sprintf("xnn_status(%d)", uint32(s))
}

// Error is a failed call.
type Error struct {
	Status  Status
	Message string // XNNPACK's own words, empty where it had none
}

// Error gives the message and the status.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Status.Error()
	}
	return e.Message + " [" + e.Status.Error() + "]"
}

// Unwrap lets errors.Is find the status.
func (e *Error) Unwrap() error { return e.Status }

// result makes the error of a call, nil for success.
func result(status C.enum_xnn_status, message *C.struct_xg_message) error {
	if status == C.xnn_status_success {
		return nil
	}
	return &Error{Status(status), C.GoString(&message.text[0])}
}
