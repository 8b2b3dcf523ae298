"""Right files: one for each node of ExecuTorch's dialect at least, and the ways in which a file can hold a quantised value."""

import os
import struct
import sys

from graph import Graph, NONE, count, floats, per_block, per_channel, per_row, per_tensor

LIMITS = (-1.0, 6.0)
SCALES = [0.5, 0.25, 0.125, 0.0625]


def two(kind, limits=None):
    return (Graph().input(0, "fp32", [2, 3]).input(1, "fp32", [3]).output(2, "fp32", [2, 3])
            .node(kind, 7, limits, input1_id=0, input2_id=1, output_id=2))


def one(kind, limits=None, **fields):
    return (Graph().input(0, "fp32", [2, 3]).output(1, "fp32", [2, 3])
            .node(kind, 9, limits, input_id=0, output_id=1, **fields))


def shape(kind, before, after, **fields):
    return (Graph().input(0, "fp32", before).output(1, "fp32", after)
            .node(kind, input_id=0, output_id=1, **fields))


def concatenate(n):
    g, fields = Graph(), {}
    for i in range(n):
        g.input(i, "fp32", [2, i + 1])
        fields["input%d_id" % (i + 1)] = i
    return (g.output(n, "fp32", [2, n * (n + 1) // 2])
            .node("Concatenate%d" % n, axis=1, output_id=n, **fields))


def window(kind, **more):
    """The fields of a window over pixels that are not given are these."""
    fields = {}
    for f in ("padding_top", "padding_right", "padding_bottom", "padding_left"):
        fields[f] = 0
    for f in {"conv": ("subsampling_height", "subsampling_width", "dilation_height", "dilation_width", "groups"),
              "pool": ("stride_height", "stride_width", "dilation_height", "dilation_width")}[kind]:
        fields[f] = 1
    fields.update(more)
    return fields


def pool(kind, before, after, **more):
    return (Graph().input(0, "fp32", before).output(1, "fp32", after)
            .node(kind, 0, LIMITS, input_id=0, output_id=1, **window("pool", **more)))


def conv(kind, before, filter, after, bias=True, **more):
    g = Graph().input(0, "fp32", before)
    n = 1
    for d in filter:
        n *= d
    g.constant(2, "fp32", filter, floats(n))
    if bias:
        g.constant(3, "fp32", [after[3]], floats(after[3]))
    g.output(1, "fp32", after)
    return g.node(kind, 3, LIMITS, input1_id=0, filter_id=2, bias_id=3 if bias else NONE, output_id=1, **window("conv", **more))


def chain(kinds, limits, fields):
    """Abs, then one operator after the other; the last converts to fp16."""
    g = Graph().input(0, "fp32", [2, 3]).node("Abs", input_id=0, output_id=2)
    for i, kind in enumerate(kinds):
        g.value(2 + i, "fp32", [2, 3])
        g.node(kind, 0, limits.get(kind), input_id=2 + i, output_id=1 if kind == kinds[-1] else 3 + i, **fields.get(kind, {}))
    return g.output(1, "fp16", [2, 3])


def chain_binary(kinds):
    """Abs, then one operator after the other, whose second operand is always the same constant."""
    g = Graph().input(0, "fp32", [2, 3]).value(2, "fp32", [2, 3]).constant(3, "fp32", [3], floats(3))
    g.node("Abs", input_id=0, output_id=2)
    for i, kind in enumerate(kinds):
        last = kind == kinds[-1]
        if not last:
            g.value(4 + i, "fp32", [2, 3])
        g.node(kind, input1_id=3 + i if i else 2, input2_id=3, output_id=1 if last else 4 + i)
    return g.output(1, "fp32", [2, 3])


def concatenate_backwards(n):
    g, fields = Graph(), {}
    for i in range(n):
        g.input(i, "fp32", [1, 1, 1, 2, i + 1])
        fields["input%d_id" % (n - i)] = i
    return (g.output(n, "fp32", [1, 1, 1, 2, n * (n + 1) // 2])
            .node("Concatenate%d" % n, axis=4, output_id=n, **fields))


def chain_conv(kind, before, filter, after, **fields):
    n = 1
    for d in filter:
        n *= d
    return (Graph().input(0, "fp32", before).output(1, "fp32", before)
            .constant(3, "fp32", filter, floats(n)).constant(4, "fp32", [after[3]], floats(after[3])).output(2, "fp32", after)
            .node("Abs", input_id=0, output_id=1)
            .node(kind, input1_id=1, filter_id=3, bias_id=4, output_id=2, **window("conv", **fields)))


def chain_pool(kind, before, after, **fields):
    return (Graph().input(0, "fp32", before).output(1, "fp32", before).output(2, "fp32", after)
            .node("Abs", input_id=0, output_id=1).node(kind, input_id=1, output_id=2, **window("pool", **fields)))


def fully_connected(weights, scale, bias, bias_scale):
    """Quantised, with weights of [4, 3]: their type and scales, and those of the bias."""
    return (Graph().input(0, "qint8", [2, 3], quant=per_tensor(0.5, -3))
            .constant(2, weights, [4, 3], count(12), quant=scale)
            .constant(3, bias, [4], count(16), quant=bias_scale)
            .output(1, "qint8", [2, 4], quant=per_tensor(2.0, 4))
            .node("FullyConnected", input1_id=0, filter_id=2, bias_id=3, output_id=1))


# Four rows of three 4-bit weights: the half that no weight is in holds 8, which stands for zero.
QCINT4 = [0x21, 0x83, 0x54, 0x86, 0x77, 0x88, 0x1a, 0x82]


def dynamic(dtype, quant, n, data):
    """What is computed is fp32, and quantised row by row on the way into a layer with weights of [4, n]."""
    return (Graph().input(0, "fp32", [2, n])
            .value(2, "qdint8", [2, n], quant=per_row())
            .constant(3, dtype, [4, n], data, quant=quant)
            .constant(4, "fp32", [4], floats(4))
            .output(1, "fp32", [2, 4])
            .node("Convert", 65535, input_id=0, output_id=2)
            .node("FullyConnected", input1_id=2, filter_id=3, bias_id=4, output_id=1))


def bf16(numbers):
    """The bits of numbers that bf16 holds exactly."""
    return [struct.unpack("<I", struct.pack("<f", x))[0] >> 16 for x in numbers]


def little(words, size):
    return [b for w in words for b in w.to_bytes(size, "little")]


files = {
    "add": two("Add", LIMITS),
    "div": two("Div", LIMITS),
    "multiply": two("Multiply", LIMITS),
    "subtract": two("Subtract", LIMITS),
    "minimum": two("Minimum"),
    "maximum": two("Maximum"),
    "prelu": Graph().input(0, "fp32", [2, 3]).constant(2, "fp32", [3], floats(3)).output(1, "fp32", [2, 3])
        .node("PReLU", input1_id=0, input2_id=2, output_id=1),
    "batch_matrix_multiply": Graph().input(0, "fp32", [2, 3, 4]).input(1, "fp32", [2, 4, 5]).output(2, "fp32", [2, 3, 5])
        .node("BatchMatrixMultiply", input1_id=0, input2_id=1, output_id=2),
    "batch_matrix_multiply_transposed": Graph().input(0, "fp32", [2, 3, 4]).input(1, "fp32", [1, 5, 4])
        .output(2, "fp32", [2, 3, 5]).node("BatchMatrixMultiply", input1_id=0, input2_id=1, output_id=2, flags=1),

    "sigmoid": one("Sigmoid"),
    "floor": one("Floor"),
    "square_root": one("SquareRoot"),
    "reciprocal_square_root": one("ReciprocalSquareRoot"),
    "ceiling": one("Ceiling"),
    "gelu": one("Gelu"),
    "hardswish": one("Hardswish"),
    "log": one("Log"),
    "negate": one("Negate"),
    "square": one("Square"),
    "abs": one("Abs"),
    "exp": one("Exp"),
    "tanh": one("Tanh"),
    "sin": one("Sin"),
    "cos": one("Cos"),
    "softmax": one("Softmax"),
    "copy": one("Copy"),
    "clamp": one("Clamp", (-1.0, 2.0)),
    "leaky_relu": one("LeakyReLU", negative_slope=0.25),
    "elu": one("ELU", alpha=0.5),
    "convert": Graph().input(0, "fp32", [2, 3]).output(1, "fp16", [2, 3]).node("Convert", input_id=0, output_id=1),
    "convert_qint8": Graph().input(0, "fp32", [2, 3]).output(1, "qint8", [2, 3], quant=per_tensor(0.5, -3))
        .node("Convert", input_id=0, output_id=1),

    "static_transpose": shape("StaticTranspose", [2, 3, 4], [4, 2, 3], num_dims=3, perm=[2, 0, 1]),
    "static_reshape": shape("StaticReshape", [2, 6], [3, 4], num_dims=2, new_shape=[3, 0]),
    "static_slice": shape("StaticSlice", [4, 5], [2, 3], num_dims=2, offsets=[1, 2], sizes=[2, 3]),
    "static_constant_pad": shape("StaticConstantPad", [2, 3], [3, 5], pre_paddings=[1, 0], post_paddings=[0, 2],
        padding_value=0.5),
    "static_resize_bilinear_2d": shape("StaticResizeBilinear2D", [1, 2, 3, 2], [1, 4, 6, 2], new_height=4, new_width=6),
    "static_resize_bilinear_2d_corners": shape("StaticResizeBilinear2D", [1, 2, 3, 2], [1, 4, 6, 2], new_height=4, new_width=6,
        flags=8),
    "concatenate2": concatenate(2),
    "concatenate3": concatenate(3),
    "concatenate4": concatenate(4),
    "concatenate5": concatenate(5),

    "avg_pooling_2d": pool("AvgPooling2d", [1, 4, 4, 2], [1, 3, 2, 2], padding_top=1, padding_bottom=1, pooling_height=2,
        pooling_width=2, stride_height=2, stride_width=2),
    "max_pooling_2d": pool("MaxPooling2d", [1, 4, 5, 2], [1, 4, 5, 2], padding_top=1, padding_right=2, padding_bottom=1,
        padding_left=2, pooling_height=3, pooling_width=3, dilation_width=2),
    "arg_max_pooling_2d": Graph().input(0, "fp32", [1, 4, 4, 2]).output(1, "fp32", [1, 2, 2, 2]).output(2, "int32", [1, 2, 2, 2])
        .node("ArgMaxPooling2d", pooling_height=2, pooling_width=2, input_id=0, output_value_id=1, output_index_id=2),
    "global_avg_pooling_2d": shape("GlobalAvgPooling2d", [1, 4, 4, 2], [1, 1, 1, 2], flags=64),
    "global_avg_pooling_2d_flat": shape("GlobalAvgPooling2d", [1, 4, 4, 2], [1, 2]),

    "fully_connected": Graph().input(0, "fp32", [2, 3]).constant(2, "fp32", [4, 3], floats(12))
        .constant(3, "fp32", [4], floats(4)).output(1, "fp32", [2, 4])
        .node("FullyConnected", 11, LIMITS, input1_id=0, filter_id=2, bias_id=3, output_id=1),
    "fully_connected_transposed": Graph().input(0, "fp32", [2, 3]).constant(2, "fp32", [3, 4], floats(12))
        .output(1, "fp32", [2, 4])
        .node("FullyConnected", input1_id=0, filter_id=2, bias_id=NONE, output_id=1, flags=1),
    "conv_2d": conv("Conv2d", [1, 5, 6, 4], [6, 3, 3, 2], [1, 3, 3, 6], padding_top=1, padding_right=1, padding_bottom=1,
        kernel_height=3, kernel_width=3, subsampling_height=2, dilation_width=2, group_input_channels=2, group_output_channels=3,
        groups=2),
    "depthwise_conv_2d": conv("DepthwiseConv2d", [1, 5, 5, 3], [1, 3, 3, 6], [1, 5, 5, 6], bias=False, padding_top=1,
        padding_right=1, padding_bottom=1, padding_left=1, kernel_height=3, kernel_width=3, group_input_channels=1,
        group_output_channels=2, groups=3),
    "conv_transpose_2d": conv("ConvTranspose2d", [1, 3, 3, 2], [3, 3, 2, 2], [1, 7, 6, 3], padding_top=1, kernel_height=3,
        kernel_width=2, subsampling_height=2, subsampling_width=2, group_input_channels=2, group_output_channels=3,
        adjustment_height=1),
    "scaled_dot_product_attention": Graph().input(0, "fp32", [1, 2, 3, 4]).input(1, "fp32", [1, 2, 5, 4])
        .input(2, "fp32", [1, 2, 5, 4]).input(3, "fp32", [4]).input(4, "fp32", [3, 5]).output(5, "fp32", [1, 2, 3, 4])
        .node("ScaledDotProductAttention", query_id=0, key_id=1, value_id=2, scale_id=3, mask_id=4, output_id=5),

    # Numbers of fields that the files above have alike, told apart; what comes first, so that no operand is value 0, is Abs.
    "chain_unary": chain(["Sigmoid", "Floor", "SquareRoot", "ReciprocalSquareRoot", "Ceiling", "Gelu", "Hardswish", "Log", "Negate",
        "Square", "Abs", "Exp", "Tanh", "Sin", "Cos", "Softmax", "Copy", "Clamp", "LeakyReLU", "ELU", "Convert"],
        {"Clamp": (-1.0, 2.0)}, {"LeakyReLU": {"negative_slope": 0.25}, "ELU": {"alpha": 0.5}}),
    "chain_binary": chain_binary(["Add", "Div", "Multiply", "Subtract", "Minimum", "Maximum", "PReLU"]),
    "chain_moves": Graph().input(0, "fp32", [2, 3, 4]).value(2, "fp32", [2, 3, 4]).value(3, "fp32", [4, 2, 3])
        .value(4, "fp32", [8, 3]).value(5, "fp32", [2, 1]).output(1, "fp32", [5, 5])
        .node("Abs", input_id=0, output_id=2)
        .node("StaticTranspose", num_dims=3, perm=[2, 0, 1], input_id=2, output_id=3)
        .node("StaticReshape", num_dims=2, new_shape=[8, 3], input_id=3, output_id=4)
        .node("StaticSlice", num_dims=2, offsets=[5, 2], sizes=[2, 1], input_id=4, output_id=5)
        .node("StaticConstantPad", pre_paddings=[1, 3], post_paddings=[2, 1], padding_value=0.5, input_id=5, output_id=1),
    "chain_images": Graph().input(0, "fp32", [1, 2, 3, 2]).value(2, "fp32", [1, 2, 3, 2]).value(3, "fp32", [1, 4, 6, 2])
        .output(1, "fp32", [1, 1, 1, 2])
        .node("Abs", input_id=0, output_id=2)
        .node("StaticResizeBilinear2D", new_height=4, new_width=6, input_id=2, output_id=3)
        .node("GlobalAvgPooling2d", input_id=3, output_id=1, flags=64),
    "chain_batch_matrix_multiply": Graph().input(0, "fp32", [2, 3, 4]).input(1, "fp32", [2, 4, 5]).value(3, "fp32", [2, 3, 4])
        .output(2, "fp32", [2, 3, 5]).node("Abs", input_id=0, output_id=3)
        .node("BatchMatrixMultiply", input1_id=3, input2_id=1, output_id=2),
    "chain_attention": Graph().input(0, "fp32", [1, 2, 3, 4]).input(1, "fp32", [1, 2, 5, 4]).input(2, "fp32", [1, 2, 5, 4])
        .input(3, "fp32", [4]).input(4, "fp32", [3, 5]).value(6, "fp32", [1, 2, 3, 4]).output(5, "fp32", [1, 2, 3, 4])
        .node("Abs", input_id=0, output_id=6)
        .node("ScaledDotProductAttention", query_id=6, key_id=1, value_id=2, scale_id=3, mask_id=4, output_id=5),
    "chain_concatenate2": concatenate_backwards(2),
    "chain_concatenate3": concatenate_backwards(3),
    "chain_concatenate4": concatenate_backwards(4),
    "chain_concatenate5": concatenate_backwards(5),
    "chain_conv_2d": chain_conv("Conv2d", [1, 22, 20, 5], [10, 5, 6, 1], [1, 1, 1, 10], padding_top=3, padding_right=4,
        padding_bottom=5, padding_left=2, kernel_height=5, kernel_width=6, subsampling_height=2, subsampling_width=6,
        dilation_height=7, dilation_width=4, group_input_channels=1, group_output_channels=2, groups=5),
    "chain_depthwise_conv_2d": chain_conv("DepthwiseConv2d", [1, 50, 70, 3], [1, 7, 8, 6], [1, 1, 2, 6], padding_top=3,
        padding_right=4, padding_bottom=5, padding_left=6, kernel_height=7, kernel_width=8, subsampling_height=7,
        subsampling_width=8, dilation_height=9, dilation_width=10, group_input_channels=1, group_output_channels=2, groups=3),
    "chain_conv_transpose_2d": chain_conv("ConvTranspose2d", [1, 2, 2, 6], [12, 3, 2, 1], [1, 9, 10, 12], padding_top=3,
        padding_right=3, padding_bottom=2, padding_left=4, kernel_height=3, kernel_width=2, subsampling_height=4,
        subsampling_width=6, dilation_height=4, dilation_width=5, group_input_channels=1, group_output_channels=2, groups=6,
        adjustment_height=1, adjustment_width=5),
    "chain_avg_pooling_2d": chain_pool("AvgPooling2d", [1, 6, 7, 2], [1, 3, 2, 2], padding_top=3, padding_right=2,
        padding_bottom=4, padding_left=3, pooling_height=5, pooling_width=6, stride_height=3, stride_width=4),
    "chain_max_pooling_2d": chain_pool("MaxPooling2d", [1, 5, 32, 2], [1, 1, 2, 2], padding_top=3, padding_right=2,
        padding_bottom=4, padding_left=3, pooling_height=9, pooling_width=8, stride_height=5, stride_width=6, dilation_width=4),
    "chain_arg_max_pooling_2d": Graph().input(0, "fp32", [1, 6, 6, 2]).output(1, "fp32", [1, 6, 6, 2])
        .output(2, "fp32", [1, 2, 2, 2]).output(3, "int32", [1, 2, 2, 2])
        .node("Abs", input_id=0, output_id=1)
        .node("ArgMaxPooling2d", padding_top=2, padding_right=3, padding_bottom=4, padding_left=5, pooling_height=6,
            pooling_width=7, input_id=1, output_value_id=2, output_index_id=3),

    "add_qint8": Graph().input(0, "qint8", [3], quant=per_tensor(0.5, -3)).input(1, "qint8", [3], quant=per_tensor(0.25, 5))
        .output(2, "qint8", [3], quant=per_tensor(0.125, 1)).node("Add", input1_id=0, input2_id=1, output_id=2),
    "add_quint8": Graph().input(0, "quint8", [3], quant=per_tensor(0.5, 200)).input(1, "quint8", [3], quant=per_tensor(0.25, 255))
        .output(2, "quint8", [3], quant=per_tensor(0.125)).node("Add", input1_id=0, input2_id=1, output_id=2),
    "add_int32": Graph().input(0, "int32", [3]).input(1, "int32", [3]).output(2, "int32", [3])
        .node("Add", input1_id=0, input2_id=1, output_id=2),
    "fully_connected_qint8": fully_connected("qint8", per_tensor(0.5), "qint32", per_tensor(0.25)),
    "fully_connected_qcint8": fully_connected("qcint8", per_channel(SCALES), "qcint32", per_channel([s / 2 for s in SCALES])),
    "dynamic_qcint8": dynamic("qcint8", per_channel(SCALES), 3, count(12)),
    "dynamic_qcint4": dynamic("qcint4", per_channel(SCALES), 3, QCINT4),
    "dynamic_qbint4": dynamic("qbint4", per_block(SCALES + SCALES, 32), 64, count(128)),
}

# What our writer would say in other words, and reads all the same.

# Arguments are in the order of external_id, whatever the lists say, and ids need not be those.
g = files["foreign_order"] = (Graph()
    .value(10, "fp32", [2, 3], external=2, flags=2).value(11, "fp32", [3], external=7, flags=1)
    .value(12, "fp32", [2, 3], external=5, flags=1)
    .node("Subtract", input1_id=12, input2_id=11, output_id=10))
g.root.update(num_externs=9, input_ids=[11, 12], output_ids=[10])
del g.root["version"], g.root["constant_buffer"], g.root["mem_buffer_sizes"]

# Older writers mark an input that is to be quantised at run time.
g = files["foreign_dq_datatype"] = (Graph().input(0, "fp32", [2, 3], dq_datatype="qint8")
    .constant(2, "qcint8", [4, 3], count(12), quant=per_channel(SCALES)).constant(3, "fp32", [4], floats(4))
    .output(1, "fp32", [2, 4])
    .node("FullyConnected", input1_id=0, filter_id=2, bias_id=3, output_id=1))

# Scales are in the table of constants. Those of blocks are bf16 there, and once were bf16 in the value.
g = files["foreign_scale_buffer"] = dynamic("qcint8", per_channel([9.0], num_scales=4), 3, count(12))
g.quant(3)["scale_buffer_idx"] = g.buffer(little([struct.unpack("<I", struct.pack("<f", x))[0] for x in SCALES], 4) + [1, 2, 3])
g = files["foreign_scale_buffer_bf16"] = dynamic("qbint4", per_block([], 32, num_scales=8), 64, count(128))
g.quant(3)["scale_buffer_idx"] = g.buffer(little(bf16(SCALES + SCALES), 2))
files["foreign_scale_bf16"] = dynamic("qbint4", per_block([], 32, scale_bf16=bf16(SCALES + SCALES)), 64, count(128))
files["foreign_num_scales"] = dynamic("qcint8", per_channel(SCALES, num_scales=4), 3, count(12))

# Limits that limit nothing; both tables of constants there, one of them with its first entry only.
g = files["foreign_unlimited"] = one("Abs", ("-inf", "+inf"))
g.root["constant_data"] = [{}]

if __name__ == "__main__":
    for name, g in files.items():
        g.write(os.path.join(sys.argv[1], name))
