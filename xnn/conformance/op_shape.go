package conformance

import (
	"slices"

	"github.com/xnngo/xnngo/xnn/graph"
)

var shapeMappings = map[string]func(im *importer){
	"Reshape":      reshape,
	"Flatten":      flatten,
	"Squeeze":      squeeze,
	"Unsqueeze":    unsqueeze,
	"Transpose":    transpose,
	"Concat":       concat,
	"Split":        split,
	"Slice":        slice,
	"Pad":          pad,
	"Expand":       expand,
	"Tile":         tile,
	"DepthToSpace": depthToSpace,
	"SpaceToDepth": spaceToDepth,
	"Constant":     constant,
}

// reshape gives x these dimensions.
func (im *importer) reshape(x graph.ID, dims []int) graph.ID {
	if slices.Equal(im.shape(x), dims) {
		return x
	}
	im.ranks(len(dims))
	return im.g.Reshape(x, dims...)
}

func (im *importer) ranks(n int) {
	if n > graph.MaxRank {
		leaveOut(lacksRank, "%d dimensions", n)
	}
}

// transpose leaves out a permutation that moves nothing.
func (im *importer) transpose(x graph.ID, perm []int) graph.ID {
	if slices.Equal(perm, count(len(perm))) {
		return x
	}
	return im.g.Transpose(x, perm...)
}

func reshape(im *importer) {
	x := im.in(0)
	want := im.ints("shape")
	if im.has(1) {
		want = im.known(1).ints()
	}
	im.ignore("consumed_inputs")
	allowZero := im.int("allowzero", 0) != 0
	dims, rest := slices.Clone(want), graph.Shape(im.shape(x)).Elements()
	infer := -1
	for i, d := range dims {
		if d == 0 && !allowZero {
			dims[i] = im.shape(x)[i]
		}
		if d == -1 {
			infer = i
		} else if dims[i] > 0 {
			rest /= dims[i]
		}
	}
	if infer >= 0 {
		dims[infer] = rest
	}
	im.ranks(len(dims))
	im.out(0, im.g.Reshape(x, dims...))
}

func flatten(im *importer) {
	x := im.in(0)
	dims := graph.Shape(im.shape(x))
	a := axis(im.int("axis", 1), len(dims))
	im.out(0, im.g.Reshape(x, dims[:a].Elements(), dims[a:].Elements()))
}

func squeeze(im *importer) {
	x := im.in(0)
	dims := im.shape(x)
	axes := im.ints("axes")
	if im.has(1) {
		axes = im.known(1).ints()
	}
	axes = axesOf(axes, len(dims))
	var rest []int
	for i, d := range dims {
		if !slices.Contains(axes, i) && (len(axes) > 0 || d != 1) {
			rest = append(rest, d)
		}
	}
	im.out(0, im.g.Reshape(x, rest...))
}

func unsqueeze(im *importer) {
	x := im.in(0)
	axes := im.ints("axes")
	if im.has(1) {
		axes = im.known(1).ints()
	}
	rank := len(im.shape(x)) + len(axes)
	im.ranks(rank)
	im.out(0, im.g.ExpandDims(x, axesOf(axes, rank)...))
}

func transpose(im *importer) {
	x := im.in(0)
	perm := im.ints("perm")
	if perm == nil {
		perm = count(len(im.shape(x)))
		slices.Reverse(perm)
	}
	im.out(0, im.g.Transpose(x, perm...))
}

func concat(im *importer) {
	ids := im.ins()
	otherwise := 0
	if im.opset < 4 {
		otherwise = 1
	}
	a := axis(im.int("axis", otherwise), len(im.shape(ids[0])))
	if len(ids) == 1 {
		im.out(0, im.g.Copy(ids[0]))
		return
	}
	im.out(0, im.g.Concat(a, ids...))
}

// split is an even split where the parts are equal and not too many, else a slice for each part.
func split(im *importer) {
	x := im.in(0)
	dims := im.shape(x)
	a, n := axis(im.int("axis", 0), len(dims)), len(im.node.outputs)
	sizes := im.ints("split")
	if im.has(1) {
		sizes = im.known(1).ints()
	}
	if sizes == nil {
		sizes = slices.Repeat([]int{dims[a] / n}, n)
	}
	if len(slices.Compact(slices.Clone(sizes))) == 1 && n >= 2 && n <= 4 {
		for i, id := range im.g.EvenSplit(x, a, n) {
			im.out(i, id)
		}
		return
	}
	offsets := make([]int, len(dims))
	for i, size := range sizes {
		part := slices.Clone(dims)
		part[a] = size
		im.out(i, im.g.Slice(x, slices.Clone(offsets), part))
		offsets[a] += size
	}
}

func slice(im *importer) {
	x := im.in(0)
	dims := im.shape(x)
	starts, ends, axes := im.ints("starts"), im.ints("ends"), im.ints("axes")
	if im.has(1) {
		starts, ends = im.known(1).ints(), im.known(2).ints()
	}
	if im.has(3) {
		axes = im.known(3).ints()
	}
	if axes == nil {
		axes = count(len(starts))
	}
	if im.has(4) {
		for _, step := range im.known(4).ints() {
			if step != 1 {
				leaveOut(lacksAttribute, "Slice step=%d", step)
			}
		}
	}
	offsets, sizes := make([]int, len(dims)), slices.Clone(dims)
	for i, a := range axes {
		a = axis(a, len(dims))
		from, to := within(starts[i], dims[a]), within(ends[i], dims[a])
		offsets[a], sizes[a] = from, max(to-from, 0)
		if sizes[a] == 0 && dims[a] != 0 {
			leaveOut(lacksAttribute, "Slice of no elements")
		}
	}
	im.out(0, im.g.Slice(x, offsets, sizes))
}

// within makes an index that may count from the end, or lie outside, one in [0, n].
func within(i, n int) int {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

func pad(im *importer) {
	x := im.in(0)
	if mode := im.text("mode", "constant"); mode != "constant" {
		leaveOut(lacksAttribute, "Pad mode=%s", mode)
	}
	pads, fill := im.ints("pads"), im.float("value", 0)
	if im.has(1) {
		pads = im.known(1).ints()
	}
	if im.has(2) {
		fill = float32(im.known(2).at(0))
	}
	n := len(im.shape(x))
	im.out(0, im.g.Pad(x, pads[:n], pads[n:], fill))
}

// expand multiplies by ones, which changes no number.
func expand(im *importer) {
	x := im.in(0)
	dims := im.known(1).ints()
	im.ranks(len(dims))
	im.out(0, im.g.Multiply(x, im.scalar(x, 1, dims...)))
}

func tile(im *importer) {
	x := im.in(0)
	for a, n := range im.known(1).ints() {
		if n > 1 {
			x = im.g.Concat(a, slices.Repeat([]graph.ID{x}, n)...)
		}
	}
	if x == im.in(0) {
		x = im.g.Copy(x)
	}
	im.out(0, x)
}

// depthToSpace: XNNPACK's blocks lie in the channels depth last, as those of DCR; in CRD the depth is first.
func depthToSpace(im *importer) {
	x, block := im.toNHWC(im.in(0)), im.int("blocksize", 0)
	switch mode := im.text("mode", "DCR"); mode {
	case "DCR":
	case "CRD":
		d := im.shape(x)
		x = im.g.Reshape(x, d[0], d[1], d[2], d[3]/block/block, block*block)
		x = im.g.Reshape(im.g.Transpose(x, 0, 1, 2, 4, 3), d...)
	default:
		leaveOut(lacksAttribute, "DepthToSpace mode=%s", mode)
	}
	im.out(0, im.toNCHW(im.g.DepthToSpace2D(x, block)))
}

func spaceToDepth(im *importer) {
	im.out(0, im.toNCHW(im.g.SpaceToDepth2D(im.toNHWC(im.in(0)), im.int("blocksize", 0))))
}

func constant(im *importer) {
	a, ok := im.attribute("value")
	if !ok {
		leaveOut(lacksAttribute, "Constant without a tensor")
	}
	im.values[im.node.outputs[0]] = &value{tensor: a.t, elem: a.t.elem}
}
