"""Convolutions. Images are NHWC, filters [output channels, height, width, input channels of a group]."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from fixture import Family, clean, result, spread


def nchw(x):
    return x.permute(0, 3, 1, 2)


def nhwc(x):
    return x.permute(0, 2, 3, 1)


def padding(p, size, kernel):
    """top, right, bottom, left of the parameters; "same" pads as TensorFlow does, with the odd pixel at the bottom right."""
    if not p.get("same"):
        return p.get("pad", [0, 0, 0, 0])
    total = []
    for i in (0, 1):
        step, dilation = p.get("stride", [1, 1])[i], p.get("dilation", [1, 1])[i]
        total.append(max((math.ceil(size[i] / step) - 1) * step + (kernel[i] - 1) * dilation + 1 - size[i], 0))
    return [total[0] // 2, total[1] - total[1] // 2, total[0] - total[0] // 2, total[1] // 2]


def padded(x, p, kernel, value=0.0):
    t, r, b, l = padding(p, x.shape[1:3], kernel)
    return F.pad(nchw(x), (l, r, t, b), value=value)


def convolution(x, w, b, p):
    y = F.conv2d(padded(x, p, w.shape[1:3]), nchw(w), b, p.get("stride", 1), 0, p.get("dilation", 1), p.get("groups", 1))
    return nhwc(y)


def depthwise(x, w, b, p):
    """w is [1, height, width, output channels]."""
    y = F.conv2d(padded(x, p, w.shape[1:3]), w.permute(3, 0, 1, 2), b, p.get("stride", 1), 0, p.get("dilation", 1), x.shape[3])
    return nhwc(y)


def transposed(x, w, b, p):
    """PyTorch pads both sides alike, so the padding is cut off here; its output padding is the adjustment."""
    groups = p.get("groups", 1)
    oc, kh, kw, ic = w.shape
    w = w.reshape(groups, oc // groups, kh, kw, ic).permute(0, 4, 1, 2, 3).reshape(groups * ic, oc // groups, kh, kw)
    stride, dilation, adjust = p.get("stride", [1, 1]), p.get("dilation", [1, 1]), p.get("adjust", [0, 0])
    y = F.conv_transpose2d(nchw(x), w, None, stride, 0, 0, groups, dilation)
    y = F.pad(y, (0, adjust[1], 0, adjust[0]))
    t, r, bottom, l = p.get("pad", [0, 0, 0, 0])
    y = nhwc(y[:, :, t:y.shape[2] - bottom, l:y.shape[3] - r])
    return y if b is None else y + b


# name, image, filter, parameters. Kernels: GEMM for 1x1, IGEMM, groups, and tiles of 1 to 32 channels and their rests.
CONVS = [
    ("1x1", [1, 5, 7, 8], [16, 1, 1, 8], {}),
    ("1x1 rest", [2, 3, 3, 5], [19, 1, 1, 5], {}),
    ("1x1 stride 2", [1, 5, 6, 4], [6, 1, 1, 4], {"stride": [2, 2]}),
    ("1x1 padded", [1, 3, 3, 4], [6, 1, 1, 4], {"pad": [1, 1, 1, 1]}),
    ("3x3", [1, 6, 6, 5], [17, 3, 3, 5], {"pad": [1, 1, 1, 1]}),
    ("3x3 of two images", [2, 4, 5, 3], [6, 3, 3, 3], {"pad": [1, 1, 1, 1]}),
    ("3x3 valid", [1, 5, 6, 3], [8, 3, 3, 3], {}),
    ("3x3 stride 2 asymmetric", [1, 7, 8, 3], [8, 3, 3, 3], {"pad": [0, 1, 1, 0], "stride": [2, 2]}),
    ("3x3 stride 2 as a stem", [1, 9, 9, 3], [32, 3, 3, 3], {"pad": [1, 1, 1, 1], "stride": [2, 2]}),
    ("3x3 same stride 2", [1, 8, 7, 3], [4, 3, 3, 3], {"same": True, "stride": [2, 2]}),
    ("2x2 same", [1, 5, 5, 2], [3, 2, 2, 2], {"same": True}),
    ("1x1 same stride 3", [1, 7, 6, 2], [3, 1, 1, 2], {"same": True, "stride": [3, 3]}),
    ("3x3 dilation 2", [1, 9, 8, 4], [6, 3, 3, 4], {"pad": [2, 2, 2, 2], "dilation": [2, 2]}),
    ("3x2 dilation 3x1 stride 1x2", [1, 9, 8, 2], [5, 3, 2, 2], {"pad": [1, 0, 2, 1], "dilation": [3, 1], "stride": [1, 2]}),
    ("5x1", [1, 7, 5, 3], [4, 5, 1, 3], {"pad": [2, 0, 2, 0]}),
    ("1x7", [1, 3, 9, 3], [4, 1, 7, 3], {"pad": [0, 3, 0, 3]}),
    ("groups 2", [1, 5, 5, 6], [10, 3, 3, 3], {"pad": [1, 1, 1, 1], "groups": 2}),
    ("groups 3 of 1x1", [2, 3, 4, 9], [12, 1, 1, 3], {"groups": 3}),
    ("one channel a group", [1, 6, 5, 7], [7, 3, 3, 1], {"pad": [1, 1, 1, 1], "groups": 7}),
    ("two outputs a group of one", [1, 4, 5, 3], [6, 3, 3, 1], {"pad": [1, 1, 1, 1], "groups": 3}),
    ("whole image", [2, 4, 3, 5], [7, 4, 3, 5], {}),
    ("no bias", [1, 4, 4, 3], [5, 3, 3, 3], {"pad": [1, 1, 1, 1]}),
    ("ReLU6", [1, 4, 4, 8], [16, 1, 1, 8], {"limits": [0, 0.5]}),
    ("both sides", [1, 4, 4, 3], [5, 3, 3, 3], {"limits": [-0.25, 0.125]}),
    ("many channels", [1, 2, 2, 150], [40, 1, 1, 150], {}),
]
DEPTHWISE = [
    ("3x3", [1, 6, 6, 8], [1, 3, 3, 8], {"pad": [1, 1, 1, 1]}),
    ("3x3 rest", [2, 4, 5, 19], [1, 3, 3, 19], {"pad": [1, 1, 1, 1]}),
    ("3x3 stride 2 asymmetric", [1, 8, 7, 33], [1, 3, 3, 33], {"pad": [0, 1, 1, 0], "stride": [2, 2]}),
    ("3x3 same stride 2", [1, 6, 7, 4], [1, 3, 3, 4], {"same": True, "stride": [2, 2]}),
    ("5x5", [1, 6, 6, 5], [1, 5, 5, 5], {"pad": [2, 2, 2, 2]}),
    ("5x5 stride 2", [1, 7, 7, 5], [1, 5, 5, 5], {"pad": [2, 2, 2, 2], "stride": [2, 2]}),
    ("7x7", [1, 8, 8, 3], [1, 7, 7, 3], {"pad": [3, 3, 3, 3]}),
    ("2x2", [1, 4, 4, 6], [1, 2, 2, 6], {}),
    ("3x1", [1, 5, 4, 6], [1, 3, 1, 6], {}),
    ("1x1", [1, 3, 3, 6], [1, 1, 1, 6], {}),
    ("3x3 dilation 2", [1, 8, 7, 4], [1, 3, 3, 4], {"pad": [2, 2, 2, 2], "dilation": [2, 2]}),
    ("multiplier 2", [1, 5, 5, 4], [1, 3, 3, 8], {"pad": [1, 1, 1, 1]}),
    ("multiplier 3 of one channel", [1, 5, 5, 1], [1, 3, 3, 3], {"pad": [1, 1, 1, 1]}),
    ("no bias", [1, 4, 4, 5], [1, 3, 3, 5], {"pad": [1, 1, 1, 1]}),
    ("limits", [1, 4, 4, 5], [1, 3, 3, 5], {"limits": [0, 0.25]}),
]
TRANSPOSED = [
    ("2x2 stride 2", [1, 3, 4, 5], [6, 2, 2, 5], {"stride": [2, 2]}),
    ("3x3", [1, 4, 4, 3], [5, 3, 3, 3], {"pad": [1, 1, 1, 1]}),
    ("3x3 stride 2 adjusted", [1, 3, 4, 3], [17, 3, 3, 3], {"stride": [2, 2], "pad": [1, 1, 1, 1], "adjust": [1, 1]}),
    ("3x3 stride 2 adjusted in height", [1, 3, 3, 4], [4, 3, 3, 4], {"stride": [2, 3], "pad": [0, 1, 1, 0], "adjust": [1, 0]}),
    ("4x4 stride 2", [2, 3, 3, 4], [5, 4, 4, 4], {"stride": [2, 2], "pad": [1, 1, 1, 1]}),
    ("3x3 dilation 2", [1, 4, 3, 3], [4, 3, 3, 3], {"dilation": [2, 2], "pad": [1, 1, 1, 1]}),
    ("groups 2", [1, 3, 3, 6], [8, 3, 3, 3], {"groups": 2, "stride": [2, 2], "pad": [1, 1, 1, 1]}),
    ("1x1", [1, 3, 3, 4], [5, 1, 1, 4], {}),
    ("2x3 stride 3", [1, 3, 2, 4], [5, 2, 3, 4], {"stride": [3, 3]}),
    ("no bias", [1, 3, 3, 4], [5, 2, 2, 4], {"stride": [2, 2]}),
    ("limits", [1, 3, 3, 4], [5, 2, 2, 4], {"stride": [2, 2], "limits": [0, 0.25]}),
]
# Element types of image, filter, bias and result.
TYPES = {"fp32": ("fp32", "fp32", "fp32", "fp32"), "fp16": ("fp16", "fp32", "fp32", "fp16"),
         "qint8": ("qint8", "qint8", "qint32", "qint8"), "quint8": ("quint8", "quint8", "qint32", "quint8"),
         "per channel": ("qint8", "qcint8", "qcint32", "qint8"), "dynamic": ("qdint8", "qcint8", "fp32", "fp32"),
         "dynamic fp16": ("qdint8", "qcint8", "fp32", "fp16")}
SHORT = {"1x1", "1x1 rest", "3x3", "3x3 rest", "3x3 of two images", "3x3 stride 2 asymmetric", "3x3 same stride 2",
         "3x3 dilation 2", "groups 2", "5x5", "multiplier 2", "no bias", "limits", "ReLU6", "many channels", "2x2 stride 2",
         "3x3 stride 2 adjusted", "7x7"}


def dynamic(x, inner):
    """What is quantised at run time: PyTorch's own choice of scale and zero point for each run of the inner dimensions. Returns
    the numbers the integers stand for and the largest scale."""
    rows = x.reshape([-1] + list(x.shape[x.dim() - inner:]))
    qs = [torch.quantize_per_tensor_dynamic(r.float(), torch.qint8, False) for r in rows]
    return torch.stack([q.dequantize().double() for q in qs]).reshape(x.shape), max(q.q_scale() for q in qs)


def weights(f, kind, shape, fan, axis):
    """A filter and its bias, whose products keep the size of the image's elements."""
    _, wt, bt, _ = TYPES[kind]
    n, a = shape[axis], math.sqrt(3 / fan)
    if wt == "fp32":
        return f.rand("fp32", shape, -a, a, const=True), f.rand("fp32", [n], -0.5, 0.5, const=True)
    if wt == "quint8":
        return f.rand(wt, shape, const=True, scale=clean(a / 127), zero=119), None
    if wt == "qint8":
        return f.rand(wt, shape, -127, 127, const=True, scale=clean(a / 127)), None
    scales = [clean(a / 127 * (0.5 + 1.5 * i / n)) for i in range(n)]
    w = f.rand(wt, shape, const=True, scales=scales, axis=axis)
    return w, f.rand("fp32", [n], -0.5, 0.5, const=True) if bt == "fp32" else None


def integer_bias(f, x, w, n):
    """The bias of a quantised operator: its scale is the product of the others."""
    if w.scales is None:
        s = clean(np.float32(x.scale) * np.float32(w.scale))
        return f.rand("qint32", [n], -int(0.5 / s), int(0.5 / s), const=True, scale=s)
    scales = [clean(np.float32(x.scale) * np.float32(s)) for s in w.scales]
    most = int(0.5 / max(scales))
    return f.rand("qcint32", [n], -most, most, const=True, scales=scales)


def conv_case(f, op, kind, name, image, filt, p, fn):
    f.begin(op, f"{kind} {name}")
    xt, _, bt, yt = TYPES[kind]
    p = dict(p)
    lo, hi = p.get("limits", (-math.inf, math.inf))
    extra = {}
    axis = 3 if op == "DepthwiseConv2D" else 0
    fan = filt[1] * filt[2] * (1 if axis else filt[3])
    if xt == "qdint8":
        x = f.rand(yt, image, -1, 2)
        p["dynamic"] = 3
    elif xt in ("qint8", "quint8"):
        x = f.rand(xt, image, scale=clean(2 / 255), zero=7 if xt == "qint8" else 118)
    else:
        x = f.rand(xt, image, -1, 1)
    w, b = weights(f, kind, filt, fan, axis)
    if name == "no bias":
        b = None
    elif b is None:
        b = integer_bias(f, x, w, filt[axis])
    real = x.real()
    if xt == "qdint8":
        real, step = dynamic(real, 3)
        extra = {"abs": 2 * step * float(w.real().abs().max()),
                 "why": "the scale is found at run time: an element of the image may round to the next step"}
    y = fn(real, w.real(), None if b is None else b.real(), p)
    if yt == "fp16":
        extra = half_sums(y, extra)
    y = torch.clamp(y, lo, hi)
    f.add([x, w, b], [result(yt, y, **spread(yt, y))], p, **extra)


def half_sums(y, extra):
    """Sums kept in half precision lose what is small against their largest part."""
    most = max(2e-3 * float(y.abs().max()), extra.get("abs", 0))
    return {"abs": clean(most), "why": extra.get("why", "sums in half precision: 2e-3 of the largest result")}


def convs():
    f = Family("conv")
    for op, table, fn in (("Conv2D", CONVS, convolution), ("DepthwiseConv2D", DEPTHWISE, depthwise),
                          ("ConvTranspose2D", TRANSPOSED, transposed)):
        for kind in TYPES:
            if "dynamic" in kind and op == "DepthwiseConv2D" or kind == "dynamic fp16" and op == "ConvTranspose2D":
                continue
            for name, image, filt, p in table:
                if kind == "fp32" or name in SHORT:
                    conv_case(f, op, kind, name, image, filt, p, fn)
    return f
