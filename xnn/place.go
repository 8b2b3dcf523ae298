package xnn

import (
	"slices"

	"github.com/xnngo/xnngo/xnn/graph"
)

// carried is a value that one segment writes and another reads, without a tensor of the caller's to lie in. It has its place
// in the arena from the first step to the last.
type carried struct {
	id          graph.ID
	first, last int
}

// placeCarried gives each value an offset such that no two that are there at the same time overlap, and the bytes that takes in all.
// The values are in the order of their first steps; each goes into the first gap that is large enough.
func placeCarried(values []carried, size func(graph.ID) int) (offsets []int, total int) {
	type block struct{ at, end, last int }
	var there []block // by offset
	offsets = make([]int, len(values))
	for i, v := range values {
		there = slices.DeleteFunc(there, func(b block) bool { return b.last < v.first })
		need, at, k := size(v.id), 0, 0
		for k < len(there) && there[k].at-at < need {
			at = max(at, there[k].end)
			k++
		}
		offsets[i] = at
		there = slices.Insert(there, k, block{at, at + need, v.last})
		total = max(total, at+need)
	}
	return offsets, total
}
