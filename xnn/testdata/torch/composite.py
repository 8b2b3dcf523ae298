"""A few operators together, as networks have them."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from conv import dynamic, nchw, nhwc
from fixture import Family, clean, result


def family():
    f = Family("composite")
    for shape in ([2, 5, 16], [3, 33], [1, 300]):
        f.begin("LayerNorm", f"{shape}")
        n = shape[-1]
        x, w, b = f.rand("fp32", shape, -3, 3), f.rand("fp32", [n], 0.5, 1.5, const=True), f.rand("fp32", [n], const=True)
        f.add([x, w, b], [result("fp32", F.layer_norm(x.real(), [n], w.real(), b.real(), 1e-5))], {"eps": 1e-5})
    f.begin("RMSNorm", "[4, 24]")
    x, w = f.rand("fp32", [4, 24], -3, 3), f.rand("fp32", [24], 0.5, 1.5, const=True)
    y = x.real() * torch.rsqrt((x.real() ** 2).mean(-1, keepdim=True) + 1e-6) * w.real()
    f.add([x, w], [result("fp32", y)], {"eps": 1e-6})
    for groups, shape in ((1, [1, 3, 4, 6]), (3, [2, 3, 4, 12])):
        f.begin("GroupNorm", f"{groups} of {shape}")
        c = shape[-1]
        x, w, b = f.rand("fp32", shape, -3, 3), f.rand("fp32", [c], 0.5, 1.5, const=True), f.rand("fp32", [c], const=True)
        y = nhwc(F.group_norm(nchw(x.real()), groups, w.real(), b.real(), 1e-5))
        f.add([x, w, b], [result("fp32", y)], {"groups": groups, "eps": 1e-5})
    f.begin("BatchNorm", "kept as multiply and add")
    x = f.rand("fp32", [2, 3, 4, 7], -3, 3)
    stats = [f.rand("fp32", [7], 0.5, 1.5, const=True), f.rand("fp32", [7], const=True), f.rand("fp32", [7], const=True),
             f.rand("fp32", [7], 0.5, 1.5, const=True)]
    gamma, beta, mean, var = (t.real() for t in stats)
    y = nhwc(F.batch_norm(nchw(x.real()), mean, var, gamma, beta, eps=1e-5))
    f.add([x] + stats, [result("fp32", y)], {"eps": 1e-5})
    for op, fn in (("SiLU", F.silu), ("HardSigmoid", F.hardsigmoid), ("LogSoftmax", lambda t: F.log_softmax(t, -1)),
                   ("GELUTanh", lambda t: F.gelu(t, approximate="tanh")), ("Softplus", F.softplus), ("L2Normalize", F.normalize)):
        f.begin(op, "[5, 19]")
        x = f.rand("fp32", [5, 19], -4, 4)
        f.add([x], [result("fp32", fn(x.real()))])
    f.begin("SqueezeExcite", "[2, 4, 4, 8]")
    x = f.rand("fp32", [2, 4, 4, 8])
    w1, b1 = f.rand("fp32", [4, 1, 1, 8], const=True), f.rand("fp32", [4], const=True)
    w2, b2 = f.rand("fp32", [8, 1, 1, 4], const=True), f.rand("fp32", [8], const=True)
    s = F.adaptive_avg_pool2d(nchw(x.real()), 1)
    s = F.hardsigmoid(F.conv2d(F.relu(F.conv2d(s, nchw(w1.real()), b1.real())), nchw(w2.real()), b2.real()))
    f.add([x, w1, b1, w2, b2], [result("fp32", nhwc(nchw(x.real()) * s))])
    for heads in (1, 4):
        f.begin("MultiHeadAttention", f"{heads} heads")
        c = 16
        x = f.rand("fp32", [2, 7, c])
        a = math.sqrt(3 / c)
        w, b = f.rand("fp32", [3 * c, c], -a, a, const=True), f.rand("fp32", [3 * c], const=True)
        wo, bo = f.rand("fp32", [c, c], -a, a, const=True), f.rand("fp32", [c], const=True)
        m = nn.MultiheadAttention(c, heads, batch_first=True).double()
        m.load_state_dict({"in_proj_weight": w.real(), "in_proj_bias": b.real(), "out_proj.weight": wo.real(),
                           "out_proj.bias": bo.real()})
        f.add([x, w, b, wo, bo], [result("fp32", m(x.real(), x.real(), x.real())[0])], {"heads": heads})
    f.begin("DynamicLinears", "two, ReLU between")
    x = f.rand("fp32", [6, 40], -1, 2)
    ws = [f.rand("qcint8", [24, 40], const=True, scales=[clean(0.002 + 1e-4 * i) for i in range(24)]),
          f.rand("qcint8", [9, 24], const=True, scales=[clean(0.003 + 1e-4 * i) for i in range(9)])]
    real, step = dynamic(x.real(), 1)
    hidden = F.relu(F.linear(real, ws[0].real()))
    real, last = dynamic(hidden, 1)
    # A step of x reaches the result through both filters, a step of the hidden row through one.
    reach = step * float((ws[1].real().abs() @ ws[0].real().abs()).max()) + last * float(ws[1].real().abs().max())
    f.add([x] + ws, [result("fp32", F.linear(real, ws[1].real()))], abs=clean(2 * reach),
          why="the scales are found at run time: an element of a row may round to the next step")
    return f
