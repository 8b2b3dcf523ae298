"""Element-wise operators of two tensors."""

import math

import torch

from fixture import Family, agrees, result, spread

FLOATS = ["fp32", "fp16", "bf16"]
INF, NAN = math.inf, math.nan


def copysign(a, b):
    return torch.copysign(a, b)


def prelu(a, b):
    return torch.where(a < 0, a * b, a)


def modulus(a, b):
    """What is left of a division that rounds to zero; 0 of a division by 0, which is XNNPACK's own choice."""
    return torch.where(b == 0, torch.zeros_like(a + b), torch.fmod(a, b))


def euclid(a, b):
    """The integer quotient whose remainder is not negative; 0 by 0."""
    one = torch.where(b == 0, torch.ones_like(b), b)
    r = torch.remainder(a, one)
    r = torch.where(r < 0, r - one, r)
    q = torch.div(a - r, one, rounding_mode="trunc")
    zero = torch.zeros_like(q)
    return torch.where(b == 0, zero, q), torch.where(b == 0, zero, r)


def power(a, b):
    """Integer powers by multiplication modulo 2**32; 0 for a negative exponent."""
    out = [0 if e < 0 else pow(v, e, 2**32) for v, e in zip(*(t.flatten().tolist() for t in torch.broadcast_tensors(a, b)))]
    return torch.tensor(out, dtype=torch.int64).reshape(torch.broadcast_shapes(a.shape, b.shape))


def shifted(fn):
    """Only the low five bits of the second operand count."""
    return lambda a, b: fn(a, b & 31)


# name: function, range of the first and of the second operand.
OPS = {
    "Add": (torch.add, (-8, 8), (-8, 8)),
    "Subtract": (torch.sub, (-8, 8), (-8, 8)),
    "Multiply": (torch.mul, (-4, 4), (-4, 4)),
    "Divide": (torch.div, (-8, 8), (0.5, 4)),
    "Maximum": (torch.maximum, (-8, 8), (-8, 8)),
    "Minimum": (torch.minimum, (-8, 8), (-8, 8)),
    "SquaredDifference": (lambda a, b: (a - b) ** 2, (-4, 4), (-4, 4)),
    "Copysign": (copysign, (-8, 8), (-8, 8)),
    "PReLU": (prelu, (-8, 8), (-1, 1)),
    "Modulus": (modulus, (-8, 8), (0.5, 4)),
    "Atan2": (torch.atan2, (-4, 4), (-4, 4)),
    "Pow": (torch.pow, (0.1, 4), (-2, 3)),
}
INTEGER = {
    "Add": torch.add,
    "Subtract": torch.sub,
    "Multiply": torch.mul,
    "Divide": lambda a, b: euclid(a, b)[0],
    "Maximum": torch.maximum,
    "Minimum": torch.minimum,
    "Modulus": lambda a, b: euclid(a, b)[1],
    "Pow": power,
    "Copysign": lambda a, b: torch.where(b < 0, -torch.abs(a), torch.abs(a)),
    "BitwiseAnd": torch.bitwise_and,
    "BitwiseOr": torch.bitwise_or,
    "BitwiseXor": torch.bitwise_xor,
    "ShiftLeft": shifted(torch.bitwise_left_shift),
    "ShiftRightArithmetic": shifted(torch.bitwise_right_shift),
    "ShiftRightLogical": shifted(lambda a, b: torch.bitwise_right_shift(a & 0xFFFFFFFF, b)),
}
EXACT = {"Add", "Subtract", "Multiply", "Maximum", "Minimum", "Copysign"}
# Types whose results are rounded as PyTorch's: of bf16 XNNPACK cuts the lower half of the bits off.
ROUNDED = {op: ["fp32", "fp16"] for op in ("Add", "Subtract", "Multiply")}
# Shapes by the way XNNPACK walks them: equal, one operand constant along the rows or over all, dimensions that merge and not.
FEW = [([3, 37], [3, 37]), ([5, 19], [19]), ([2, 3, 5], [2, 1, 5])]
MANY = [([131], [131]), ([67], []), ([], [67]), ([1], [1]), ([5], [4, 7, 5]), ([4, 7, 5], [7, 1]),
        ([2, 1, 3, 1, 2, 3], [1, 2, 1, 3, 2, 1]), ([2, 3, 4, 5], [2, 1, 1, 5]), ([1, 1, 33], [4, 1, 1])]
SLOPES = [([2, 5, 3, 17], [17]), ([2, 5, 3, 17], [1]), ([4, 33], [33])]
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 1e4, -1e4, 0.5, -2.5]


def word(shape):
    return "x".join(map(str, shape)) or "scalar"


def operand(f, dtype, shape, lo, hi, const=False):
    if dtype in ("qint8", "quint8"):
        least = -128 if dtype == "qint8" else 0
        scale = float(torch.tensor((hi - lo) / 255, dtype=torch.float32))
        zero = max(least, min(least + 255, int(round(least - lo / scale))))
        least += 1 if lo > 0 else 0  # a divisor is not zero
        return f.rand(dtype, shape, max(least, zero + int(lo / scale)) if lo > 0 else least, 127 if dtype == "qint8" else 255,
                      const=const, scale=scale, zero=zero)
    return f.rand(dtype, shape, lo, hi, const=const)


def case(f, op, name, fn, dtype, a, b, ra, rb, p=None, constant=(), after=None, **extra):
    f.begin(op, name)
    x = operand(f, dtype, a, *ra, const=0 in constant)
    y = operand(f, dtype, b, *rb, const=1 in constant)
    z = fn(x.real(), y.real())
    if after:
        z = after(z)
    want = result(dtype, z, **spread(dtype, z))
    if dtype in ("qint8", "quint8") and op in ("Add", "Multiply") and not after:
        kernel = torch.ops.quantized.add if op == "Add" else torch.ops.quantized.mul
        agrees(want, kernel(*torch.broadcast_tensors(x.native(), y.native()), want.scale, want.zero))
    f.add([x, y], [want], p, **extra)


def family():
    f = Family("binary")
    for op, (fn, ra, rb) in OPS.items():
        for dtype in FLOATS + ["qint8", "quint8"]:
            shapes = SLOPES if op == "PReLU" else FEW
            if dtype == "fp32" and op in ("Add", "Subtract", "Multiply", "Divide", "Maximum", "Pow", "Copysign"):
                shapes = FEW + MANY
            elif dtype != "fp32" and op in ("Subtract", "Divide"):
                shapes = FEW + MANY[1:3]
            elif dtype not in ("fp32", "fp16") and op != "PReLU":
                shapes = FEW[:2]
            exact = {"exact": True} if op in EXACT and dtype in ROUNDED.get(op, FLOATS) else {}
            if dtype == "bf16" and op == "SquaredDifference":
                exact = {"rel": 1 / 32, "why": "XNNPACK cuts the lower half of the bits off three times instead of rounding once"}
            for a, b in shapes:
                constant = (1,) if op == "PReLU" else ()
                case(f, op, f"{dtype} {word(a)} {word(b)}", fn, dtype, a, b, ra, rb, constant=constant, **exact)
        for left in (0, 1):
            if op != "PReLU" or left:
                case(f, op, f"constant operand {left}", fn, "fp32", [3, 37], [37], ra, rb, constant=(left,),
                     **({"exact": True} if op in EXACT else {}))
    for op in ("Add", "Subtract", "Multiply", "Divide"):
        fn, ra, rb = OPS[op]
        for dtype in ("fp32", "fp16", "qint8", "quint8"):
            for name, p, lo, hi in (("ReLU", {"limits": [0, 3e38]}, 0, 3e38), ("ReLU6", {"limits": [0, 6]}, 0, 6),
                                    ("both sides", {"limits": [-1, 1.5]}, -1, 1.5)):
                if dtype == "fp16" and hi > 6e4:
                    continue
                case(f, op, f"{dtype} {name}", fn, dtype, [3, 37], [37], ra, rb, p,
                     after=lambda z, lo=lo, hi=hi: torch.clamp(z, lo, hi))
    for op, fn in INTEGER.items():
        whole = op in ("Divide", "Modulus")  # package graph takes neither, so one case is enough
        for a, b in [] if whole else FEW[:2]:
            f.begin(op, f"int32 {word(a)} {word(b)}")
            lo, hi = (-9, 9) if op == "Pow" else (0, 40) if op.startswith("Shift") else (-1000, 1000)
            x = f.rand("int32", a, -1000 if op != "Pow" else -20, 1000 if op != "Pow" else 20)
            y = f.rand("int32", b, lo, hi)
            f.add([x, y], [result("int32", fn(x.real(), y.real()))], exact=True)
        f.begin(op, "int32 extremes")
        values = [0, 1, -1, 7, -7, 2**31 - 1, -2**31, 0x55555555]
        # The size of the least integer is none.
        x = f.given("int32", [[v] for v in values if not (op == "Copysign" and v == -2**31)])
        y = f.given("int32", [v for v in values if not (whole and v == -1)])  # -2**31 / -1 is not defined
        f.add([x, y], [result("int32", fn(x.real(), y.real()))], exact=True)
    for op, (fn, _, _) in OPS.items():
        for dtype in ("fp32", "fp16"):
            # The larger of a number and what is none: IEEE 754 has either, by its year. Of PReLU's slopes XNNPACK takes an
            # infinite one times zero where the zero has a sign.
            values = SPECIAL[op in ("Maximum", "Minimum"):]
            slopes = [v for v in values if op != "PReLU" or math.isfinite(v)]
            f.begin(op, f"{dtype} special")
            x, y = f.given(dtype, [[v] for v in values]), f.given(dtype, slopes)
            f.add([x, y], [result(dtype, fn(x.real(), y.real()))])
    return f
