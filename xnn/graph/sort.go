package graph

import (
	"container/heap"

	"github.com/xnngo/xnngo/schema"
)

// sort puts the nodes in an order in which every value is produced before it is read. Of the nodes that can come next it
// takes the first in the present order, so that a graph in order stays as it is.
func (g *Graph) sort(producer []int) error {
	waits := make([]int, len(g.Nodes)) // how many reads of node i are not produced yet
	readers := make([][]int, len(g.Nodes))
	var ready intHeap
	for i := range g.Nodes {
		for _, id := range g.Nodes[i].Inputs {
			if p := producer[id]; p >= 0 {
				waits[i]++
				readers[p] = append(readers[p], i)
			}
		}
		if waits[i] == 0 {
			ready = append(ready, i) // ascending, hence a heap
		}
	}
	sorted := make([]Node, 0, len(g.Nodes))
	for len(ready) > 0 {
		i := heap.Pop(&ready).(int)
		sorted = append(sorted, g.Nodes[i])
		for _, r := range readers[i] {
			if waits[r]--; waits[r] == 0 {
				heap.Push(&ready, r)
			}
		}
	}
	if len(sorted) < len(g.Nodes) {
		return g.cycle(producer, waits)
	}
	g.Nodes = sorted
	return nil
}

// cycle names a node that waits for itself, following unmet reads backwards until a node comes up again.
func (g *Graph) cycle(producer, waits []int) error {
	at := 0
	for waits[at] == 0 {
		at++
	}
	seen := make([]bool, len(g.Nodes))
	for !seen[at] {
		seen[at] = true
		for _, id := range g.Nodes[at].Inputs {
			if p := producer[id]; p >= 0 && waits[p] > 0 {
				at = p
				break
			}
		}
	}
	n := &g.Nodes[at]
	return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s needs its own result: the graph has a cycle",
		n.Op.Kind()).AtNode(n.Ref).AtValue(g.Values[n.Outputs[0]].Ref)
}

// intHeap is a min-heap for container/heap.
type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *intHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
