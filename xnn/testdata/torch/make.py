"""Makes the fixtures of this folder with PyTorch: /usr/bin/python3 make.py

Run by hand; the tests read what it wrote. Needs PyTorch and NumPy: Debian's python3-torch (1.13) made those committed.
The same script writes the same bytes, since everything random comes of seeds made from the names of the cases.
"""

import json
import pathlib
import sys

import torch

sys.dont_write_bytecode = True

import binary
import composite
import conv
import matmul
import networks
import pool
import shape
import unary

FOLDER = pathlib.Path(__file__).parent


def main():
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    for make in (unary.family, binary.family, shape.shapes, shape.reduce, conv.convs, pool.pools, matmul.family, composite.family,
                 networks.family):
        make().write(FOLDER)
    (FOLDER / "version.json").write_text(json.dumps({"torch": torch.__version__}) + "\n")
    print("PyTorch", torch.__version__)


if __name__ == "__main__":
    main()
