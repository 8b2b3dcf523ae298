#!/usr/bin/env python3
"""Writes the arrays of this folder with NumPy, so that the tests read files our writer had no part in."""
import numpy as np

def save(name, array):
    np.save(name + ".npy", array, allow_pickle=True)

save("x3", np.array([1, 2, 3], "<f4"))
save("b3", np.array([10, 20, 30], "<f4"))
save("x4", np.array([1, 2, 3, 4], "<f4"))
save("b4", np.array([0.5, 0.25, -1, 1e6], "<f4"))
save("x1x3", np.array([[1, 2, 3]], "<f4"))
save("scalar_a", np.array(1.5, "<f4"))
save("scalar_b", np.array(2, "<f4"))
save("empty_0x2", np.zeros((0, 2), "<f4"))
save("row_1x2", np.array([[7, 8]], "<f4"))
save("nan", np.array([np.nan, -2, np.inf], "<f4"))
save("half_a", np.array([65504, 2048, 1, -65504, np.nan, np.inf, 6e-8, 0.1], "<f2"))
save("half_b", np.array([65504, 1, np.nan, -1, 1, -np.inf, 6e-8, 0.2], "<f2"))
save("double", np.zeros(3, "<f8"))
save("big_endian", np.zeros(3, ">f4"))
save("big_endian_half", np.zeros(3, ">f2"))
save("fortran", np.asfortranarray(np.zeros((2, 3), "<f4")))
save("record", np.zeros(3, [("a", "<f4"), ("b", "<f4")]))
save("object", np.array([None, 1], object))
