"""Wrong files, one fault each, and expect.tsv: the sentinel that the error wraps and what its text must contain."""

import os
import sys

from graph import Graph, NONE, count, per_block, per_channel, per_row, per_tensor
from fixtures import QCINT4, SCALES, bf16, dynamic, fully_connected, little, one, two

files = {}


def fault(name, kind, parts, g):
    files[name] = (kind, parts, g)


def change(g, of, **fields):
    """g with other fields in the table that of gives; None takes a field away."""
    for k, v in fields.items():
        if v is None:
            of.pop(k, None)
        else:
            of[k] = v
    return g


def tensor(g, id, **fields):
    return change(g, g.tensor(id), **fields)


def quant(g, id, **fields):
    return change(g, g.quant(id), **fields)


def root(g, **fields):
    return change(g, g.root, **fields)


def add(dtype="qint8", scale=0.5, zero_point=0):
    """x + x of a quantised type."""
    q = per_tensor(scale, zero_point)
    return (Graph().input(0, dtype, [3], quant=q).output(1, dtype, [3], quant=q)
            .node("Add", input1_id=0, input2_id=0, output_id=1))


def weights(q=None):
    return dynamic("qcint8", q or per_channel(SCALES), 3, count(12))


def blocks(q=None, n=64):
    return dynamic("qbint4", q or per_block(SCALES + SCALES, 32), n, count(2 * n))


# A scale and zero point for all.
for name, scale in {"zero": 0.0, "negative": -0.5, "nan": "nan", "infinite": "inf", "subnormal": 1e-40}.items():
    fault("scale_" + name, "ErrGraph", ["value 0", "scale", "normal positive"], add(scale=scale))
for dtype, zero_point, low, high in [("qint8", 128, -128, 127), ("qint8", -129, -128, 127), ("quint8", -1, 0, 255),
                                     ("quint8", 256, 0, 255), ("quint8", 2147483647, 0, 255), ("qint8", -2147483648, -128, 127)]:
    fault("zero_point_%s_%s" % (dtype, str(zero_point).replace("-", "minus_")), "ErrGraph",
          ["value 0", "zero point", str(zero_point), str(low), str(high)], add(dtype, zero_point=zero_point))
fault("zero_point_qint32", "ErrGraph", ["value 3", "zero point", "qint32", "1"],
      fully_connected("qint8", per_tensor(0.5), "qint32", per_tensor(0.25, 1)))

# How a value is quantised, and what it is.
g = Graph().input(0, "qint8", [3]).output(1, "qint8", [3]).node("Add", input1_id=0, input2_id=0, output_id=1)
fault("quant_absent", "ErrGraph", ["value 0", "qint8", "scale", "zero point"], g)
fault("quant_of_fp32", "ErrGraph", ["value 0", "PerTensorQuant", "fp32"], add("fp32"))
fault("quant_of_int32", "ErrGraph", ["value 0", "PerTensorQuant", "int32"], add("int32"))
for name, dtype, q in [("tensor_of_qcint8", "qcint8", per_tensor(0.5)), ("channel_of_qbint4", "qbint4", per_channel(SCALES)),
                       ("block_of_qcint8", "qcint8", per_block(SCALES, 32)), ("row_of_qcint8", "qcint8", per_row())]:
    fault("quant_" + name, "ErrGraph", ["value 3", q[0], dtype], dynamic(dtype, q, 64, count(256)))
g = add()
del g.root["values"][0]["value"]["quant_params"], g.root["values"][0]["value"]["quant_params_type"]
fault("quant_none", "ErrGraph", ["value 0", "quant_params"], g)
g = add()
del g.root["values"][0]["value"]["tensor_value"]
fault("tensor_value_absent", "ErrFormat", ["xvalues[0]", "tensor_value"], g)
g = two("Add")
g.root["values"][1] = {}
fault("value_none", "ErrFormat", ["xvalues[1]", "NONE"], g)
g = two("Add")
del g.root["nodes"][0]["node"], g.root["nodes"][0]["node_type"]
fault("node_none", "ErrFormat", ["node 0", "NONE"], g)
fault("datatype_qpint8", "ErrUnsupported", ["value 0", "11", "qpint8"], tensor(two("Add"), 0, datatype="qpint8"))
fault("datatype_pfp32", "ErrUnsupported", ["value 0", "13", "pfp32"], tensor(two("Add"), 0, datatype="pfp32"))
fault("datatype_0", "ErrGraph", ["value 0", "datatype 0"], tensor(two("Add"), 0, datatype="invalid"))
fault("datatype_15", "ErrGraph", ["value 0", "datatype 15"], tensor(two("Add"), 0, datatype=15))
fault("datatype_minus_1", "ErrGraph", ["value 0", "datatype -1"], tensor(two("Add"), 0, datatype=-1))

# A scale for each channel, or for each block of one.
for n in (-1, 2, 2147483647):
    fault("channel_dim_" + str(n).replace("-", "minus_"), "ErrGraph", ["value 3", "dimension %d" % n, "[4,3]"],
          weights(per_channel(SCALES, n)))
fault("channel_dim_other", "ErrGraph", ["value 3", "4 scales", "3"], weights(per_channel(SCALES, 1)))
fault("scales_absent", "ErrGraph", ["value 3", "0 scales", "4"], weights(per_channel([])))
fault("scales_fewer", "ErrGraph", ["value 3", "3 scales", "4"], weights(per_channel(SCALES[:3])))
fault("scales_more", "ErrGraph", ["value 3", "5 scales", "4"], weights(per_channel(SCALES + [1.0])))
fault("scales_zero", "ErrGraph", ["value 3", "scale 2 is 0"], weights(per_channel([0.5, 0.5, 0.0, 0.5])))
fault("scales_nan", "ErrGraph", ["value 3", "scale 1 is NaN"], weights(per_channel([0.5, "nan", 0.5, 0.5])))
fault("num_scales_fewer", "ErrGraph", ["value 3", "num_scales is 3", "4"], weights(per_channel(SCALES, num_scales=3)))
fault("num_scales_huge", "ErrGraph", ["value 3", "num_scales is 4294967295", "4"], weights(per_channel(SCALES, num_scales=NONE)))
for n, why in {0: "multiple of 32", -32: "multiple of 32", 16: "multiple of 32", 48: "multiple of 32", 128: "divides"}.items():
    fault("group_size_" + str(n).replace("-", "minus_"), "ErrGraph", ["value 3", "blocks of %d" % n, "64", why],
          blocks(per_block(SCALES, n)))
fault("group_size_other", "ErrGraph", ["value 3", "4 scales", "8 blocks of 32"], blocks(per_block(SCALES, 32)))
fault("group_channel_dim", "ErrGraph", ["value 3", "dimension 0"], quant(blocks(), 3, channel_dim=1))
fault("group_scale_twice", "ErrGraph", ["value 3", "scale", "scale_bf16", "8"],
      quant(blocks(), 3, scale_bf16=bf16(SCALES + SCALES)))
fault("group_scale_bf16_zero", "ErrGraph", ["value 3", "scale 7 is 0"],
      blocks(per_block([], 32, scale_bf16=bf16(SCALES + SCALES)[:7] + [0])))

# Scales in the table of constants.
def buffered(data, num_scales, index=3):
    g = weights(per_channel([], num_scales=num_scales, scale_buffer_idx=index))
    g.buffer(data)
    return g


words = little([0x3f000000] * 4, 4)
fault("scale_buffer_outside", "ErrGraph", ["value 3", "scale_buffer_idx 4", "4 entries"], buffered(words, 4, 4))
fault("scale_buffer_max", "ErrGraph", ["value 3", "scale_buffer_idx 4294967295", "4 entries"], buffered(words, 4, NONE))
fault("scale_buffer_short", "ErrGraph", ["value 3", "scale_buffer_idx 3", "16", "15"], buffered(words[:15], 4))
fault("scale_buffer_huge", "ErrGraph", ["value 3", "num_scales 4294967295", "17179869180", "16"], buffered(words, NONE))
fault("scale_buffer_fewer", "ErrGraph", ["value 3", "3 scales", "4"], buffered(words, 3))
fault("scale_buffer_none", "ErrGraph", ["value 3", "0 scales", "4"], buffered(words, 0))
fault("scale_buffer_empty", "ErrGraph", ["value 3", "16", "0"], buffered([], 4))
g = blocks(per_block([], 32, num_scales=8, scale_buffer_idx=3))
g.buffer(little(bf16(SCALES + SCALES), 2)[:15])
fault("scale_buffer_bf16_short", "ErrGraph", ["value 3", "scale_buffer_idx 3", "16", "15"], g)

# Quantised at run time.
q = per_row()
g = Graph().input(0, "qdint8", [2, 3], quant=q).output(1, "fp32", [2, 3]).node("Convert", input_id=0, output_id=1)
fault("qdint8_input", "ErrUnsupported", ["value 0", "input 0", "qdint8"], g)
g = Graph().input(0, "fp32", [2, 3]).output(1, "qdint8", [2, 3], quant=q).node("Convert", input_id=0, output_id=1)
fault("qdint8_output", "ErrUnsupported", ["value 1", "output 0", "qdint8"], g)
g = weights()
fault("qdint8_constant", "ErrGraph", ["value 2", "constant", "qdint8"], tensor(g, 2, constant_buffer_idx=1))
for n in (0, -1, 3):
    g = weights()
    fault("num_nonbatch_dims_" + str(n).replace("-", "minus_"), "ErrGraph", ["value 2", "%d inner dimensions" % n, "[2,3]"],
          quant(g, 2, num_nonbatch_dims=n))
fault("weights_not_constant", "ErrUnsupported", ["value 3", "constants", "qcint8"], tensor(weights(), 3, constant_buffer_idx=0))
fault("weights_short", "ErrGraph", ["value 3", "8 bytes", "7"], dynamic("qcint4", per_channel(SCALES), 3, QCINT4[:7]))

# The mark of older writers.
fault("dq_output", "ErrGraph", ["value 2", "dq_datatype 3", "input"], tensor(two("Add"), 2, dq_datatype="qint8"))
fault("dq_constant", "ErrGraph", ["value 4", "dq_datatype 3", "input"], tensor(weights(), 4, dq_datatype="qint8"))
fault("dq_of_int32", "ErrGraph", ["value 0", "dq_datatype 3", "int32"],
      Graph().input(0, "int32", [3], dq_datatype="qint8").output(1, "int32", [3])
      .node("Add", input1_id=0, input2_id=0, output_id=1))
fault("dq_qdint8", "ErrUnsupported", ["value 0", "dq_datatype 9"], tensor(two("Add"), 0, dq_datatype="qdint8"))
fault("dq_of_add", "ErrUnsupported", ["node 0", "Add", "qdint8"], tensor(two("Add"), 0, dq_datatype="qint8"))

# Limits.
for name, limits, parts in [("zero", (0.0, 0.0), ["[0, 0]"]), ("reversed", (6.0, -1.0), ["[6, -1]"]),
                            ("equal", (1.0, 1.0), ["[1, 1]"]),
                            ("nan", ("nan", 6.0), ["NaN"])]:
    fault("limits_" + name, "ErrGraph", ["node 0", "limits" if name != "zero" else "output_min_max"] + parts, two("Add", limits))
fault("limits_of_abs", "ErrGraph", ["node 0", "Abs", "output_min_max"], one("Abs", (-1.0, 6.0)))
fault("limits_of_minimum", "ErrGraph", ["node 0", "Minimum", "output_min_max"], two("Minimum", (-1.0, 6.0)))

# Lists with more entries than a tensor can have dimensions.
fault("perm_of_7", "ErrUnsupported", ["node 0", "perm", "7", "6"],
      Graph().input(0, "fp32", [2, 3]).output(1, "fp32", [2, 3])
      .node("StaticTranspose", num_dims=7, perm=[0, 1, 2, 3, 4, 5, 6], input_id=0, output_id=1))
fault("post_paddings_of_7", "ErrUnsupported", ["node 0", "post_paddings", "7", "6"],
      Graph().input(0, "fp32", [2, 3]).output(1, "fp32", [2, 3])
      .node("StaticConstantPad", pre_paddings=[0, 0], post_paddings=[0] * 7, input_id=0, output_id=1))

# The lists, of which only what they name counts.
fault("input_unknown", "ErrGraph", ["input_ids[1]", "9"], root(two("Add"), input_ids=[0, 9]))
fault("input_is_output", "ErrGraph", ["value 2", "input_ids[1]", "flags"], root(two("Add"), input_ids=[0, 2]))
fault("output_is_input", "ErrGraph", ["value 0", "output_ids[0]", "flags"], root(two("Add"), output_ids=[0]))

# Constants behind the FlatBuffer, of which this file has nothing. Files that have it are put together in tests.
def behind(entry):
    g = (Graph().input(0, "fp32", [3]).value(2, "fp32", [3], constant=1).output(1, "fp32", [3])
         .node("Add", input1_id=0, input2_id=2, output_id=1))
    return root(g, constant_buffer=None, mem_buffer_sizes=None, constant_data=[{}, entry])


fault("constant_data_without_header", "ErrGraph", ["constant_data[1]", "XH00"], behind({"offset": 0, "size": 12}))
fault("constant_data_elsewhere", "ErrUnsupported", ["value 2", "constant_buffer_idx 1", "some.weight"],
      behind({"offset": 2**64 - 1, "size": 12, "named_key": "some.weight"}))
fault("constant_data_without_key", "ErrGraph", ["constant_data[1]", "named_key"], behind({"offset": 2**64 - 1, "size": 12}))
fault("constant_data_outside", "ErrGraph", ["value 2", "constant_buffer_idx 2", "2 entries"],
      tensor(behind({"offset": 2**64 - 1, "named_key": "a"}), 2, constant_buffer_idx=2))
fault("constant_tables_two", "ErrGraph", ["constant_data", "constant_buffer", "2"],
      root(weights(), constant_data=[{}, {"offset": 0, "size": 12}]))

if __name__ == "__main__":
    with open(os.path.join(sys.argv[1], "expect.tsv"), "w") as table:
        table.write("# file\tkind\tmust contain, separated by semicolons\n")
        for name, (kind, parts, g) in files.items():
            g.write(os.path.join(sys.argv[1], name))
            table.write("%s\t%s\t%s\n" % (name, kind, ";".join(parts)))
