//go:build !race && !asan && !msan

package xnn

// instrumented says that a sanitizer slows the tests down and changes how memory and allocations are counted.
const instrumented = false
