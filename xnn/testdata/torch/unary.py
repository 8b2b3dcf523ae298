"""Element-wise operators of one tensor."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from fixture import Family, result, spread

FLOATS = ["fp32", "fp16", "bf16"]
REALS = FLOATS + ["qint8", "quint8"]
INF, NAN = math.inf, math.nan


def bits(f):
    """A function of the 32 bits of each element."""
    return lambda x: torch.from_numpy(np.array([f(int(v) & 0xFFFFFFFF) for v in x.flatten()], np.int64).reshape(x.shape))


# name: function, range of the random elements, parameters. Domains end where half precision still has room.
OPS = {
    "Abs": (torch.abs, (-8, 8), {}),
    "BankersRounding": (torch.round, (-8, 8), {}),
    "Ceiling": (torch.ceil, (-8, 8), {}),
    "Clamp": (lambda x: torch.clamp(x, -2, 3.5), (-8, 8), {"lo": -2, "hi": 3.5}),
    "CubeRoot": (lambda x: torch.sign(x) * torch.abs(x) ** (1 / 3), (-8, 8), {}),
    "Cosine": (torch.cos, (-6, 6), {}),
    "ELU": (lambda x: F.elu(x, 0.75), (-8, 4), {"alpha": 0.75}),
    "Exp": (torch.exp, (-6, 4), {}),
    "Floor": (torch.floor, (-8, 8), {}),
    "GELU": (F.gelu, (-5, 5), {}),
    "HardSwish": (F.hardswish, (-5, 5), {}),
    "LeakyReLU": (lambda x: F.leaky_relu(x, 0.125), (-8, 8), {"alpha": 0.125}),
    "Log": (torch.log, (0.02, 20), {}),
    "Negate": (torch.neg, (-8, 8), {}),
    "ReciprocalSquareRoot": (torch.rsqrt, (0.05, 20), {}),
    "ReLU": (F.relu, (-8, 8), {}),
    "Sigmoid": (torch.sigmoid, (-8, 8), {}),
    "Sign": (torch.sign, (-8, 8), {}),
    "Sine": (torch.sin, (-6, 6), {}),
    "Square": (torch.square, (-8, 8), {}),
    "SquareRoot": (torch.sqrt, (0, 20), {}),
    "Tanh": (torch.tanh, (-4, 4), {}),
}
# Of integers, whose results are 32 bits of the true ones.
INTEGER = {
    "Abs": (torch.abs, {}),
    "Clamp": (lambda x: torch.clamp(x, -20, 35), {"lo": -20, "hi": 35}),
    "Negate": (torch.neg, {}),
    "ReLU": (F.relu, {}),
    "Sign": (torch.sign, {}),
    "Square": (torch.square, {}),
    "BitwiseNot": (torch.bitwise_not, {}),
    "CountLeadingZeros": (bits(lambda v: 32 - v.bit_length()), {}),
    "PopCount": (bits(lambda v: bin(v).count("1")), {}),
}
EXACT = {"Abs", "Negate", "Floor", "Ceiling", "BankersRounding", "ReLU"}
# Slopes and alphas besides the one above: the kernels choose by their sign and size.
MORE = {
    "LeakyReLU": [("slope above 1", lambda x: F.leaky_relu(x, 1.5), {"alpha": 1.5}),
                  ("slope below 0", lambda x: F.leaky_relu(x, -0.25), {"alpha": -0.25})],
    "ELU": [("alpha 1", F.elu, {"alpha": 1}), ("alpha 2", lambda x: F.elu(x, 2.0), {"alpha": 2})],
    "Clamp": [("from 0", lambda x: torch.clamp(x, 0, 6), {"lo": 0, "hi": 6}),
              ("one value apart", lambda x: torch.clamp(x, -1, 1), {"lo": -1, "hi": 1})],
}
# What is not a number, infinite, zero of either sign, huge or tiny, where IEEE 754 and PyTorch say what comes of it.
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 100.0, -100.0, 1e4, -1e4, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5]
FAR = {"fp32": [3e38, -3e38, 1e-30, -1e-30], "bf16": [3e38, -3e38, 1e-30, -1e-30], "fp16": [6e4, -6e4, 1e-4, -1e-4]}
# Operators whose argument may be far off; the others overflow there, or lose all digits to the reduction of an angle.
WIDE = {"Abs", "BankersRounding", "Ceiling", "Floor", "Negate", "Sign", "SquareRoot", "Sigmoid", "Tanh", "Log", "Clamp", "ReLU",
        "CubeRoot", "GELU", "HardSwish", "ELU", "LeakyReLU"}
# PyTorch has 0 for the sign of what is no number; IEEE 754 does not say.
OPEN = {"Sign": [NAN]}
BF16_STEP = {"rel": 1 / 64, "why": "XNNPACK cuts the lower half of the bits off, here twice, instead of rounding"}
WIDER = {("HardSwish", "bf16"): BF16_STEP,
         ("Sigmoid", "fp16"): {"rel": 3e-3, "why": "the kernel's polynomial is of second degree: off by up to 4 steps"}}


def has(values, v):
    """Whether v is among the values, of the same sign if it is zero."""
    return any(math.isnan(v) and math.isnan(w) or v == w and math.copysign(1, v) == math.copysign(1, w) for w in values)


def quantise_input(f, dtype, shape, lo, hi):
    scale = float(np.float32((hi - lo) / 255))
    least = -128 if dtype == "qint8" else 0
    zero = int(round(least - lo / scale))
    zero = max(least, min(least + 255, zero))
    return f.rand(dtype, shape, scale=scale, zero=zero)


def elementwise(f, op, name, fn, dtype, shape, lo, hi, p, **extra):
    f.begin(op, f"{dtype} {name}")
    if dtype in ("qint8", "quint8"):
        x = quantise_input(f, dtype, shape, lo, hi)
    else:
        x = f.rand(dtype, shape, lo, hi)
    y = fn(x.real())
    if dtype in ("qint8", "quint8"):
        finite = torch.where(torch.isfinite(y), y, torch.zeros_like(y))
        q = spread(dtype, finite)
    else:
        q = {}
    f.add([x], [result(dtype, y, **q)], p, **extra)


def convert(f):
    types = ["fp32", "fp16", "bf16", "int32", "qint8", "quint8"]
    for src in types:
        for dst in types:
            f.begin("Convert", f"{src} to {dst}")
            q = {"qint8": {"scale": 0.0625, "zero": 3}, "quint8": {"scale": 0.0625, "zero": 130}}.get(src, {})
            x = f.rand(src, [3, 67], -8, 8, **q) if not q else f.rand(src, [3, 67], **q)
            y = x.real()
            to = {"qint8": {"scale": 0.078125, "zero": -5}, "quint8": {"scale": 0.078125, "zero": 120}}.get(dst, {})
            if dst == "int32":  # XNNPACK's halves are rounded away from zero
                y = (torch.sign(y) * torch.floor(torch.abs(y) + 0.5)).to(torch.int64)
            elif src == "int32":
                y = y.to(torch.float64)
            f.add([x], [result(dst, y, **to)], **({"exact": True} if src == dst and not q else {}))


def family():
    f = Family("unary")
    for op, (fn, (lo, hi), p) in OPS.items():
        for dtype in REALS:
            extra = {"exact": True} if op in EXACT and dtype in FLOATS else WIDER.get((op, dtype), {})
            for shape in ([1], [3, 37]) if dtype != "fp32" else ([1], [7], [3, 37], [8, 16]):
                elementwise(f, op, "x".join(map(str, shape)), fn, dtype, shape, lo, hi, p, **extra)
            for name, g, q in MORE.get(op, []):
                elementwise(f, op, name, g, dtype, [67], lo, hi, q)
    for op, (fn, p) in INTEGER.items():
        f.begin(op, "int32")
        x = f.rand("int32", [5, 13])
        f.add([x], [result("int32", fn(x.real()))], p, exact=True)
        f.begin(op, "int32 extremes")
        x = f.given("int32", [0, 1, -1, 2, -2, 2**31 - 1, -2**31, 2**30, 0x55555555, 46341, -46341, 65536])
        f.add([x], [result("int32", fn(x.real()))], p, exact=True)
    for op, (fn, _, p) in OPS.items():
        for dtype in FLOATS:
            values = SPECIAL + FAR[dtype]
            if op not in WIDE:
                values = [v for v in values if not 100 < abs(v) < INF]
            f.begin(op, f"{dtype} special")
            x = f.given(dtype, [v for v in values if not has(OPEN.get(op, []), v)])
            f.add([x], [result(dtype, fn(x.real()))], p, **WIDER.get((op, dtype), {}))
    f.begin("Square", "scalar")
    x = f.rand("fp32", [])
    f.add([x], [result("fp32", torch.square(x.real()))])
    f.begin("Abs", "rank 6")
    x = f.rand("fp32", [2, 1, 3, 2, 1, 5])
    f.add([x], [result("fp32", torch.abs(x.real()))], exact=True)
    convert(f)
    return f
