//go:build !cgo

package xnnpack

// Without cgo nothing in this package compiles. The compiler's message about this line is the one a user should see.
var _ int = "xnngo needs cgo: set CGO_ENABLED=1 and install a C compiler"
