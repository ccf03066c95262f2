# read_gguf.py - what gguf-py makes of a GGUF file: its types, its metadata, and the values that it decodes.
# SPDX-License-Identifier: MIT
"""read_gguf.py FILE.gguf

Prints one JSON object: { fields: { key: [type names, value] }, tensors: [{ name, type, shape, sha256 }] }; shape row-major,
sha256 of the float32 values, null where gguf-py decodes no such type. Values of arrays are a sha256 of their JSON.
"""
import hashlib
import json
import sys

import numpy as np
from gguf import GGUFReader
from gguf.quants import dequantize


def field(each):
    value = each.contents()
    if isinstance(value, list):
        value = hashlib.sha256(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
    return [[kind.name.lower() for kind in each.types], value]


def decoded(tensor):
    try:
        values = dequantize(tensor.data, tensor.tensor_type)
    except NotImplementedError:
        return None
    return hashlib.sha256(np.ascontiguousarray(values, dtype="<f4").tobytes()).hexdigest()


reader = GGUFReader(sys.argv[1])
fields = {name: field(each) for name, each in reader.fields.items() if not name.startswith("GGUF.")}
tensors = [
    {"name": t.name, "type": t.tensor_type.name, "shape": [int(n) for n in reversed(t.shape)], "sha256": decoded(t)}
    for t in reader.tensors
]
json.dump({"fields": fields, "tensors": tensors}, sys.stdout)
