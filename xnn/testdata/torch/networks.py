"""Whole networks with random weights. Both sides draw the weights from one seed, in the order of the layers; the file has the
seed, the results for batches of 1, 4 and 2, and after each stage the mean and the mean of the absolute values for the first.

Convolutions and matrices are drawn uniform in +-sqrt(6 / inputs of an output), biases and the shifts and means of batch
normalisation in +-0.1, its scales and variances in 0.5 to 1.5. Filters are drawn in the order [outputs, height, width, inputs].
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from conv import nchw
from fixture import Family, result, uniform


class Weights:
    """The numbers of a seed, one after the other."""

    def __init__(self, seed):
        self.seed, self.drawn = seed, 0

    def draw(self, shape, lo, hi):
        n = math.prod(shape)
        values = uniform(self.seed, self.drawn, n, lo, hi)
        self.drawn += n
        return torch.from_numpy(values.reshape(shape)).double()

    def linear(self, layer):
        a = math.sqrt(6 / layer.in_features)
        layer.weight.copy_(self.draw(layer.weight.shape, -a, a))
        layer.bias.copy_(self.draw(layer.bias.shape, -0.1, 0.1))

    def conv(self, layer):
        oc, ic, kh, kw = layer.weight.shape
        a = math.sqrt(6 / (ic * kh * kw))
        layer.weight.copy_(nchw(self.draw([oc, kh, kw, ic], -a, a)))
        if layer.bias is not None:
            layer.bias.copy_(self.draw([oc], -0.1, 0.1))

    def norm(self, layer):
        layer.weight.copy_(self.draw(layer.weight.shape, 0.5, 1.5))
        layer.bias.copy_(self.draw(layer.bias.shape, -0.1, 0.1))
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_mean.copy_(self.draw(layer.running_mean.shape, -0.1, 0.1))
            layer.running_var.copy_(self.draw(layer.running_var.shape, 0.5, 1.5))

    def fill(self, module):
        """Draws for the layers of a module in the order in which they were made."""
        for layer in module.modules():
            if isinstance(layer, nn.Conv2d):
                self.conv(layer)
            elif isinstance(layer, nn.Linear):
                self.linear(layer)
            elif isinstance(layer, (nn.BatchNorm2d, nn.LayerNorm)):
                self.norm(layer)


def unit(ic, oc, kernel, stride=1, groups=1, act=nn.ReLU6, eps=1e-5):
    """Convolution, batch normalisation and activation."""
    layers = [nn.Conv2d(ic, oc, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(oc, eps=eps)]
    return nn.Sequential(*layers, *([act()] if act else []))


class Residual(nn.Module):
    """A block and the way around it."""

    def __init__(self, body, shortcut=None, after=None):
        super().__init__()
        self.body, self.shortcut, self.after = body, shortcut, after

    def forward(self, x):
        y = self.body(x) + (self.shortcut(x) if self.shortcut else x)
        return self.after(y) if self.after else y


class MobileNetV2(nn.Module):
    """Sandler et al., 2018, width 1."""

    BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]

    def __init__(self):
        super().__init__()
        stages, ic = [unit(3, 32, 3, 2)], 32
        for expand, oc, repeats, stride in self.BLOCKS:
            blocks = []
            for i in range(repeats):
                step, hidden = stride if i == 0 else 1, ic * expand
                body = [unit(ic, hidden, 1)] if expand != 1 else []
                body = nn.Sequential(*body, unit(hidden, hidden, 3, step, hidden), unit(hidden, oc, 1, act=None))
                blocks.append(Residual(body) if step == 1 and ic == oc else body)
                ic = oc
            stages.append(nn.Sequential(*blocks))
        stages.append(unit(ic, 1280, 1))
        self.stages, self.classifier = nn.ModuleList(stages), nn.Linear(1280, 1000)

    def head(self, x):
        return self.classifier(x.mean([2, 3]))


class SqueezeExcite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        squeezed = divisible(channels // 4)
        self.down, self.up = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        s = F.adaptive_avg_pool2d(x, 1)
        return x * F.hardsigmoid(self.up(F.relu(self.down(s))))


def divisible(n):
    """n rounded to a multiple of 8, and not to less than nine tenths of it."""
    m = max(8, (n + 4) // 8 * 8)
    return m + 8 if m < 0.9 * n else m


class MobileNetV3Small(nn.Module):
    """Howard et al., 2019, table 2."""

    BLOCKS = [(3, 16, 16, True, nn.ReLU, 2), (3, 72, 24, False, nn.ReLU, 2), (3, 88, 24, False, nn.ReLU, 1),
              (5, 96, 40, True, nn.Hardswish, 2), (5, 240, 40, True, nn.Hardswish, 1), (5, 240, 40, True, nn.Hardswish, 1),
              (5, 120, 48, True, nn.Hardswish, 1), (5, 144, 48, True, nn.Hardswish, 1), (5, 288, 96, True, nn.Hardswish, 2),
              (5, 576, 96, True, nn.Hardswish, 1), (5, 576, 96, True, nn.Hardswish, 1)]

    def __init__(self):
        super().__init__()
        stages, ic, eps = [unit(3, 16, 3, 2, act=nn.Hardswish, eps=1e-3)], 16, 1e-3
        for kernel, hidden, oc, squeeze, act, stride in self.BLOCKS:
            body = [unit(ic, hidden, 1, act=act, eps=eps)] if hidden != ic else []
            body.append(unit(hidden, hidden, kernel, stride, hidden, act, eps))
            if squeeze:
                body.append(SqueezeExcite(hidden))
            body = nn.Sequential(*body, unit(hidden, oc, 1, act=None, eps=eps))
            stages.append(Residual(body) if stride == 1 and ic == oc else body)
            ic = oc
        stages.append(unit(ic, 576, 1, act=nn.Hardswish, eps=eps))
        self.stages = nn.ModuleList(stages)
        self.classifier = nn.Sequential(nn.Linear(576, 1024), nn.Hardswish(), nn.Linear(1024, 1000))

    def head(self, x):
        return self.classifier(x.mean([2, 3]))


class ResNet18(nn.Module):
    """He et al., 2015, with basic blocks."""

    def __init__(self):
        super().__init__()
        stages, ic = [nn.Sequential(unit(3, 64, 7, 2, act=nn.ReLU), nn.MaxPool2d(3, 2, 1))], 64
        for oc, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            blocks = []
            for step in (stride, 1):
                body = nn.Sequential(unit(ic, oc, 3, step, act=nn.ReLU), unit(oc, oc, 3, act=None))
                shortcut = unit(ic, oc, 1, step, act=None) if step != 1 or ic != oc else None
                blocks.append(Residual(body, shortcut, nn.ReLU()))
                ic = oc
            stages.append(nn.Sequential(*blocks))
        self.stages, self.classifier = nn.ModuleList(stages), nn.Linear(512, 1000)

    def head(self, x):
        return self.classifier(x.mean([2, 3]))


class Encoder(nn.Module):
    """Two of PyTorch's own encoder layers: normalised before, or after, each half."""

    WIDTH, HEADS, HIDDEN, TOKENS = 64, 2, 128, 16

    def __init__(self, before):
        super().__init__()
        self.stages = nn.ModuleList(
            nn.TransformerEncoderLayer(self.WIDTH, self.HEADS, self.HIDDEN, 0.0, F.gelu if before else F.relu, batch_first=True,
                                       norm_first=before) for _ in range(2))

    def fill(self, weights):
        """The layers of an attention keep three of their matrices in one."""
        for layer in self.stages:
            attention = layer.self_attn
            a = math.sqrt(6 / self.WIDTH)
            attention.in_proj_weight.copy_(weights.draw(attention.in_proj_weight.shape, -a, a))
            attention.in_proj_bias.copy_(weights.draw(attention.in_proj_bias.shape, -0.1, 0.1))
            for linear in (attention.out_proj, layer.linear1, layer.linear2):
                weights.linear(linear)
            for norm in (layer.norm1, layer.norm2):
                weights.norm(norm)

    def head(self, x):
        return x


def family():
    f = Family("networks")
    for name, make, shape in (("MobileNetV2", MobileNetV2, [96, 96, 3]), ("MobileNetV3Small", MobileNetV3Small, [96, 96, 3]),
                              ("ResNet18", ResNet18, [64, 64, 3]),
                              ("Encoder", lambda: Encoder(True), [Encoder.TOKENS, Encoder.WIDTH]),
                              ("EncoderPostNorm", lambda: Encoder(False), [Encoder.TOKENS, Encoder.WIDTH])):
        f.begin(name, "random weights")
        seed = 1000 + len(f.lines)
        weights = Weights(seed)
        net = make().double().eval()
        if name.startswith("Encoder"):
            net.train()  # its fused kernel for inference is left out; nothing drops out
            net.fill(weights)
        else:
            weights.fill(net)
        inputs = [f.rand("fp32", [n] + shape) for n in (1, 4, 2)]
        outputs, taps = [], []
        for batch in inputs:
            x = batch.real()
            x = nchw(x) if len(shape) == 3 else x
            for stage in net.stages:
                x = stage(x)
                if batch is inputs[0]:
                    taps.append([float(f"{v:.9g}") for v in (x.mean(), x.abs().mean())])
            outputs.append(net.head(x))
        print(f"{name}: {weights.drawn} weights, stages {[t[1] for t in taps]}, largest result {outputs[0].abs().max():.3g}")
        f.add(inputs, [result("fp32", y) for y in outputs], {"seed": seed, "drawn": weights.drawn, "taps": taps})
    return f
