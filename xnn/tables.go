package xnn

import (
	"math"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

// XNNPACK keeps a table of the addresses of all pixels of all windows. For large kernels it is far larger than the images, and
// nothing else bounds it: a small file can ask for terabytes.

const addressBytes = 8

// tableOf is the size of a table with the addresses of each window's pixels.
func tableOf(windows graph.Shape, kernel [2]int) int {
	const tile = 16 // windows are taken so many at a time, the last of them again and again
	return product(addressBytes, kernel[0], kernel[1], windows[1]*windows[2]+tile)
}

// rowTable is the size of a table in which windows of a row share the columns they overlap in.
func rowTable(rows, columns int, w xnnpack.Window) int {
	step := w.Kernel[1]
	if w.Dilation[1] == 1 {
		step = min(step, w.Stride[1])
	}
	row := product(w.Kernel[0], addressBytes)
	if wide := product(columns, step); wide <= math.MaxInt-w.Kernel[1] {
		row = product(row, wide+w.Kernel[1])
	} else {
		row = math.MaxInt
	}
	return product(row, rows+1)
}
