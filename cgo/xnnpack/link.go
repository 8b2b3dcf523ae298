//go:build !xnn_system

package xnnpack

// #cgo linux,amd64 CFLAGS: -I${SRCDIR}/../../third_party/out/linux_amd64/include
// #cgo linux,arm64 CFLAGS: -I${SRCDIR}/../../third_party/out/linux_arm64/include
// #cgo linux,amd64 LDFLAGS: ${SRCDIR}/../../third_party/out/linux_amd64/libxnn.a
// #cgo linux,arm64 LDFLAGS: ${SRCDIR}/../../third_party/out/linux_arm64/libxnn.a
// #cgo LDFLAGS: -lm -lpthread
import "C"
