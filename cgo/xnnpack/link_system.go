//go:build xnn_system

package xnnpack

// #cgo pkg-config: --static xnn
import "C"
