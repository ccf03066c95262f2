# decode.py - an independent decoder of compressed-tensors files in numpy, against the file that `blockquant dequantize` made.
# SPDX-License-Identifier: MIT
"""decode.py QUANTIZED.safetensors DEQUANTIZED.safetensors

Opens both with the safetensors package, decodes every quantized module of the first with the routines below, written from the
description of the formats and sharing nothing with BlockQuant, and compares the float32 values bit for bit with the second.
Prints one JSON object: { modules, values, formats, passed_through }; exit 1 and a message at the first difference.
"""
import json
import sys

import numpy as np
import safetensors


def f32(u32):
    return u32.astype(np.uint32).view(np.float32)


def from_bf16(raw):
    return f32(np.frombuffer(raw, "<u2").astype(np.uint32) << 16)


def to_bf16(x):
    """Round to nearest even, widened again."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return f32(((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32))


def minifloat(codes, exponent_bits, mantissa_bits, bias):
    sign = np.where(codes >> (exponent_bits + mantissa_bits) & 1, -1.0, 1.0)
    exponent = (codes >> mantissa_bits) & ((1 << exponent_bits) - 1)
    fraction = (codes & ((1 << mantissa_bits) - 1)) / 2.0**mantissa_bits
    value = np.where(exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent.astype(float) - bias))
    return (sign * value).astype(np.float32)


def e4m3(raw):
    return minifloat(np.frombuffer(raw, np.uint8).astype(np.int64), 4, 3, 7)


def nibbles(raw, rows, cols):
    packed = np.frombuffer(raw, np.uint8).reshape(rows, cols // 2)
    codes = np.empty((rows, cols), np.int64)
    codes[:, 0::2], codes[:, 1::2] = packed & 15, packed >> 4
    return minifloat(codes, 2, 1, 1)


def bitstream(raw, lines, count, bits):
    """count fields of so many bits in each line of little-endian words, less the middle."""
    line = np.frombuffer(raw, np.uint8).reshape(lines, -1)
    all_bits = np.unpackbits(line, axis=1, bitorder="little")[:, : count * bits].reshape(lines, count, bits)
    return (all_bits.astype(np.int64) << np.arange(bits)).sum(axis=2) - (1 << (bits - 1))


FLOATS = {
    "F32": lambda raw: np.frombuffer(raw, "<f4"),
    "F16": lambda raw: np.frombuffer(raw, "<f2").astype(np.float32),
    "BF16": from_bf16,
    "F8_E4M3": e4m3,
}
ROUND = {"F32": lambda x: x, "F16": lambda x: x.astype(np.float16).astype(np.float32), "BF16": to_bf16}


def scale_of(plane):
    if plane["dtype"] == "U8":  # E8M0
        return np.ldexp(np.float32(1), np.frombuffer(plane["data"], np.uint8).astype(np.int32) - 127).astype(np.float32).reshape(plane["shape"])
    return FLOATS[plane["dtype"]](plane["data"]).reshape(plane["shape"])


def decode(planes):
    """One module's planes to float32 and the name of the format."""
    scale_plane = planes["weight_scale"]
    scale = scale_of(scale_plane)
    if "weight_shape" in planes:
        rows, cols = np.frombuffer(planes["weight_shape"]["data"], "<i8")
        words = planes["weight_packed"]["shape"][1]
        bits = 32 * words // cols
        codes = bitstream(planes["weight_packed"]["data"], rows, cols, bits)
        name = f"int{bits}"
        groups = scale.shape[1]
        round_to = ROUND[scale_plane["dtype"]]
        if "weight_zero_point" in planes:
            name += " with zero points"
            packed = np.frombuffer(planes["weight_zero_point"]["data"], "<u4").reshape(-1, groups)
            columns = np.ascontiguousarray(packed.T).tobytes()
            zeros = bitstream(columns, groups, rows, bits).T
            codes = codes - np.repeat(zeros, cols // groups, axis=1)
        codes = round_to(codes.astype(np.float32))
        return round_to(codes * np.repeat(scale, cols // groups, axis=1)), name
    if "weight_packed" in planes:
        rows, half = planes["weight_packed"]["shape"]
        cols = 2 * half
        values = nibbles(planes["weight_packed"]["data"], rows, cols)
        if "weight_global_scale" in planes:
            scale = scale / np.frombuffer(planes["weight_global_scale"]["data"], "<f4")[0]
        return to_bf16(values * np.repeat(scale, cols // scale.shape[1], axis=1)), "nvfp4" if "weight_global_scale" in planes else "mxfp4"
    values = e4m3(planes["weight"]["data"]).reshape(planes["weight"]["shape"])
    return ROUND[scale_plane["dtype"]](values * scale), "fp8"


def read(path):
    with safetensors.safe_open(path, framework="np") as opened:
        names = list(opened.keys())
    with open(path, "rb") as file:
        tensors = dict(safetensors.deserialize(file.read()))
    assert sorted(names) == sorted(tensors), "safe_open and deserialize disagree"
    return tensors


def main():
    quantized, plain = read(sys.argv[1]), read(sys.argv[2])
    modules, passed, values, formats = 0, 0, 0, set()
    for name, tensor in plain.items():
        stem = name[: -len(".weight")] if name.endswith(".weight") else None
        planes = {plane: quantized[f"{stem}.{plane}"] for plane in ("weight", "weight_packed", "weight_scale", "weight_zero_point",
                  "weight_global_scale", "weight_shape") if stem is not None and f"{stem}.{plane}" in quantized}
        if "weight_scale" not in planes:
            if quantized[name]["data"] != tensor["data"]:
                sys.exit(f"{name}: passed through, but its bytes differ")
            passed += 1
            continue
        got, form = decode(planes)
        expected = FLOATS[tensor["dtype"]](tensor["data"]).reshape(tensor["shape"])
        differ = np.flatnonzero(got.astype(np.float32).view(np.uint32).ravel() != expected.view(np.uint32).ravel())
        if got.shape != expected.shape or differ.size:
            sys.exit(f"{name}: {differ.size} of {expected.size} values differ, first at {differ[:1]}: {got.ravel()[differ[:1]]} {expected.ravel()[differ[:1]]}")
        modules, values = modules + 1, values + expected.size
        formats.add(form)
    print(json.dumps({"modules": modules, "values": int(values), "formats": sorted(formats), "passed_through": passed}))


main()
