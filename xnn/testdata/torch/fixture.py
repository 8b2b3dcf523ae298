"""Tensors and cases, and how they are written down.

A family is a file of cases, one JSON object a line:

    op      the builder method, or a name of the reader's own for a few nodes together
    name    unique among the cases of the operator in the file
    in      operands: {dtype, shape, quantisation, const, and either fill or data}; null for an operand that is not there
    p       parameters
    out     results: {dtype, shape, quantisation, data}
    exact   true where the bits must agree, such as where elements are only moved
    rel abs tolerance where it is not that of the element type, with the reason in why

data is base64 of the elements, little-endian, outermost dimension first. fill is what a generator gives: both sides run it,
so that inputs and weights need no room.

The reference of every operator is PyTorch's, run in double precision on the operands as stored (rounded to half, or the real
numbers that the integers stand for) and rounded once at the end: to nearest even, for quantised results too. So a difference
is an error of the side under test, not the sum of two. Of PyTorch's own quantised kernels there are none for these types of
filters, and few others; what they give, and what its own rounding gives, is asserted to be within a step of what is written.
"""

import base64
import json
import zlib

import numpy as np
import torch

STORE = {"fp32": "<f4", "fp16": "<f2", "bf16": "<u2", "int32": "<i4", "qint8": "<i1", "quint8": "<u1", "qint32": "<i4",
         "qcint8": "<i1", "qcint32": "<i4", "qcint4": "<u1", "qbint4": "<u1"}
RANGE = {"qint8": (-128, 127), "quint8": (0, 255), "qcint8": (-127, 127), "qint32": (-2**31, 2**31 - 1), "qcint4": (0, 15),
         "qbint4": (0, 15), "qcint32": (-2**31, 2**31 - 1), "int32": (-2**31, 2**31 - 1)}
NATIVE = {"qint8": torch.qint8, "quint8": torch.quint8}


def splitmix64(seed, start, n):
    """n numbers of the generator splitmix64 from the start-th on."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + (np.arange(start + 1, start + n + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def uniform(seed, start, n, lo, hi):
    """n single-precision numbers, uniform in [lo, hi)."""
    u = (splitmix64(seed, start, n) >> np.uint64(40)).astype(np.float64) * 2.0**-24
    return (float(lo) + (float(hi) - float(lo)) * u).astype(np.float32)


def bfloat(values):
    """The upper halves of single-precision numbers, rounded to nearest even."""
    with np.errstate(over="ignore"):
        values = np.asarray(values).astype(np.float32)
    bits = values.reshape(-1).view(np.uint32).astype(np.uint64).reshape(values.shape)
    rounded = ((bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def clean(f):
    """A scale that single precision holds."""
    return float(np.float32(f))


class Tensor:
    """An operand or a result. raw holds the elements as stored, 4-bit ones one a byte."""

    def __init__(self, dtype, shape, raw, fill=None, const=False, scale=None, zero=0, scales=None, axis=0, block=0):
        self.dtype, self.shape, self.fill, self.const = dtype, list(shape), fill, const
        self.raw = np.asarray(raw).reshape(self.shape)
        self.scale, self.zero, self.scales, self.axis, self.block = scale, zero, scales, axis, block

    def real(self):
        """The numbers the elements stand for, in double precision; integers for int32."""
        if self.dtype == "int32":
            return torch.as_tensor(self.raw.astype(np.int64))
        if self.dtype == "bf16":
            wide = (self.raw.astype(np.uint32).flatten() << 16).view(np.float32)
            return torch.as_tensor(wide.astype(np.float64).reshape(self.shape))
        x = self.raw.astype(np.float64)
        if self.scale is not None:
            return torch.as_tensor((x - self.zero) * self.scale)
        if self.block:
            s = np.repeat(np.asarray(self.scales).reshape(self.shape[0], -1), self.block, axis=1)
            return torch.as_tensor((x - 8) * s)
        if self.scales is not None:
            s = np.asarray(self.scales).reshape([-1 if i == self.axis else 1 for i in range(x.ndim)])
            return torch.as_tensor((x - (8 if self.dtype == "qcint4" else 0)) * s)
        return torch.as_tensor(x)

    def native(self):
        """The tensor for PyTorch's quantised kernels."""
        return torch.quantize_per_tensor(self.real().float(), self.scale, self.zero, NATIVE[self.dtype])

    def quant(self):
        """The quantisation, for a tensor that shall have the same."""
        return {} if self.scale is None else {"scale": self.scale, "zero": self.zero}

    def json(self):
        d = {"dtype": self.dtype, "shape": self.shape}
        if self.scale is not None:
            d["scale"] = self.scale
            if self.zero:
                d["zero"] = self.zero
        if self.scales is not None:
            d["scales"] = self.scales
            if self.axis:
                d["axis"] = self.axis
        if self.block:
            d["block"] = self.block
        if self.const:
            d["const"] = True
        if self.fill:
            d["fill"] = self.fill
        else:
            d["data"] = base64.b64encode(self.raw.astype(STORE[self.dtype]).tobytes()).decode()
        return d


def result(dtype, real, scale=None, zero=0, **quant):
    """A result rounded from double precision, or from integers for int32."""
    x = real.detach().numpy()
    if dtype == "int32":
        raw = x.astype(np.int64).astype(np.int32)  # wraps around
    elif dtype == "bf16":
        raw = bfloat(x)
    elif dtype in ("fp32", "fp16"):
        with np.errstate(over="ignore"):
            raw = x.astype(STORE[dtype])
    else:
        raw = np.clip(np.rint(x / scale) + zero, *RANGE[dtype])
        raw = raw.astype(STORE[dtype])
        if np.isfinite(x).all():
            theirs = torch.quantize_per_tensor(real.float(), scale, zero, NATIVE[dtype]).int_repr().numpy()
            assert np.abs(theirs.astype(int) - raw).max(initial=0) <= 1, "PyTorch rounds otherwise"
    return Tensor(dtype, x.shape, raw, scale=scale, zero=zero, **quant)


def spread(dtype, real):
    """A quantisation for these results in which a few of the largest saturate."""
    if dtype not in ("qint8", "quint8"):
        return {}
    lo, hi = min(0.0, float(real.min())), max(0.0, float(real.max()))
    scale = clean(max(hi - lo, 1e-3) / 240)
    least = RANGE[dtype][0]
    zero = int(round(least + 6 - lo / scale))
    return {"scale": scale, "zero": int(np.clip(zero, *RANGE[dtype]))}


def agrees(want, native):
    """Asserts that PyTorch's own quantised kernel, where it has one, is within a step of the result."""
    assert np.abs(native.int_repr().numpy().astype(int) - want.raw).max(initial=0) <= 1, "PyTorch's kernel differs"


class Family:
    """A file of cases."""

    def __init__(self, name):
        self.name, self.lines, self.seen, self.count = name, [], set(), 0

    def begin(self, op, name):
        """Starts a case: the tensors made from here on get their seeds from its name."""
        self.key = f"{self.name}/{op}/{name}"
        assert self.key not in self.seen, self.key
        self.seen.add(self.key)
        self.op, self.case, self.seeds = op, name, 0

    def rand(self, dtype, shape, lo=-1.0, hi=1.0, const=False, **quant):
        """A random tensor; of integers lo and hi are the smallest and largest stored, by default those of the type."""
        n = int(np.prod(shape, dtype=np.int64))
        seed = zlib.crc32(f"{self.key}/{self.seeds}".encode())
        self.seeds += 1
        if dtype in RANGE:
            if (lo, hi) == (-1.0, 1.0):
                lo, hi = RANGE[dtype] if dtype != "int32" else (-100, 100)
            raw = lo + (splitmix64(seed, 0, n) % np.uint64(hi - lo + 1)).astype(np.int64)
        else:
            raw = uniform(seed, 0, n, lo, hi)
            raw = bfloat(raw) if dtype == "bf16" else raw.astype(STORE[dtype])
        return Tensor(dtype, shape, raw, fill={"seed": seed, "lo": lo, "hi": hi}, const=const, **quant)

    def given(self, dtype, values, const=False, **quant):
        """A tensor of these numbers."""
        x = np.asarray(values)
        if dtype == "bf16":
            raw = bfloat(x.astype(np.float32))
        else:
            with np.errstate(over="ignore"):
                raw = x.astype(STORE[dtype])
        return Tensor(dtype, x.shape, raw, const=const, **quant)

    def add(self, inputs, outputs, p=None, **extra):
        """Ends the case that begin started."""
        line = {"op": self.op, "name": self.case, "in": [t.json() if t is not None else None for t in inputs],
                "out": [t.json() for t in outputs]}
        if p:
            line["p"] = p
        assert ("rel" in extra or "abs" in extra) == ("why" in extra), "a wider tolerance needs a reason"
        line.update(extra)
        self.lines.append(json.dumps(line, separators=(",", ":"), allow_nan=False))

    def write(self, folder):
        path = folder / f"{self.name}.json"
        path.write_text("".join(line + "\n" for line in self.lines))
        print(f"{path.name}: {len(self.lines)} cases, {path.stat().st_size} bytes")
