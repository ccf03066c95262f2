# bench_torch.py - how fast compressed-tensors itself makes w4a16 of a 4096 x 4096 weight on one thread: Melem/s, best of five.
# SPDX-License-Identifier: MIT
import time

import torch
from compressed_tensors.compressors.pack_quantized.helpers import pack_to_int32
from compressed_tensors.quantization import preset_name_to_scheme
from compressed_tensors.quantization.lifecycle.forward import quantize
from compressed_tensors.quantization.utils import calculate_qparams

torch.set_num_threads(1)
args = preset_name_to_scheme("W4A16", ["Linear"]).weights
weight = torch.randn(4096, 4096) * 0.02
best = float("inf")
for _ in range(5):
    begin = time.perf_counter()
    groups = weight.reshape(4096, -1, args.group_size)
    scale, zero = calculate_qparams(groups.amin(-1), groups.amax(-1), args)
    pack_to_int32(quantize(weight, scale, zero, args, dtype=torch.int8), args.num_bits)
    best = min(best, time.perf_counter() - begin)
print(weight.numel() / best / 1e6)
