"""Right files of our own dialect: one for each node that ExecuTorch's has not."""

import os
import sys

from graph import Graph, floats, ours


def one(kind, dtype="fp32"):
    return Graph().input(0, dtype, [2, 3]).output(1, dtype, [2, 3]).node(kind, 9, input_id=0, output_id=1)


def two(kind, dtype="fp32"):
    return (Graph().input(0, dtype, [2, 3]).input(1, dtype, [3]).output(2, dtype, [2, 3])
            .node(kind, 7, input1_id=0, input2_id=1, output_id=2))


def shape(kind, before, after, **fields):
    return Graph().input(0, "fp32", before).output(1, "fp32", after).node(kind, input_id=0, output_id=1, **fields)


files = {
    "bankers_rounding": one("BankersRounding"),
    "bitwise_not": one("BitwiseNot", "int32"),
    "count_leading_zeros": one("CountLeadingZeros", "int32"),
    "cube_root": one("CubeRoot"),
    "pop_count": one("PopCount", "int32"),
    "sign": one("Sign"),

    "atan2": two("Atan2"),
    "bitwise_and": two("BitwiseAnd", "int32"),
    "bitwise_or": two("BitwiseOr", "int32"),
    "bitwise_xor": two("BitwiseXor", "int32"),
    "copysign": two("Copysign"),
    "modulus": two("Modulus"),
    "pow": two("Pow"),
    "shift_left": two("ShiftLeft", "int32"),
    "shift_right_arithmetic": two("ShiftRightArithmetic", "int32"),
    "shift_right_logical": two("ShiftRightLogical", "int32"),
    "squared_difference": two("SquaredDifference"),

    "reduce_mean": shape("ReduceMean", [2, 3, 4], [2, 4], axes=[1]),
    "reduce_mean_keep": shape("ReduceMean", [2, 3, 4], [1, 3, 1], axes=[0, 2], flags=64),
    "reduce_sum": shape("ReduceSum", [2, 3, 4], [3], axes=[0, 2]),
    "reduce_sum_keep": shape("ReduceSum", [2, 3, 4], [2, 3, 1], axes=[2], flags=64),
    "expand_dims": shape("ExpandDims", [2, 3], [1, 2, 1, 3], axes=[0, 2]),
    "depth_to_space_2d": shape("DepthToSpace2D", [1, 2, 3, 8], [1, 4, 6, 2], block_size=2),
    "space_to_depth_2d": shape("SpaceToDepth2D", [1, 4, 6, 2], [1, 2, 3, 8], block_size=2),
    "concatenate": Graph().input(0, "fp32", [2, 1]).input(1, "fp32", [2, 2]).output(2, "fp32", [2, 8])
        .node("Concatenate", axis=1, input_ids=[0, 1, 0, 1, 0, 0], output_id=2),
    "even_split": Graph().input(0, "fp32", [2, 6]).output(1, "fp32", [2, 2]).output(2, "fp32", [2, 2]).output(3, "fp32", [2, 2])
        .node("EvenSplit", axis=1, input_id=0, output_ids=[1, 2, 3]),
    "unpooling_2d": Graph().input(0, "fp32", [1, 2, 2, 2]).input(1, "int32", [1, 2, 2, 2]).output(2, "fp32", [1, 3, 4, 2])
        .node("Unpooling2D", padding_top=1, pooling_height=2, pooling_width=2, input_value_id=0, input_index_id=1, output_id=2),
    "fully_connected_sparse": Graph().input(0, "fp32", [2, 3]).constant(2, "fp32", [4, 3], floats(12))
        .constant(3, "fp32", [4], floats(4)).output(1, "fp32", [2, 4])
        .node("FullyConnectedSparse", input1_id=0, filter_id=2, bias_id=3, output_id=1),
    "attention": Graph().input(0, "fp32", [1, 2, 3, 4]).input(1, "fp32", [1, 2, 5, 4])
        .input(2, "fp32", [1, 2, 5, 4]).input(3, "fp32", [4]).input(4, "fp32", [3, 5]).output(5, "fp32", [1, 2, 3, 4])
        .node("Attention", cap=30.0, query_id=0, key_id=1, value_id=2, scale_id=3, mask_id=4, output_id=5),
    "rotary_embedding": Graph().input(0, "fp32", [1, 3, 2, 4]).constant(2, "fp32", [8, 4], floats(32))
        .output(1, "fp32", [1, 3, 2, 4]).node("RotaryEmbedding", max_tokens=8, input_id=0, weights_id=2, output_id=1),

    # Limits count on every node that can have them, and an output may be listed twice.
    "limits": Graph().input(0, "fp32", [2, 3]).input(1, "fp32", [3]).output(2, "fp32", [2, 3])
        .node("XNNMaximum", 0, (-1.0, 6.0), input1_id=0, input2_id=1, output_id=2),
    "twice": one("XNNAbs"),
}
files["twice"].root["output_ids"] = [1, 0, 1]
files["twice"].tensor(0)["flags"] = 3

if __name__ == "__main__":
    for name, g in files.items():
        g.write(os.path.join(sys.argv[1], name), ours)
