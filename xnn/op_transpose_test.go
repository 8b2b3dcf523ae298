package xnn

import (
	"testing"

	"github.com/xnngo/xnngo/xnn/graph"
)

// permutations are all orders of 0 to n-1.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var list [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			q := append([]int{}, p[:at]...)
			list = append(list, append(append(q, n-1), p[at:]...))
		}
	}
	return list
}

// TestTranspose puts dimensions into every order, on every type.
func TestTranspose(t *testing.T) {
	nothingHeld(t)
	shapes := []Shape{{}, {5}, {7, 33}, {1, 9}, {2, 3, 4}, {17, 1, 3}, {2, 3, 4, 5}, {0, 3, 2}, {2, 1, 3, 2, 4}, {2, 3, 1, 2, 3, 2}}
	if instrumented {
		shapes = shapes[:8]
	}
	for _, shape := range shapes {
		for _, perm := range permutations(len(shape)) {
			for _, typ := range typesOf("Transpose", shape...) {
				g := graph.New()
				g.Output(g.Transpose(g.InputOf(typ), perm...))
				moved(t, g, 0, func(index []int) int {
					from := make([]int, len(shape))
					for i, axis := range perm {
						from[axis] = index[i]
					}
					return offsetOf(shape, from)
				})
			}
		}
	}
}
