"""Operators that move elements, and those that reduce dimensions."""

import itertools

import torch
import torch.nn.functional as F

from fixture import Family, result, spread

QUANT = {"qint8": {"scale": 0.25, "zero": -3}, "quint8": {"scale": 0.25, "zero": 131}}


def moved(f, op, name, dtype, shape, fn, p=None):
    """A case whose results are elements of the operand."""
    f.begin(op, f"{dtype} {name}")
    x = f.rand(dtype, shape, -8, 8) if dtype not in QUANT else f.rand(dtype, shape, **QUANT[dtype])
    y = fn(x.real())
    ys = y if isinstance(y, (list, tuple)) else [y]
    f.add([x], [result(dtype, t, **x.quant()) for t in ys], p, exact=True)


PERMS = [([5, 7], [1, 0]), ([3, 5, 17], [0, 2, 1]), ([3, 5, 17], [2, 1, 0]), ([3, 5, 17], [1, 0, 2]),
         ([2, 3, 4, 5], [0, 2, 3, 1]), ([2, 3, 4, 5], [0, 3, 1, 2]), ([2, 3, 4, 5], [0, 1, 2, 3]), ([2, 3, 4, 5], [3, 2, 1, 0]),
         ([2, 3, 1, 4, 5], [4, 2, 0, 1, 3]), ([2, 3, 2, 2, 3, 3], [5, 4, 3, 2, 1, 0]), ([2, 3, 2, 2, 3, 3], [0, 2, 1, 4, 3, 5]),
         ([2, 3, 2, 2, 3, 3], [1, 3, 5, 0, 2, 4]), ([16, 33], [1, 0]), ([7], [0])]
SLICES = [([19], [3], [11]), ([5, 7], [1, 2], [3, 4]), ([3, 5, 17], [0, 1, 0], [3, 2, 17]),
          ([2, 3, 4, 5], [1, 0, 2, 1], [1, 3, 2, 3]), ([2, 3, 4, 2, 3, 5], [0, 1, 1, 0, 2, 1], [2, 1, 3, 2, 1, 3]),
          ([4, 6], [0, 0], [4, 6])]
PADS = [([7], [2], [3], 0), ([3, 5], [1, 0], [0, 4], 1.5), ([2, 3, 4], [0, 1, 2], [1, 0, 3], -1), ([1, 3, 4, 5], [0, 1, 2, 0],
        [0, 2, 1, 0], 0), ([1, 2, 1, 2, 3, 2], [1, 0, 1, 0, 1, 2], [0, 1, 1, 2, 0, 1], 0.5), ([2, 3], [0, 0], [0, 0], 9)]


def pad(x, pre, post, value):
    flat = [n for pair in zip(reversed(pre), reversed(post)) for n in pair]
    return F.pad(x, flat, value=value)


def depth_to_space(x, block):
    """PyTorch's pixel shuffle keeps the pixels of a block innermost in the channels, XNNPACK outermost."""
    n, h, w, c = x.shape
    x = x.reshape(n, h, w, block * block, c // block**2).transpose(3, 4).reshape(n, h, w, c)
    return F.pixel_shuffle(x.permute(0, 3, 1, 2), block).permute(0, 2, 3, 1)


def space_to_depth(x, block):
    y = F.pixel_unshuffle(x.permute(0, 3, 1, 2), block).permute(0, 2, 3, 1)
    n, h, w, c = y.shape
    return y.reshape(n, h, w, c // block**2, block * block).transpose(3, 4).reshape(n, h, w, c)


def kernels(f, dtype, few):
    """Operators with a kernel for each size of element."""
    for i, (shape, perm) in enumerate(PERMS):
        if not few or i in (0, 2, 5, 9, 11):
            moved(f, "Transpose", f"{perm} of {shape}", dtype, shape, lambda x: x.permute(perm), {"perm": perm})
    for i, (shape, at, size) in enumerate(SLICES):
        if not few or i in (0, 3, 4):
            cut = tuple(slice(o, o + n) for o, n in zip(at, size))
            moved(f, "Slice", f"{at} {size} of {shape}", dtype, shape, lambda x: x[cut], {"offsets": at, "sizes": size})
    for i, (shape, pre, post, value) in enumerate(PADS):
        if not few or i in (1, 3, 4):
            moved(f, "Pad", f"{pre} {post} of {shape}", dtype, shape, lambda x: pad(x, pre, post, value),
                  {"pre": pre, "post": post, "value": value})
    for axis, parts in ((0, 2), (1, 3), (2, 4)):
        if not few or axis == 1:
            moved(f, "EvenSplit", f"{parts} along {axis}", dtype, [4, 6, 20], lambda x: torch.chunk(x, parts, axis),
                  {"axis": axis, "parts": parts})
    for axis, sizes in ((0, [1, 3]), (1, [2, 1, 4]), (2, [3, 1, 1, 16]), (3, [1, 2, 3, 4, 5]), (1, [1] * 7)):
        if not few or axis in (0, 3):
            f.begin("Concat", f"{dtype} {sizes} along {axis}")
            shapes = [[n if d == axis else (2, 3, 4, 3)[d] for d in range(4)] for n in sizes]
            xs = [f.rand(dtype, s, **QUANT[dtype]) if dtype in QUANT else f.rand(dtype, s, -8, 8) for s in shapes]
            y = torch.cat([x.real() for x in xs], axis)
            f.add(xs, [result(dtype, y, **xs[0].quant())], {"axis": axis}, exact=True)


def copies(f, dtype, few):
    """Operators that only copy, or that transpose between shapes of their own."""
    for shape, dims, real in (([3, 4, 5], [6, 10], [6, 10]), ([3, 4, 5], [0, 4], [15, 4]),
                              ([24], [2, 1, 3, 2, 1, 2], [2, 1, 3, 2, 1, 2]), ([1, 1], [], [])):
        if not few or len(dims) == 2:
            moved(f, "Reshape", f"{shape} to {dims}", dtype, shape, lambda x: x.reshape(real), {"dims": dims})
    moved(f, "ExpandDims", "0 2", dtype, [3, 5], lambda x: x[None, :, None], {"axes": [0, 2]})
    if not few:
        moved(f, "ExpandDims", "3", dtype, [3, 5, 2], lambda x: x[..., None], {"axes": [3]})
    moved(f, "Copy", "3x37", dtype, [3, 37], lambda x: x)
    for block, shape in ((2, [2, 3, 5, 12]), (3, [1, 2, 2, 18])):
        if not few or block == 2:
            moved(f, "DepthToSpace2D", f"{block} of {shape}", dtype, shape, lambda x: depth_to_space(x, block), {"block": block})
    for block, shape in ((2, [2, 4, 6, 3]), (3, [1, 6, 3, 2])):
        if not few or block == 2:
            moved(f, "SpaceToDepth2D", f"{block} of {shape}", dtype, shape, lambda x: space_to_depth(x, block), {"block": block})


def shapes():
    f = Family("shape")
    for dtype in ("fp32", "fp16", "bf16", "int32", "qint8", "quint8"):
        few = dtype not in ("fp32", "qint8")
        if dtype not in ("bf16", "int32"):
            kernels(f, dtype, few)
        copies(f, dtype, few)
    return f


def reduced(f, op, dtype, shape, axes, keep, **extra):
    f.begin(op, f"{dtype} {axes} of {shape} {'kept' if keep else 'dropped'}")
    x = f.rand(dtype, shape, -2, 3) if dtype not in QUANT else f.rand(dtype, shape, **QUANT[dtype])
    fn = torch.sum if op == "ReduceSum" else torch.mean
    y = fn(x.real(), axes, keep)
    f.add([x], [result(dtype, y, **spread(dtype, y))], {"axes": axes, "keep": keep}, **extra)


def reduce():
    f = Family("reduce")
    for op in ("ReduceSum", "ReduceMean"):
        for dtype in ("fp32", "fp16", "qint8", "quint8"):
            keep = False
            for n in range(1, 5):
                for axes in itertools.combinations(range(4), n):
                    if dtype in ("fp32", "qint8") or axes in ((3,), (1, 2), (0, 2), (0, 1, 2, 3)):
                        reduced(f, op, dtype, [2, 3, 5, 19], list(axes), keep)
                        keep = not keep
            reduced(f, op, dtype, [300], [0], True)
            reduced(f, op, dtype, [7, 7, 21], [0, 1], False)
        for axes in ([0, 2, 4], [1, 3, 5], [2, 3], [5], [0]):
            reduced(f, op, "fp32", [2, 3, 2, 4, 3, 5], axes, True)
        reduced(f, op, "fp32", [3, 5, 7], [-1], False)
        reduced(f, op, "fp32", [3, 5, 7], [-3, -2], True)
    return f
