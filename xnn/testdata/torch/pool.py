"""Pools and resizing of images, NHWC."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from conv import half_sums, nchw, nhwc, padded, padding
from fixture import Family, result, spread

POOLS = [
    ("2x2", [1, 4, 6, 5], {"kernel": [2, 2], "stride": [2, 2]}),
    ("3x3 stride 2 padded", [1, 7, 7, 19], {"kernel": [3, 3], "stride": [2, 2], "pad": [1, 1, 1, 1]}),
    ("3x3 asymmetric", [2, 5, 6, 3], {"kernel": [3, 3], "stride": [1, 2], "pad": [1, 0, 0, 2]}),
    ("3x3 same", [1, 5, 4, 4], {"kernel": [3, 3], "stride": [2, 2], "same": True}),
    ("2x2 same stride 3", [1, 6, 7, 4], {"kernel": [2, 2], "stride": [3, 3], "same": True}),
    ("5x5", [1, 6, 5, 33], {"kernel": [5, 5], "stride": [1, 1]}),
    ("1x3", [1, 3, 7, 6], {"kernel": [1, 3], "stride": [1, 1], "pad": [0, 1, 0, 1]}),
    ("whole image", [2, 7, 7, 10], {"kernel": [7, 7], "stride": [1, 1]}),
    ("limits", [1, 4, 6, 5], {"kernel": [2, 2], "stride": [2, 2], "limits": [-0.25, 0.25]}),
]
DILATED = [
    ("dilation 2", [1, 7, 8, 5], {"kernel": [3, 3], "stride": [1, 1], "dilation": [2, 2]}),
    ("dilation 1x3 padded", [1, 5, 9, 4], {"kernel": [2, 3], "stride": [2, 1], "dilation": [1, 3], "pad": [1, 2, 0, 1]}),
]


def average(x, p):
    """The padding does not count, as with count_include_pad=False."""
    k = p["kernel"]
    total = F.avg_pool2d(padded(x, p, k), k, p["stride"], divisor_override=1)
    count = F.avg_pool2d(padded(torch.ones_like(x), p, k), k, p["stride"], divisor_override=1)
    return nhwc(total / count)


def maximum(x, p):
    y = padded(x, p, p["kernel"], -math.inf)
    return nhwc(F.max_pool2d(y, p["kernel"], p["stride"], 0, p.get("dilation", 1)))


def argmax(x, p):
    """Indices count down the columns of the window, which moves by its own size."""
    kh, kw = p["kernel"]
    image = padded(x, {"stride": p["kernel"], **p}, p["kernel"], -math.inf)
    y, at = F.max_pool2d(image, (kh, kw), (kh, kw), return_indices=True)
    row, column = at // image.shape[3] % kh, at % image.shape[3] % kw
    return nhwc(y), nhwc(column * kh + row)


def unpool(x, index, p):
    kh, kw = p["kernel"]
    n, h, w, c = x.shape
    rows = torch.arange(h)[None, :, None, None] * kh + index % kh
    columns = torch.arange(w)[None, None, :, None] * kw + index // kh
    y = F.max_unpool2d(nchw(x), nchw(rows * (w * kw) + columns), (kh, kw), (kh, kw), output_size=(n, c, h * kh, w * kw))
    return nhwc(y)


def interpolate(x, h, w, mode):
    if mode == "Legacy":  # no half pixels and no alignment, which PyTorch does not have: a grid of samples
        ys, xs = torch.arange(h) * (x.shape[1] / h), torch.arange(w) * (x.shape[2] / w)
        grid = torch.stack(torch.meshgrid(ys, xs, indexing="ij")[::-1], -1).double()
        size = torch.tensor([x.shape[2] - 1, x.shape[1] - 1]).clamp(min=1)
        grid = (grid * 2 / size - 1).expand(x.shape[0], h, w, 2)
        return nhwc(F.grid_sample(nchw(x), grid, "bilinear", "border", True))
    return nhwc(F.interpolate(nchw(x), (h, w), mode="bilinear", align_corners=mode == "AlignCorners"))


def pools():
    f = Family("pool")
    quant = {"qint8": {"scale": 0.0125, "zero": -3}, "quint8": {"scale": 0.0125, "zero": 121}}
    for op, table, fn, types in (("AvgPool2D", POOLS, average, ("fp32", "fp16", "qint8", "quint8")),
                                 ("MaxPool2D", POOLS + DILATED, maximum, ("fp32", "fp16", "qint8", "quint8"))):
        for dtype in types:
            for name, image, p in table:
                f.begin(op, f"{dtype} {name}")
                x = f.rand(dtype, image, **quant[dtype]) if dtype in quant else f.rand(dtype, image)
                free = fn(x.real(), p)
                y = torch.clamp(free, *p.get("limits", (-math.inf, math.inf)))
                q = {} if dtype not in quant else x.quant() if op == "MaxPool2D" else spread(dtype, y)
                extra = {"exact": True} if op == "MaxPool2D" and "limits" not in p else {}
                extra = half_sums(free, {}) if op == "AvgPool2D" and dtype == "fp16" else extra
                f.add([x], [result(dtype, y, **q)], p, **extra)
    for name, image, p in (("2x2", [1, 4, 6, 5], {"kernel": [2, 2]}), ("3x3", [1, 6, 9, 19], {"kernel": [3, 3]}),
                           ("3x2", [1, 6, 4, 4], {"kernel": [3, 2]}),
                           ("2x2 same", [1, 5, 7, 3], {"kernel": [2, 2], "same": True}),
                           ("5x5 padded", [1, 9, 8, 3], {"kernel": [5, 5], "pad": [0, 1, 1, 1]})):
        f.begin("ArgMaxPool2D", name)
        x = f.rand("fp32", image)
        y, index = argmax(x.real(), p)
        if len(p) == 1:
            f.add([x], [result("fp32", y), result("int32", index)], p, exact=True)
            f.begin("Unpool2D", name)
            v = f.rand("fp32", list(y.shape))
            i = f.given("int32", index.numpy())
            f.add([v, i], [result("fp32", unpool(v.real(), i.real(), p))], p, exact=True)
        else:  # padding repeats the border, so the first of equal maxima may be a copy
            f.add([x], [result("fp32", y), result("int32", first(x.real(), p))], p, exact=True)
    for dtype in ("fp32", "fp16", "qint8", "quint8"):
        for shape, h, w in (([1, 4, 5, 3], 7, 9), ([1, 3, 3, 19], 6, 6), ([1, 6, 8, 4], 3, 5), ([1, 4, 4, 5], 1, 1),
                            ([1, 1, 1, 7], 3, 2), ([1, 3, 4, 8], 3, 4)):
            for mode in ("HalfPixel", "AlignCorners", "Legacy"):
                f.begin("ResizeBilinear2D", f"{dtype} {mode} {shape} to {h}x{w}")
                x = f.rand(dtype, shape, **quant[dtype]) if dtype in quant else f.rand(dtype, shape)
                y = interpolate(x.real(), h, w, mode)
                extra = half_sums(y, {}) if dtype == "fp16" else {}
                f.add([x], [result(dtype, y, **x.quant())], {"size": [h, w], "mode": mode}, **extra)
    return f


def first(x, p):
    """The index of a padded argmax pool: the first, down the columns, of the largest in the window with its border repeated."""
    kh, kw = p["kernel"]
    t, r, b, l = padding({"stride": p["kernel"], **p}, x.shape[1:3], p["kernel"])
    y = F.pad(nchw(x), (l, r, t, b), mode="replicate")
    n, c, h, w = y.shape
    y = y.reshape(n, c, h // kh, kh, w // kw, kw).permute(0, 2, 4, 1, 5, 3).flatten(4)
    return torch.from_numpy(np.argmax(y.numpy(), 4))
