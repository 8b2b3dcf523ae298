"""Matrix products, softmax, attention and rotary embedding."""

import math

import torch
import torch.nn.functional as F

from conv import dynamic, half_sums, integer_bias
from fixture import Family, clean, result, spread

# kind: element types of x, filter, bias and result.
LINEAR = {
    "fp32": ("fp32", "fp32", "fp32", "fp32"), "fp16": ("fp16", "fp16", "fp16", "fp16"),
    "fp16 of fp32 weights": ("fp16", "fp32", "fp32", "fp16"), "qint8": ("qint8", "qint8", "qint32", "qint8"),
    "quint8": ("quint8", "quint8", "qint32", "quint8"), "per channel": ("qint8", "qcint8", "qcint32", "qint8"),
    "fp32 of qcint8": ("fp32", "qcint8", "fp32", "fp32"), "fp32 of qcint4": ("fp32", "qcint4", "fp32", "fp32"),
    "dynamic qcint8": ("qdint8", "qcint8", "fp32", "fp32"), "dynamic qcint8 to fp16": ("qdint8", "qcint8", "fp32", "fp16"),
    "dynamic qcint4": ("qdint8", "qcint4", "fp32", "fp32"), "dynamic qcint4 to fp16": ("qdint8", "qcint4", "fp32", "fp16"),
    "dynamic qbint4": ("qdint8", "qbint4", "fp32", "fp32"), "dynamic qbint4 to fp16": ("qdint8", "qbint4", "fp32", "fp16"),
}
# name, shape of x, input channels, output channels, parameters.
PRODUCTS = [
    ("row", [1, 16], 16, 8, {}),
    ("rest", [5, 33], 33, 19, {}),
    ("one output", [3, 10], 10, 1, {}),
    ("three dimensions", [2, 3, 12], 12, 20, {}),
    ("one dimension", [24], 24, 10, {}),
    ("many rows", [23, 6], 6, 18, {}),
    ("deep", [2, 300], 300, 33, {}),
    ("two rows", [2, 300], 300, 8, {}),
    ("three rows", [3, 64], 64, 9, {}),
    ("17 rows", [17, 32], 32, 6, {}),
    ("no bias", [4, 20], 20, 12, {}),
    ("limits", [4, 20], 20, 12, {"limits": [-0.25, 0.5]}),
]
SHORT = {"rest", "three dimensions", "no bias", "limits"}


def random_filter(f, wt, oc, ic, axis, a):
    """A filter with rows of output channels along axis."""
    shape = [oc, ic] if axis == 0 else [ic, oc]
    if wt in ("fp32", "fp16"):
        return f.rand(wt, shape, -a, a, const=True)
    if wt == "quint8":
        return f.rand(wt, shape, const=True, scale=clean(a / 127), zero=131)
    if wt == "qint8":
        return f.rand(wt, shape, -127, 127, const=True, scale=clean(a / 127))
    most = 127 if wt == "qcint8" else 7
    if wt == "qbint4":
        n = oc * ic // 32
        # Of 8 bits of mantissa, as XNNPACK keeps the scales of blocks.
        scales = [clean(torch.tensor(a / most * (0.5 + 1.5 * (i * 7 % n) / n)).bfloat16().float()) for i in range(n)]
        return f.rand(wt, shape, const=True, scales=scales, block=32)
    scales = [clean(a / most * (0.5 + 1.5 * (i * 5 % oc) / oc)) for i in range(oc)]
    return f.rand(wt, shape, const=True, scales=scales, axis=axis)


def linear(f, op, kind, name, shape, ic, oc, p):
    xt, wt, bt, yt = LINEAR[kind]
    if wt == "qbint4":
        ic = -(-ic // 32) * 32
    elif wt == "qcint4":
        ic, oc = ic + ic % 2, oc + oc % 2
    shape = shape[:-1] + [ic]
    f.begin(op, f"{kind} {name}")
    p = dict(p)
    a, axis = math.sqrt(3 / ic), int(op == "FullyConnectedTransposed")
    extra = {}
    if xt == "qdint8":
        x = f.rand(yt, shape, -1, 2)
        p["dynamic"] = 1
    elif xt in ("qint8", "quint8"):
        x = f.rand(xt, shape, scale=clean(2 / 255), zero=-9 if xt == "qint8" else 125)
    else:
        x = f.rand(xt, shape)
    w = random_filter(f, wt, oc, ic, axis, a)
    if name == "no bias":
        b = None
    elif bt in ("fp32", "fp16"):
        b = f.rand(bt, [oc], -0.5, 0.5, const=True)
    else:
        b = integer_bias(f, x, w, oc)
    real = x.real()
    if xt == "qdint8":
        real, step = dynamic(real, 1)
        extra = {"abs": 2 * step * float(w.real().abs().max()),
                 "why": "the scale is found at run time: an element of a row may round to the next step"}
    y = F.linear(real, w.real().T if axis else w.real(), None if b is None else b.real())
    if yt == "fp16":
        extra = half_sums(y, extra)
    y = torch.clamp(y, *p.get("limits", (-math.inf, math.inf)))
    f.add([x, w, b], [result(yt, y, **spread(yt, y))], p, **extra)


BATCHES = [("matrices", [5, 7], [7, 6]), ("batch", [3, 4, 9], [3, 9, 5]), ("batch of one right", [3, 4, 9], [1, 9, 17]),
           ("batch of one left", [1, 4, 9], [3, 9, 5]), ("two batches", [2, 3, 4, 6], [2, 3, 6, 5]),
           ("both broadcast", [2, 1, 4, 6], [1, 3, 6, 5]), ("ranks", [2, 3, 4, 6], [6, 5]),
           ("ranks of the left", [4, 6], [2, 3, 6, 5]), ("row", [2, 1, 33], [2, 33, 1])]


def batches(f):
    for op in ("BatchMatMul", "BatchMatMulTransposed"):
        for dtype in ("fp32", "fp16"):
            for name, a, b in BATCHES:
                if dtype == "fp16" and name not in ("matrices", "batch", "batch of one right", "row"):
                    continue
                for const in ((False, True) if dtype == "fp32" and len(b) >= len(a) else (False,)):
                    f.begin(op, f"{dtype} {name}" + (" constant" if const else ""))
                    x = f.rand(dtype, a)
                    y = f.rand(dtype, b if op == "BatchMatMul" else b[:-2] + [b[-1], b[-2]], const=const)
                    r = y.real() if op == "BatchMatMul" else y.real().transpose(-1, -2)
                    z = torch.matmul(x.real(), r)
                    f.add([x, y], [result(dtype, z)], **(half_sums(z, {}) if dtype == "fp16" else {}))
        for name, a, b in (("batch", [3, 4, 9], [9, 5]), ("matrices", [5, 34], [34, 19]),
                           ("two batches", [2, 3, 5, 16], [1, 16, 8])):
            f.begin(op, f"dynamic {name}")
            x = f.rand("fp32", a, -1, 2)
            shape = b if op == "BatchMatMul" else b[:-2] + [b[-1], b[-2]]
            axis = len(b) - (1 if op == "BatchMatMul" else 2)
            y = f.rand("qcint8", shape, const=True, scales=[clean(0.004 * (1 + i / b[-1])) for i in range(b[-1])], axis=axis)
            real, step = dynamic(x.real(), 1)
            r = y.real() if op == "BatchMatMul" else y.real().transpose(-1, -2)
            z = torch.matmul(real, r)
            f.add([x, y], [result("fp32", z)], {"dynamic": 1}, abs=2 * step * float(r.abs().max()),
                  why="the scale is found at run time: an element of a row may round to the next step")


def attention(q, k, v, scale, mask, cap):
    if k.dim() < q.dim():
        k, v = k.unsqueeze(-3), v.unsqueeze(-3)
    logits = (q * scale) @ k.transpose(-1, -2)
    if cap:
        logits = torch.tanh(logits / cap) * cap
    return torch.softmax(logits + mask, -1) @ v


def attentions(f):
    for dtype in ("fp32", "fp16"):
        for name, q, k, d, cap in (("one head", [1, 1, 4, 8], [1, 1, 6, 8], 8, 0), ("heads", [2, 3, 5, 12], [2, 3, 7, 12], 10, 0),
                                   ("capped", [1, 2, 9, 16], [1, 2, 9, 16], 16, 1.5),
                                   ("one key for all", [2, 4, 3, 8], [2, 5, 8], 6, 0),
                                   ("long", [1, 2, 19, 32], [1, 2, 35, 32], 32, 0)):
            f.begin("Attention", f"{dtype} {name}")
            channels = q[-1]
            ops = [f.rand(dtype, q, -2, 2), f.rand(dtype, k, -2, 2), f.rand(dtype, k[:-1] + [d], -2, 2),
                   f.rand(dtype, [channels], 0.5 / math.sqrt(channels), 1.5 / math.sqrt(channels)),
                   f.rand(dtype, [q[-2], k[-2]], -2, 2)]
            y = attention(*(t.real() for t in ops), cap)
            f.add(ops, [result(dtype, y)], {"cap": cap} if cap else {}, **(half_sums(y, {}) if dtype == "fp16" else {}))


def softmaxes(f):
    for dtype in ("fp32", "fp16"):
        for shape, lo, hi in (([1, 10], -4, 4), ([5, 33], -4, 4), ([2, 3, 4, 17], -8, 8), ([7], -1, 1), ([3, 1], -4, 4),
                              ([2, 130], 50, 90)):
            f.begin("Softmax", f"{dtype} {shape}")
            x = f.rand(dtype, shape, lo, hi)
            y = torch.softmax(x.real(), -1)
            f.add([x], [result(dtype, y)], **(half_sums(y, {}) if dtype == "fp16" else {}))


def rotary(f):
    """Channels are the real parts and then the imaginary parts of complex numbers, turned by angles of the token."""
    for name, shape, most in (("2 heads", [1, 5, 2, 8], 8), ("batch", [3, 4, 1, 34], 4),
                              ("as long as the table", [2, 7, 3, 6], 7)):
        f.begin("RotaryEmbedding", f"fp32 {name}")
        c = shape[-1] // 2
        angles = torch.outer(torch.arange(most).double(), 100.0 ** (-torch.arange(c).double() / c))
        w = f.given("fp32", torch.cat([torch.cos(angles), torch.sin(angles)], 1).numpy(), const=True)
        x = f.rand("fp32", shape)
        turn = w.real()[:shape[1]].reshape(shape[1], 1, 2, c)
        turned = torch.complex(x.real()[..., :c].contiguous(), x.real()[..., c:].contiguous()) * torch.complex(
            turn[:, :, 0].contiguous(), turn[:, :, 1].contiguous())
        f.add([x, w], [result("fp32", torch.cat([turned.real, turned.imag], -1))], {"tokens": most})


def family():
    f = Family("matmul")
    for op in ("FullyConnected", "FullyConnectedTransposed"):
        for kind in LINEAR:
            if op == "FullyConnectedTransposed" and kind in ("fp32 of qcint4", "dynamic qbint4", "dynamic qbint4 to fp16"):
                continue  # not what XNNPACK takes
            for name, shape, ic, oc, p in PRODUCTS:
                # Tiles of up to 16 rows share what is found at run time for rows that are not there.
                rows = "dynamic" in kind and name in ("two rows", "three rows", "17 rows")
                if kind == "fp32" or name in SHORT or op == "FullyConnected" and (name == "deep" or rows):
                    linear(f, op, kind, name, shape, ic, oc, p)
    for bias in (False, True):
        f.begin("FullyConnected", "computed filter" + (" and bias" if bias else ""))
        x, w, b = f.rand("fp32", [3, 10]), f.rand("fp32", [7, 10]), f.rand("fp32", [7], const=not bias)
        f.add([x, w, b], [result("fp32", F.linear(x.real(), w.real(), b.real()))])
    batches(f)
    softmaxes(f)
    attentions(f)
    rotary(f)
    return f
