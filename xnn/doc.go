// Package xnn runs neural networks on the CPU through XNNPACK, linked into the program.
//
//	m, err := xnn.Open("model.xnn")
//	defer m.Close()
//	s, err := m.NewSession()
//	defer s.Close()
//	copy(xnn.Data[float32](s.Input(0)), x)
//	err = s.Run()
//	y := xnn.Data[float32](s.Output(0))
//
// Models are XNNGraph files or TensorFlow Lite's; see package tflite for what is read of those, and [Read] for the graph in a file.
// Graphs can be built as well, with package graph.
//
// # Models, sessions, memory
//
// A [Model] is a checked graph with its constants; it never changes and any number of goroutines may use it. A [Session] is
// the memory of one run: tensors and the activation arena. It belongs to one goroutine at a time, and a second one gets
// [ErrBusy]. [Model.Run] and [Model.RunInto] draw sessions from a bounded pool and may be called from everywhere.
//
// All tensor memory is C memory. [Data] gives a view of it, valid until the session's next Reshape or Close; Run overwrites
// what an output's view shows. A view does not keep its session alive: hold the session while using it.
//
// Close frees at once, waits for a run that is under way, and may be called twice. Sessions close with their model. A model
// or session dropped without Close is freed after the garbage collector finds it. [MemStats] tells what is held.
//
// # Numbers
//
// Float32 and Float16 arithmetic rounds to nearest even, NaN and infinities propagate, and subnormal results may be flushed
// to zero, as XNNPACK does inside a run. Results depend neither on the number of threads nor on how work is cut into tiles.
package xnn

import "github.com/xnngo/xnngo/cgo/xnnpack"

// XNNPACKVersion is the version of the XNNPACK that this module is built with.
const XNNPACKVersion = xnnpack.Version
