package xnnpack

// #include "bridge.h"
// #cgo noescape xg_initialize
// #cgo nocallback xg_initialize
import "C"

import "sync"

// Init readies XNNPACK, once per process; every call gives the same answer. It must have succeeded before anything else of
// this package is used. Importing the package does nothing.
var Init = sync.OnceValue(func() error {
	if err := checkStamp(); err != nil {
		return err
	}
	var m C.struct_xg_message
	return result(C.xg_initialize(&m), &m)
})
