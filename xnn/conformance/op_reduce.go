package conformance

import (
	"slices"

	"github.com/xnngo/xnngo/xnn/graph"
)

var reduceMappings = map[string]func(im *importer){
	"ReduceSum":       reduce((*importer).sum, nil, nil),
	"ReduceMean":      reduce((*importer).average, nil, nil),
	"ReduceL1":        reduce((*importer).sum, (*graph.Graph).Abs, nil),
	"ReduceL2":        reduce((*importer).sum, (*graph.Graph).Square, (*graph.Graph).SquareRoot),
	"ReduceSumSquare": reduce((*importer).sum, (*graph.Graph).Square, nil),
	"ReduceLogSum":    reduce((*importer).sum, nil, (*graph.Graph).Log),
	"ReduceLogSumExp": reduce((*importer).sum, (*graph.Graph).Exp, (*graph.Graph).Log),
	"ReduceMax":       reduce((*importer).maximum, nil, nil),
	"ReduceMin":       reduce((*importer).maximum, (*graph.Graph).Negate, (*graph.Graph).Negate),
}

type (
	reduceMethod = func(im *importer, x graph.ID, axes []int, keep bool) graph.ID
	unaryMethod  = func(g *graph.Graph, x graph.ID, opts ...graph.Option) graph.ID
)

// reduce maps a reduction with what is done to its operand before, and to its result after.
func reduce(f reduceMethod, before, after unaryMethod) func(im *importer) {
	return func(im *importer) {
		x, keep := im.in(0), im.int("keepdims", 1) != 0
		if before != nil {
			x = before(im.g, x)
		}
		y := x
		if axes := im.axes(1, len(im.shape(x))); len(axes) > 0 {
			y = f(im, x, axes, keep)
		} else {
			y = im.g.Copy(x)
		}
		if after != nil {
			y = after(im.g, y)
		}
		im.out(0, y)
	}
}

// axes are those of a reduction: an attribute, or from version 13 on operand i. All where there are none, but for an attribute
// that makes it do nothing.
func (im *importer) axes(i, rank int) []int {
	axes := im.ints("axes")
	if im.has(i) {
		axes = im.known(i).ints()
	}
	if len(axes) == 0 && im.int("noop_with_empty_axes", 0) == 0 {
		return count(rank)
	}
	return axesOf(axes, rank)
}

func (im *importer) sum(x graph.ID, axes []int, keep bool) graph.ID {
	return im.g.ReduceSum(x, axes, keep)
}

func (im *importer) average(x graph.ID, axes []int, keep bool) graph.ID {
	return im.g.ReduceMean(x, axes, keep)
}

// maximum is a reduction made of max pooling, over a column of an image for each of the elements that stay.
func (im *importer) maximum(x graph.ID, axes []int, keep bool) graph.ID {
	dims := im.shape(x)
	var stay, kept []int
	outer, inner := 1, 1
	for i, d := range dims {
		if slices.Contains(axes, i) {
			inner *= d
			if keep {
				kept = append(kept, 1)
			}
			continue
		}
		outer *= d
		stay, kept = append(stay, i), append(kept, d)
	}
	if inner > 1 {
		column := im.reshape(im.transpose(x, slices.Concat(stay, axes)), []int{outer, inner, 1, 1})
		x = im.g.MaxPool2D(column, graph.Pool2D{Kernel: [2]int{inner, 1}})
	}
	return im.reshape(x, kept)
}
