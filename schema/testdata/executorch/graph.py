"""A graph on its way to JSON, in the words of executorch.fbs, or in those of our own schema."""

import json
import struct

NONE = 4294967295


def floats(n):
    """n numbers, 0.5 1 2 -1 over and over, as fp32."""
    return list(struct.pack("<%df" % n, *[(0.5, 1, 2, -1)[i % 4] for i in range(n)]))


def count(n):
    """n bytes, 1 to 100 over and over."""
    return [i % 100 + 1 for i in range(n)]


def per_tensor(scale, zero_point=0):
    return ("PerTensorQuant", {"scale": scale, "zero_point": zero_point})


def per_channel(scales, axis=0, **more):
    return ("PerChannelQuant", dict({"scale": scales, "channel_dim": axis}, **more))


def per_block(scales, size, **more):
    return ("PerChannelGroupQuant", dict({"scale": scales, "group_size": size}, **more))


def per_row(inner=1):
    return ("PerTokenDynamicQuant", {"num_nonbatch_dims": inner})


# Our schema's words for what executorch.fbs calls otherwise. Types of elements have a prefix there.
OURS = {"nodes": "xnodes", "values": "xvalues", "node_type": "xnode_type", "node": "xnode", "value_type": "xvalue_type",
        "value": "xvalue", "TensorValue": "XNNTensorValue", "QuantizedTensorValue": "XNNQuantizedTensorValue"}


def ours(x):
    """x, of a graph's root, in the words of our schema."""
    if isinstance(x, dict):
        return {OURS.get(k, k): "xnn_datatype_" + v if k == "datatype" else ours(v) for k, v in x.items()}
    if isinstance(x, list):
        return [ours(e) for e in x]
    return OURS.get(x, x)


class Graph:
    def __init__(self):
        self.root = {"version": "", "nodes": [], "values": [], "num_externs": 0, "input_ids": [], "output_ids": [],
                     "constant_buffer": [{}], "mem_buffer_sizes": [0]}

    def value(self, id, dtype, dims, constant=0, external=NONE, flags=0, quant=None, **more):
        tensor = dict({"datatype": dtype, "num_dims": len(dims), "dims": dims, "constant_buffer_idx": constant,
                       "external_id": external, "flags": flags, "id_out": id}, **more)
        if quant:
            kind, params = quant
            self.root["values"].append({"value_type": "QuantizedTensorValue", "value": {
                "tensor_value": tensor, "quant_params_type": kind, "quant_params": params}})
        else:
            self.root["values"].append({"value_type": "TensorValue", "value": tensor})
        return self

    def input(self, id, dtype, dims, **more):
        self.root["input_ids"].append(id)
        self.root["num_externs"] += 1
        return self.value(id, dtype, dims, external=id, flags=1, **more)

    def output(self, id, dtype, dims, **more):
        self.root["output_ids"].append(id)
        self.root["num_externs"] += 1
        return self.value(id, dtype, dims, external=id, flags=2, **more)

    def buffer(self, data):
        self.root["constant_buffer"].append({"storage": data})
        self.root["mem_buffer_sizes"].append(len(data))
        return len(self.root["constant_buffer"]) - 1

    def constant(self, id, dtype, dims, data, **more):
        return self.value(id, dtype, dims, constant=self.buffer(data), **more)

    def node(self, kind, handle=0, limits=None, **fields):
        node = {"node_type": kind, "node": fields, "debug_handle": handle}
        if limits:
            node["output_min_max"] = {"output_min": limits[0], "output_max": limits[1]}
        self.root["nodes"].append(node)
        return self

    def tensor(self, id):
        """The fields of the value with this id, to change them."""
        for v in self.root["values"]:
            t = v["value"].get("tensor_value", v["value"])
            if t["id_out"] == id:
                return t
        raise KeyError(id)

    def quant(self, id):
        """How the value with this id is quantised, to change that."""
        for v in self.root["values"]:
            if "tensor_value" in v["value"] and v["value"]["tensor_value"]["id_out"] == id:
                return v["value"]["quant_params"]
        raise KeyError(id)

    def write(self, name, words=lambda x: x):
        """Writes the JSON, an entry of the lists of tables a line."""
        fields = []
        for key, x in words(self.root).items():
            if isinstance(x, list) and x and isinstance(x[0], dict):
                lines = ",\n    ".join(json.dumps(e) for e in x)
                fields.append('  "%s": [\n    %s\n  ]' % (key, lines))
            else:
                fields.append('  "%s": %s' % (key, json.dumps(x)))
        with open(name + ".json", "w") as f:
            f.write("{\n" + ",\n".join(fields) + "\n}\n")
