"""What compressed-tensors computes: qparams, global scales, codes, fake-quantized values, for every strategy and dtype.

    python tests/py/ct_numeric.py OUT [OLD]

Runs the installed compressed-tensors (0.20.1 and torch, CPU) and writes OUT/numeric.json and OUT/packed-zeros.json; OLD, a folder with 0.18.0, adds
OUT/g-idx.json: weights grouped by actorder. Tensors are { dtype, shape, hex }: their bytes. Parameters are stored whole,
values and codes by their sha256, zeros without their sign.
"""

# SPDX-License-Identifier: MIT

import hashlib
import itertools
import json
import pathlib
import subprocess
import sys
import warnings

warnings.simplefilter("ignore")

import torch

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
NAMES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int8: "I8", torch.float8_e4m3fn: "F8_E4M3"}


def data(tensor):
    return tensor.contiguous().reshape(-1).clone(memory_format=torch.contiguous_format).view(torch.uint8).numpy().tobytes()


def plane(tensor):
    return None if tensor is None else {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "hex": data(tensor).hex()}


def digest(tensor):
    """Of values: float32, with every zero +0."""
    wide = tensor.to(torch.float32)
    return hashlib.sha256(data(torch.where(wide == 0, torch.zeros_like(wide), wide))).hexdigest()


def values(shape, seed):
    """Numbers that JavaScript makes too: those of tests/js/support.js's random()."""
    state, out = seed, []

    def step():
        nonlocal state
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        return state / 2**32

    count = 1
    for dim in shape:
        count *= dim
    for _ in range(count):
        out.append(((step() + step() + step() + step()) - 2) * 3**0.5)
    return torch.tensor(out, dtype=torch.float64).to(torch.float32).reshape(shape)


INT4 = {"num_bits": 4, "type": "int"}
FP4 = {"num_bits": 4, "type": "float"}
E4M3 = {"scale_dtype": "torch.float8_e4m3fn"}
U8 = {"scale_dtype": "torch.uint8"}
KINDS = [{"num_bits": b, "type": "int", "symmetric": s} for b in range(1, 9) for s in (True, False)] + [
    {"num_bits": b, "type": "float"} for b in (4, 6, 8)
]

# Last, so that the seeds of the others stay.
FP8_ZERO = {"num_bits": 8, "type": "float", "symmetric": False}


def dynamic_cases():
    """(args, shape): parameters from the values themselves."""
    for kind in KINDS:
        yield {**kind, "strategy": "token", "dynamic": True}, [2, 3, 16]
        yield {**kind, "strategy": "tensor", "dynamic": True}, [4, 16]
        yield {**kind, "strategy": "group", "group_size": 8, "dynamic": True}, [2, 3, 16]
    for shape in ([5, 16], [16], [2, 2, 3, 8]):
        yield {**INT4, "num_bits": 8, "strategy": "token", "dynamic": True}, shape
    yield {**FP4, **E4M3, "strategy": "tensor_group", "group_size": 16, "dynamic": True}, [3, 32]
    yield {**FP4, **E4M3, "strategy": "tensor_group", "group_size": 16, "dynamic": "local"}, [2, 3, 32]
    yield {**FP4, "strategy": "tensor_group", "group_size": 16, "dynamic": "local"}, [3, 32]
    for bits in (4, 6, 8):
        yield {"num_bits": bits, "type": "float", **U8, "strategy": "group", "group_size": 32, "dynamic": True}, [3, 64]
    yield {**FP8_ZERO, "strategy": "token", "dynamic": True}, [2, 3, 16]
    yield {**FP8_ZERO, "strategy": "tensor", "dynamic": True}, [4, 16]
    yield {**FP8_ZERO, "strategy": "group", "group_size": 8, "dynamic": True}, [2, 3, 16]


def grid(x, args):
    """The ranges of the blocks of static parameters, in the shape of the scale."""
    s = args.strategy
    if s == "tensor":
        return x.amin().reshape(1), x.amax().reshape(1)
    if s == "channel":
        return x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    if s == "attn_head":
        flat = x.transpose(0, -3).flatten(1)
        return flat.amin(1).reshape(-1, 1, 1), flat.amax(1).reshape(-1, 1, 1)
    if s == "block":
        h, w = args.block_structure
        rows, cols = x.shape
        low, high = [], []
        for r in range(0, rows, h):
            low.append([x[r : r + h, c : c + w].amin() for c in range(0, cols, w)])
            high.append([x[r : r + h, c : c + w].amax() for c in range(0, cols, w)])
        return tuple(torch.tensor([[float(v) for v in row] for row in t]).to(x.dtype) for t in (low, high))
    g = x.unflatten(-1, (-1, args.group_size))
    return g.amin(-1), g.amax(-1)


def static_cases():
    for kind in KINDS:
        yield {**kind, "strategy": "tensor"}, [4, 16]
        yield {**kind, "strategy": "channel"}, [4, 16]
        yield {**kind, "strategy": "group", "group_size": 8}, [4, 16]
        yield {**kind, "strategy": "block", "block_structure": [3, 5]}, [7, 16]
        yield {**kind, "strategy": "attn_head"}, [2, 3, 4, 8]
    yield {**FP4, **E4M3, "strategy": "tensor_group", "group_size": 16}, [4, 32]
    yield {**INT4, "strategy": "attn_head"}, [3, 4, 8]
    for bits in (4, 6, 8):
        yield {"num_bits": bits, "type": "float", **U8, "strategy": "group", "group_size": 32}, [3, 64]
    for shape, strategy in (
        ([4, 16], {"strategy": "tensor"}),
        ([4, 16], {"strategy": "channel"}),
        ([4, 16], {"strategy": "group", "group_size": 8}),
        ([7, 16], {"strategy": "block", "block_structure": [3, 5]}),
        ([2, 3, 4, 8], {"strategy": "attn_head"}),
    ):
        yield {**FP8_ZERO, **strategy}, shape


def record(args, x, scale, zero, glob):
    from compressed_tensors.quantization import dequantize, fake_quantize, quantize

    symmetric_zero = None if args.symmetric else zero
    codes = quantize(x, scale, symmetric_zero, args, global_scale=glob)
    fake = fake_quantize(x, scale, symmetric_zero, args, global_scale=glob)
    back = dequantize(codes, scale, symmetric_zero, args, global_scale=glob)
    return {"codes": digest(codes), "fake": digest(fake), "dequantized": digest(back)}


def main():
    from compressed_tensors.quantization import QuantizationArgs
    from compressed_tensors.quantization.utils import calculate_qparams, compute_dynamic_scales_and_zp, generate_gparam

    out = pathlib.Path(sys.argv[1])
    dynamic, static, mixed, qparams, gparams = [], [], [], [], []
    for seed, (given, shape) in enumerate(dynamic_cases(), 1):
        args = QuantizationArgs(**given)
        for name, dtype in DTYPES.items():
            x = values(shape, seed).to(dtype)
            glob = generate_gparam(x.amin(), x.amax()) if args.dynamic == "local" else None
            scale, zero = compute_dynamic_scales_and_zp(x, args, None, glob)
            case = {"args": given, "shape": shape, "seed": seed, "dtype": name, "global": plane(glob), "scale": plane(scale)}
            dynamic.append({**case, "zero": None if args.symmetric else plane(zero), **record(args, x, scale, zero, glob)})
    for seed, (given, shape) in enumerate(static_cases(), 1001):
        args = QuantizationArgs(**given)
        for name, dtype in DTYPES.items():
            x = values(shape, seed).to(dtype)
            glob = generate_gparam(x.amin(), x.amax()) if args.strategy == "tensor_group" else None
            scale, zero = calculate_qparams(*grid(x, args), args, glob)
            case = {"args": given, "shape": shape, "seed": seed, "dtype": name, "global": plane(glob), "scale": plane(scale)}
            static.append({**case, "zero": None if args.symmetric else plane(zero), **record(args, x, scale, zero, glob)})
            if args.strategy in ("channel", "group", "tensor", "block", "tensor_group") and given["num_bits"] in (4, 8):
                for other, scales in DTYPES.items():
                    if other != name:
                        again = {**case, "scale": plane(scale.to(scales)), "zero": None if args.symmetric else plane(zero)}
                        mixed.append({**again, **record(args, x, scale.to(scales), zero, glob)})
    pairs = [(-1.0, 2.0), (0.5, 1.0), (-3.0, -1.0), (0.0, 0.0), (-1e-7, 1e-7), (-0.3, 448.0), (-40000.0, 3.0), (-1e-30, 0.0)]
    for given in [*KINDS, FP8_ZERO, {**FP4, **E4M3, "group_size": 16}, *({"num_bits": b, "type": "float", **U8, "group_size": 32} for b in (4, 6, 8))]:
        args = QuantizationArgs(**given)
        for name, dtype in DTYPES.items():
            for glob in (None, torch.tensor([896.0])):
                if glob is not None and (not args.symmetric or "scale_dtype" not in given or given["scale_dtype"] == "torch.uint8"):
                    continue
                low, high = (torch.tensor([p[i] for p in pairs]).to(dtype) for i in (0, 1))
                scale, zero = calculate_qparams(low, high, args, glob)
                qparams.append({"args": given, "dtype": name, "min": plane(low), "max": plane(high), "global": plane(glob), "scale": plane(scale), "zero": None if args.symmetric else plane(zero)})
    for name, dtype in DTYPES.items():
        for low, high in [(-1.0, 2.7), (-23.0, 1.0), (0.0, 0.0), (-0.5, 0.25), (0.0, 1e-37), (0.0, 0.03), (-0.0411, 0.0), (3.0, 4.0)]:
            low, high = torch.tensor([low]).to(dtype), torch.tensor([high]).to(dtype)
            gparams.append({"dtype": name, "min": plane(low), "max": plane(high), "global": plane(generate_gparam(low, high))})
    text = json.dumps({"dynamic": dynamic, "static": static, "mixed": mixed, "qparams": qparams, "gparams": gparams}, separators=(",", ":"))
    (out / "numeric.json").write_text(text.replace('},{"args', '},\n{"args') + "\n")
    packed_zeros(out)
    if len(sys.argv) > 2:
        subprocess.run([sys.executable, __file__, sys.argv[1]], env={"PYTHONPATH": sys.argv[2], "G_IDX": "1"}, check=True)


def packed_zeros(out):
    """Asymmetric integers as pack-quantized stores them: zero points packed down the rows for groups and rows, I8 for others."""
    from compressed_tensors.compressors.pack_quantized.base import PackedQuantizationCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    from compressed_tensors.quantization.utils import calculate_qparams

    cases = []
    blocks = [
        {"strategy": "block", "block_structure": [4, 8]},
        {"strategy": "block", "block_structure": [1, 8]},
        {"strategy": "block", "block_structure": [16, 16]},
        {"strategy": "group", "group_size": 8},
        {"strategy": "channel"},
        {"strategy": "tensor"},
    ]
    for seed, (bits, block) in enumerate(itertools.product([1, 3, 4, 8], blocks), 3001):
        given = {"num_bits": bits, "symmetric": False, **block}
        scheme = QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(**given))
        for name, dtype in DTYPES.items():
            x = values([10, 32], seed).to(dtype)
            scale, zero = calculate_qparams(*grid(x, scheme.weights), scheme.weights)
            stored = PackedQuantizationCompressor.compress({"weight": x, "weight_scale": scale, "weight_zero_point": zero}, scheme)
            back = PackedQuantizationCompressor.decompress(dict(stored), scheme)["weight"]
            cases.append({"args": given, "shape": [10, 32], "seed": seed, "dtype": name, "tensors": {k: stored_plane(v) for k, v in stored.items()}, "decoded": digest(back)})
    (out / "packed-zeros.json").write_text(json.dumps(cases, separators=(",", ":")).replace('},{"args', '},\n{"args') + "\n")


def stored_plane(tensor):
    return {"dtype": {torch.int64: "I64", torch.int32: "I32"}.get(tensor.dtype) or NAMES[tensor.dtype], "shape": list(tensor.shape), "hex": data(tensor).hex()}


def grouped():
    """Weights grouped by actorder, as 0.18.0 compressed and decompressed them."""
    from compressed_tensors.compressors import BaseCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    from compressed_tensors.quantization.utils import calculate_qparams

    cases = []
    for seed, (bits, symmetric, form) in enumerate([(b, s, f) for b in (3, 4, 8) for s in (True, False) for f in ("pack-quantized", "int-quantized")], 2001):
        given = {"num_bits": bits, "symmetric": symmetric, "group_size": 8, "actorder": "group"}
        scheme = QuantizationScheme(targets=["Linear"], weights=QuantizationArgs(**given), format=form)
        for name, dtype in DTYPES.items():
            x = values([40, 32], seed).to(dtype)
            order = torch.tensor([(7 * c + seed) % 4 for c in range(32)], dtype=torch.int32)
            if seed % 3 == 0:
                order[:] = -1
            g = x[:, torch.argsort(order, stable=True)].unflatten(-1, (-1, 8)) if seed % 3 else x.unflatten(-1, (-1, 8))
            scale, zero = calculate_qparams(g.amin(-1), g.amax(-1), scheme.weights)
            state = {"weight": x, "weight_scale": scale, "weight_g_idx": order, **({} if symmetric else {"weight_zero_point": zero})}
            compressor = BaseCompressor.get_value_from_registry(form)
            stored = compressor.compress(dict(state), scheme)
            back = compressor.decompress(dict(stored), scheme)["weight"]
            cases.append({"args": given, "format": form, "dtype": name, "tensors": {k: stored_plane(v) for k, v in stored.items()}, "decoded": digest(back)})
    (pathlib.Path(sys.argv[1]) / "g-idx.json").write_text(json.dumps(cases, separators=(",", ":")).replace('},{"args', '},\n{"args') + "\n")


if __name__ == "__main__":
    import os

    grouped() if os.environ.get("G_IDX") else main()
