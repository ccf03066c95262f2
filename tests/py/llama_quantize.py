# llama_quantize.py - llama.cpp's own quantizer as a judge, out of the libraries that node-llama-cpp ships (llama.cpp 0.5.0).
# SPDX-License-Identifier: MIT
"""llama_quantize.py LIBDIR < jobs.json

LIBDIR: node_modules/@node-llama-cpp/linux-x64/bins/linux-x64. Jobs: [{ input, output, ftype, tensor_type, imatrix }]; ftype is the number
of a file type, tensor_type null, or that of a type which all tensors get instead of the file type's, imatrix a GGUF file or null. Every
job is done --pure, and its result printed as a line: 0, or what the library says.

With an imatrix the tensors are llama-quantize's; the keys quantize.imatrix.* are written by the command, not by the library.
"""
import ctypes as C
import glob
import json
import sys

import gguf
import numpy as np


class Weights(C.Structure):  # llama_model_imatrix_data
    _fields_ = [("name", C.c_char_p), ("data", C.POINTER(C.c_float)), ("size", C.c_size_t)]


class TensorType(C.Structure):  # llama_model_tensor_override; a list ends at a null pattern
    _fields_ = [("pattern", C.c_char_p), ("type", C.c_int32)]


class Params(C.Structure):  # llama_model_quantize_params
    _fields_ = [
        *[(name, C.c_int32) for name in ("nthread", "ftype", "output_type", "embedding_type")],
        *[(name, C.c_bool) for name in ("allow_requantize", "quantize_output", "only_copy", "pure", "keep_split", "dry_run")],
        ("imatrix", C.POINTER(Weights)),
        ("overrides", C.c_void_p),
        ("tensor_types", C.POINTER(TensorType)),
        ("prune", C.c_void_p),
        ("max_buffer", C.c_size_t),
    ]


def load(folder):
    def library(pattern, **more):
        return C.CDLL(sorted(glob.glob(f"{folder}/{pattern}"))[0], **more)

    library("libggml-base*.so", mode=C.RTLD_GLOBAL)
    ggml = library("libggml.v*.so", mode=C.RTLD_GLOBAL)
    ggml.ggml_backend_load.restype, ggml.ggml_backend_load.argtypes = C.c_void_p, [C.c_char_p]
    ggml.ggml_backend_load(f"{folder}/libggml-cpu-x64.so".encode())
    llama = library("libllama.v*.so")
    llama.llama_model_quantize_default_params.restype = Params
    llama.llama_model_quantize.argtypes = [C.c_char_p, C.c_char_p, C.POINTER(Params)]
    return llama


def weights_of(path):
    """As the command normalises them; ends at a null name."""
    tensors = {tensor.name: tensor.data for tensor in gguf.GGUFReader(path).tensors}
    rows, kept = [], []
    for name in (key[: -len(".in_sum2")] for key in tensors if key.endswith(".in_sum2")):
        counts = np.rint(tensors[f"{name}.counts"]).astype(np.float32).reshape(-1, 1)
        sums = tensors[f"{name}.in_sum2"].reshape(len(counts), -1)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.float32(1))
        values = np.ascontiguousarray(means, dtype=np.float32).ravel()
        kept.append(values)
        rows.append(Weights(name.encode(), values.ctypes.data_as(C.POINTER(C.c_float)), values.size))
    return (Weights * (len(rows) + 1))(*rows), kept


llama = load(sys.argv[1])
said = []
listen = C.CFUNCTYPE(None, C.c_int, C.c_char_p, C.c_void_p)(lambda level, text, _: said.append(text.decode()) if level == 4 else None)
llama.llama_log_set(listen, None)
for job in json.load(sys.stdin):
    params = llama.llama_model_quantize_default_params()
    params.nthread, params.ftype, params.pure = 1, job["ftype"], True
    if job["tensor_type"] is not None:
        params.tensor_types = (TensorType * 2)(TensorType(b".", job["tensor_type"]))
    if job["imatrix"]:
        params.imatrix, kept = weights_of(job["imatrix"])
    said.clear()
    failed = llama.llama_model_quantize(job["input"].encode(), job["output"].encode(), C.byref(params))
    print(json.dumps("".join(said) if failed else 0), flush=True)
