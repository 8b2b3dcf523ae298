package graph

import (
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
)

// checkAxis accepts the index of one of n dimensions.
func checkAxis(kind string, axis, n int) *schema.Error {
	if axis < 0 || axis >= n {
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s: axis %d is not one of %d dimensions", kind, axis, n)
	}
	return nil
}

// checkAxes accepts indices of n dimensions, each once.
func checkAxes(kind string, axes []int, n int) *schema.Error {
	var seen [MaxRank]bool
	for _, axis := range axes {
		if err := checkAxis(kind, axis, min(n, MaxRank)); err != nil {
			return err
		}
		if seen[axis] {
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s: axis %d is given twice", kind, axis)
		}
		seen[axis] = true
	}
	return nil
}

// checkLength accepts a list that has an entry for each dimension of a shape.
func checkLength(kind, field string, list []int, of Shape) *schema.Error {
	if len(list) != len(of) {
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s: %s has %d entries, %v has %d dimensions",
			kind, field, len(list), of, len(of))
	}
	return nil
}

// fromEnd makes axes that count from the end, which are negative, count from the start of n dimensions.
func fromEnd(axes []int, n int) []int {
	list := make([]int, len(axes))
	for i, axis := range axes {
		if list[i] = axis; axis < 0 && axis >= -n {
			list[i] += n
		}
	}
	return list
}

// rank is the number of dimensions of a value, 0 where there is no such value: the node that uses it reports that.
func (g *Graph) rank(id ID) int {
	if v := g.value(id); v != nil {
		return len(v.Shape)
	}
	return 0
}

// readList reads a list of a node table with an entry for each dimension at most. It must be as long as a count beside it says,
// where there is one.
func readList(kind, field string, n int, at func(int) uint32, count int64) ([]int, *schema.Error) {
	if count != noCount && count != int64(n) {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s: num_dims is %d, %s has %d entries", kind, count, field, n)
	}
	if n > MaxRank { // before it is read: many nodes can share one list
		return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%s: %s has %d entries, at most %d dimensions are supported",
			kind, field, n, MaxRank)
	}
	list := make([]int, n)
	for i := range list {
		list[i] = int(at(i))
	}
	return list, nil
}

// noCount says that a list's length is not told beside it.
const noCount = -1

// writeList writes numbers that a check has found small enough.
func writeList(b *flatbuffers.Builder, list []int) flatbuffers.UOffsetT {
	b.StartVector(flatbuffers.SizeUint32, len(list), flatbuffers.SizeUint32)
	for i := len(list) - 1; i >= 0; i-- {
		b.PrependUint32(uint32(list[i]))
	}
	return b.EndVector(len(list))
}

// operandList are operands that a node table lists.
func operandList(field string, n int, at func(int) uint32) []operand {
	list := make([]operand, n)
	for i := range list {
		list[i] = operand{fmt.Sprintf("%s[%d]", field, i), at(i)}
	}
	return list
}

// writeIDs writes a list of value ids.
func writeIDs(b *flatbuffers.Builder, ids []uint32) flatbuffers.UOffsetT {
	b.StartVector(flatbuffers.SizeUint32, len(ids), flatbuffers.SizeUint32)
	for i := len(ids) - 1; i >= 0; i-- {
		b.PrependUint32(ids[i])
	}
	return b.EndVector(len(ids))
}
