"""What compressed-tensors makes of JSON: arguments, schemes, presets, configs, formats, targets.

    python tests/py/ct_config.py OUT [OLD]

Runs the installed compressed-tensors (0.20.1 and torch) and writes OUT/*.json, which tests/js/ct-*.test.js compare with
ours. OLD: a folder with 0.18.0, whose presets go to OUT/presets-0.18.json. Only results are stored, no texts of errors.
"""

# SPDX-License-Identifier: MIT

import contextlib
import io
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")

import torch
from compressed_tensors.compressors.format import _flatten_formats, infer_model_format, infer_module_format
from compressed_tensors.config import CompressionFormat
from compressed_tensors.quantization import (
    QuantizationArgs,
    QuantizationConfig,
    QuantizationScheme,
    QuantizationStatus,
    is_preset_scheme,
    preset_name_to_scheme,
)
from compressed_tensors.quantization.quant_scheme import PRESET_SCHEMES
from compressed_tensors.utils import match
from pydantic import ValidationError

TORCH_NAMES = sorted(n for n in dir(torch) if isinstance(getattr(torch, n), torch.dtype))


def attributes(model):
    """The completed object: every field, dtypes as text."""
    if isinstance(model, torch.dtype):
        return str(model)
    if hasattr(model, "model_fields_set"):
        return {name: attributes(getattr(model, name)) for name in type(model).model_fields}
    if isinstance(model, dict):
        return {key: attributes(value) for key, value in model.items()}
    if isinstance(model, list):
        return [attributes(value) for value in model]
    return getattr(model, "value", model)


def field(given, loc):
    """The keys that lead to what is to blame, without the names of types that pydantic puts between them."""
    keys = []
    for part in loc:
        if not isinstance(given, dict):
            break
        if "[" not in str(part):
            keys.append(part)
            given = given.get(part)
    return ".".join(keys)


def judged(kind, given):
    """What becomes of some JSON, or the fields that are to blame."""
    try:
        model = kind.model_validate(given)
    except ValidationError as error:
        return {"given": given, "fields": sorted({field(given, e["loc"]) for e in error.errors()})}
    except (NotImplementedError, TypeError, ValueError, KeyError):
        return {"given": given, "fields": []}
    return {"given": given, "attributes": attributes(model), "json": model.model_dump(mode="json")}


def args_cases():
    single = {
        "num_bits": [8, 1, 2, 16, 17, 0, -3, 4.0, 4.5, "4", " 4 ", "4.0", "x", "", True, None, [], 1e3],
        "type": ["int", "float", "INT", "Float", "flot", "", 3, None, True],
        "symmetric": [True, False, "false", "TRUE", "yes", "off", "n", "maybe", 0, 1, 2, 0.0, 1.0, None, []],
        "group_size": [None, 128, -1, 0, -2, 64.0, 64.5, "128", True, False, [], {}],
        "strategy": [None, "tensor", "CHANNEL", "group", "block", "token", "tensor_group", "attn_head", "Attn_Head", "row", 1],
        "block_structure": [None, [128, 128], [128], [1, 2, 3], [0, 1], [-1, 1], [1.5, 2], ["1", 2], "128x128", "2X4", "a", "1x2x3", " 2 x 4 ", 5, [True, 2], {}],
        "dynamic": [True, False, "local", "LOCAL", "true", "yes", 0, 1, 2, 1.0, None, []],
        "actorder": [None, True, False, "group", "weight", "dynamic", "static", "STATIC", "Weight", "foo", 2],
        "scale_dtype": [None, *TORCH_NAMES, *("torch." + n for n in TORCH_NAMES), "Float32", "torch.torch.float32", "x", 7, ""],
        "zp_dtype": [None, *TORCH_NAMES[:6], "torch.int8", "torch.nope", 7],
        "observer": [None, "minmax", "anything", "", 3, True],
        "observer_kwargs": [{}, {"a": 1, "b": [1, {"c": None}]}, None, [], "x"],
    }
    for field, values in single.items():
        for value in values:
            yield {field: value}
            if field in ("group_size", "strategy", "block_structure", "dynamic", "actorder", "num_bits", "type"):
                yield {"strategy": "group", "group_size": 32, field: value}
                yield {"strategy": "block", "block_structure": [16, 32], field: value}
    for bits, kind, symmetric in itertools.product(range(1, 18), ["int", "float"], [True, False]):
        yield {"num_bits": bits, "type": kind, "symmetric": symmetric}
        yield {"num_bits": bits, "type": kind, "symmetric": symmetric, "zp_dtype": "int32"}
    strategies = [None, "tensor", "channel", "group", "block", "token", "tensor_group", "attn_head"]
    for strategy, group, block, dynamic in itertools.product(strategies, [None, -1, 0, 32], [None, [4, 8]], [False, True, "local"]):
        given = {"strategy": strategy, "group_size": group, "block_structure": block, "dynamic": dynamic}
        yield {key: value for key, value in given.items() if value is not None}
    for order, strategy in itertools.product(["weight", "static", False, None], ["tensor", "channel", "group", "tensor_group"]):
        yield {"actorder": order, "strategy": strategy, **({"group_size": 16} if "group" in strategy else {})}
    for observer, dynamic in itertools.product([None, "minmax", "memoryless"], [False, True]):
        yield {"observer": observer, "dynamic": dynamic}
    yield {"num_bits": 6, "type": "float", "zp_dtype": "int8"}
    yield {"num_bits": 4, "symmetric": False, "zp_dtype": None, "observer": None, "observer_kwargs": {}, "group_size": 128}
    yield {"num_bit": 4}
    yield {"num_bits": "x", "type": "y", "strategy": "z", "group_size": -5, "extra": 1}
    yield {}


def scheme_cases():
    int4 = {"num_bits": 4, "group_size": 128}
    token = {"num_bits": 8, "strategy": "token", "dynamic": True}
    yield from ({"targets": targets} for targets in (["Linear"], [], "Linear", None, [1], ["a", None], {"a": 1}))
    yield {}
    yield {"targets": ["Linear"], "more": 1}
    for role in ("weights", "input_activations", "output_activations"):
        for strategy in ("tensor", "channel", "group", "block", "token", "tensor_group", "attn_head"):
            args = {"num_bits": 8, "strategy": strategy, "dynamic": strategy == "token"}
            if "group" in strategy:
                args["group_size"] = 32
            if strategy == "block":
                args["block_structure"] = [8, 8]
            yield {"targets": ["Linear"], role: args}
        for order in ("weight", "static", False, None):
            yield {"targets": ["Linear"], role: {**int4, "actorder": order}}
        yield {"targets": ["Linear"], role: None}
        yield {"targets": ["Linear"], role: {"num_bit": 4}}
        yield {"targets": ["Linear"], role: 4}
    for form in [None, *(f.value for f in CompressionFormat), "pack_quantized", "PACK-QUANTIZED", "nope", 3]:
        yield {"targets": ["Linear"], "weights": int4, "format": form}
    yield {"targets": ["Linear"], "weights": int4, "input_activations": {**int4, "group_size": 64}}
    yield {"targets": ["Linear"], "weights": int4, "input_activations": token, "output_activations": token, "format": None}


def config_cases():
    w4 = {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 128}}
    full = {
        "config_groups": {
            "group_0": {
                "format": "pack-quantized",
                "input_activations": None,
                "output_activations": None,
                "targets": ["Linear"],
                "weights": {
                    "actorder": None, "block_structure": None, "dynamic": False, "group_size": 128, "num_bits": 4,
                    "observer": "memoryless_minmax", "observer_kwargs": {}, "scale_dtype": None, "strategy": "group",
                    "symmetric": True, "type": "int", "zp_dtype": None,
                },
            }
        },
        "format": "pack-quantized", "global_compression_ratio": None, "ignore": ["lm_head"], "kv_cache_scheme": None,
        "quant_method": "compressed-tensors", "quantization_status": "compressed", "sparsity_config": {},
        "transform_config": {}, "version": "0.18.0",
    }
    yield full
    yield {}
    yield {"config_groups": {}}
    yield {"config_groups": None}
    yield {"config_groups": {"w4a16": ["Linear"]}}
    yield {"config_groups": {"W8A8": ["re:.*q_proj", "Linear"], "nvfp4": []}}
    yield {"config_groups": {"w5a4": ["Linear"]}}
    yield {"config_groups": {"w4a16": [1]}}
    yield {"config_groups": {"w4a16": "Linear"}}
    yield {"config_groups": {"group_0": w4, "mxfp4": ["re:.*mlp.*"]}}
    yield {"config_groups": {"group_0": {**w4, "more": 1}}}
    yield {"config_groups": {"group_0": {**w4, "weights": {"num_bit": 4}}}}
    one = {"group_0": w4}
    for key, values in {
        "quant_method": ["compressed-tensors", "other", None, 3],
        "kv_cache_scheme": [None, {"num_bits": 8, "type": "float"}, {"num_bits": 8, "type": "float", "strategy": "attn_head"}, {"num_bit": 8}, 3],
        "format": ["fakequant", "pack-quantized", "mixed-precision", "what ever", None, 4],
        "quantization_status": ["initialized", "calibration", "frozen", "compressed", "decompressed", "COMPRESSED", "done", None, 1],
        "global_compression_ratio": [None, 1.5, 2, "3.5", "x", True],
        "ignore": [None, [], ["lm_head"], "lm_head", [1], ["re:.*", "a"]],
        "moe_sparsity_config": [
            None, {"method": "prune", "num_experts": [None, 3]}, {"method": "novice", "num_experts": []},
            {"method": "other", "num_experts": []}, {"method": "prune", "num_experts": [1.5]},
            {"method": "prune", "num_experts": ["1"]}, {"method": "prune"}, {"num_experts": []}, {"method": "prune", "num_experts": [True]},
            {"method": "prune", "num_experts": [1], "more": 2}, 3,
        ],
        "run_compressed": [None, True, "x"],
        "version": ["0.18.0", 3],
        "sparsity_config": [{}, {"format": "dense"}],
        "anything": [1],
    }.items():
        for value in values:
            yield {"config_groups": one, key: value}
    mixed = {
        "group_0": {**w4, "format": "pack-quantized"},
        "group_1": {"targets": ["re:.*down_proj"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}, "format": "float-quantized"},
    }
    yield {"config_groups": mixed, "format": "mixed-precision", "ignore": ["lm_head"], "quantization_status": "compressed"}
    yield {"config_groups": {"g": {"targets": ["Linear"], "weights": {"num_bits": 4, "symmetric": False, "group_size": 128, "zp_dtype": "torch.int8"}}}}


def merges():
    w4 = {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 128}, "format": "pack-quantized"}
    fp8 = {"targets": ["re:.*mlp.*"], "weights": {"num_bits": 8, "type": "float"}, "format": "float-quantized"}
    pairs = [
        (
            {"config_groups": {"group_0": w4}, "ignore": ["lm_head", "model.layers.0.mlp.gate_proj", "re:.*mtp.*"]},
            {"config_groups": {"group_0": fp8}, "ignore": ["x"], "quantization_status": "compressed"},
        ),
        ({"config_groups": {"group_0": w4, "group_1": w4}}, {"config_groups": {"group_0": w4, "a": w4}}),
        ({"config_groups": {"a": w4}, "quantization_status": "frozen"}, {"config_groups": {"a": w4}}),
        ({"config_groups": {"a_7": w4}}, {"config_groups": {"a_7": {**w4, "format": None}}}),
        ({"config_groups": {"w4a16": ["Linear"]}}, {"config_groups": {"w4a16": ["lm_head"]}}),
    ]
    for a, b in pairs:
        merged = QuantizationConfig.model_validate(a)
        merged.merge(QuantizationConfig.model_validate(b))
        yield {"a": a, "b": b, "merged": attributes(merged)}


def calibrations():
    base = {"num_bits": 8, "strategy": "tensor"}
    for role, more in [
        ("weights", {}), ("weights", {"observer": "imatrix_mse"}), ("input_activations", {}), ("input_activations", {"dynamic": True}),
        ("input_activations", {"dynamic": "local", "strategy": "tensor_group", "group_size": 16}), ("output_activations", {}),
        ("output_activations", {"dynamic": True}), ("output_activations", {"dynamic": "local", "strategy": "tensor_group", "group_size": 16}),
    ]:
        given = {"config_groups": {"g": {"targets": ["Linear"], role: {**base, **more}}}}
        yield {"given": given, "needs": QuantizationConfig.model_validate(given).requires_calibration_data()}
    given = {"config_groups": {}, "kv_cache_scheme": base}
    yield {"given": given, "needs": QuantizationConfig.model_validate(given).requires_calibration_data()}


class Sub(torch.nn.Linear):
    pass


CLASSES = {"Linear": torch.nn.Linear, "Embedding": torch.nn.Embedding, "LayerNorm": torch.nn.LayerNorm, "Sub": Sub}


def formats():
    inputs = [None, {"num_bits": 8, "strategy": "token", "dynamic": True}, {"num_bits": 8, "type": "float", "strategy": "token", "dynamic": True}]
    for bits, kind, group, dtype, role in itertools.product([1, 4, 6, 8, 16], ["int", "float"], [None, 16, 32, 64], [None, "uint8"], inputs):
        weights = {"num_bits": bits, "type": kind, "group_size": group, "scale_dtype": dtype, "zp_dtype": "int8"}
        scheme = {"targets": ["Linear"], "weights": {k: v for k, v in weights.items() if v is not None}, "input_activations": role}
        found = {name: infer_module_format(cls, QuantizationScheme(**scheme)).value for name, cls in CLASSES.items()}
        yield {"scheme": scheme, "found": found}
    for scheme in ({"targets": []}, {"targets": [], "input_activations": inputs[1]}, {"targets": [], "weights": {"num_bits": 4}, "output_activations": inputs[1]}):
        found = {name: infer_module_format(cls, QuantizationScheme(**scheme)).value for name, cls in CLASSES.items()}
        yield {"scheme": scheme, "found": found}


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (torch.nn.Linear(2, 2, bias=False) for _ in range(3))


class LinearBase(torch.nn.Module):
    pass


class Fused(LinearBase):
    pass


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.down_proj, self.down_proj_x = torch.nn.Linear(2, 2), Sub(2, 2)
        self.fused = Fused()


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn, self.mlp, self.norm = Attention(), Mlp(), torch.nn.LayerNorm(2)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layers, self.lm_head = torch.nn.Embedding(2, 2), torch.nn.ModuleList(Layer() for _ in range(11)), torch.nn.Linear(2, 2)


def matching():
    model = Model()
    names = {}
    for name, module in model.named_modules():
        names[name] = [c.__name__ for c in type(module).__mro__ if issubclass(c, torch.nn.Module)]
    lists = [
        ["Linear"], ["LinearBase"], ["Module"], ["re:.*down_proj"], ["re:.*down_proj$"], ["down_proj"], ["layers.0.mlp.down_proj"],
        ["re:layers.1"], ["re:layers\\.1\\."], ["re:ayers"], ["re:.*(q|k)_proj"], ["re:(?P<part>layers)\\.(0|10)\\..*_proj"], ["re:(?i)LAYERS.*mlp.*"],
        ["Linear", "re:.*down_proj", "layers.0.mlp.down_proj"], ["re:.*", "Linear"], ["Embedding", "lm_head"], ["linear"], [], ["re:"], [""],
        ["re:.*mlp\\Z"], ["re:.*_proj.{2}"], ["Sub", "re:.*x$"],
    ]
    targets = [
        {"targets": t, "found": {n: match.match_targets(n, m, t) for n, m in model.named_modules() if match.match_targets(n, m, t)}} for t in lists
    ]
    ignores = [[], ["lm_head"], ["re:.*self_attn.*"], ["Embedding"], ["Linear"], ["re:layers\\.[0-9]\\..*"]]
    named = [
        {"targets": t, "ignore": i, "found": [n for n, _ in match.match_named_modules(model, t, i)]}
        for t, i in itertools.product(lists, ignores)
    ]
    narrow = [
        {"targets": t, "found": [n for n, m in model.named_modules() if n and match.is_narrow_match(model, t, n, m)]} for t in lists
    ]
    fused = {"qkv_proj": ["q_proj", "k_proj", "v_proj"], "gate_up_proj": ["gate_proj", "up_proj"]}
    pairs = itertools.product(
        ["l.0.qkv_proj", "l.0.gate_up_proj", "l.0.o_proj", "qkv_proj", "l.0.qkv_proj.x"],
        ["l.0.q_proj", "re:.*v_proj", "re:.*up_proj", "l.0.qkv_proj", "re:.*qkv_proj", "q_proj", "l.0.o_proj", "re:.*o_proj"],
    )
    fusions = [{"name": n, "target": t, "found": match.match_name(n, t, fused)} for n, t in pairs]
    tensors = [f"{n}.weight" for n in names if "proj" in n or n in ("embed", "lm_head")] + ["layers.0.norm.weight", "layers.0.mlp.down_proj.weight_packed", "weight", "norm"]
    quantizable = [
        {"targets": t, "ignore": i, "params": p, "found": [list(pair) for pair in match.match_quantizable_tensors(dict.fromkeys(tensors), i, t, p)]}
        for t, i, p in itertools.product([[], ["Linear"], ["re:.*down_proj"], ["lm_head"]], [[], ["lm_head"], ["re:.*mlp.*"]], [["weight"], ["weight_packed"], ["re:weight.*"]])
    ]
    return {"modules": names, "targets": targets, "named": named, "narrow": narrow, "fused": fused, "fusions": fusions, "tensors": tensors, "quantizable": quantizable}


class TopkRouter(torch.nn.Module):
    pass


class ExpertMLPWithGate(torch.nn.Module):
    pass


class Gateway(torch.nn.Module):
    pass


class MoeGate(torch.nn.Module):
    pass


def of_models():
    """Configs of models whose modules have schemes."""
    int4 = {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 128}}
    fp8 = {"targets": ["re:.*mlp.*"], "weights": {"num_bits": 8, "type": "float"}}
    act = {"targets": ["Linear"], "input_activations": {"num_bits": 8, "strategy": "token", "dynamic": True}}
    for chosen in ({}, {r"layers.*q_proj": int4}, {r"layers.*(q|k)_proj": int4, r".*mlp.down_proj": fp8}, {r"lm_head": fp8, "embed": int4}, {r".*v_proj": act}):
        model = Model()
        for name, cls in {"router": TopkRouter, "experts": ExpertMLPWithGate, "gateway": Gateway, "gate": MoeGate}.items():
            model.add_module(name, cls())
        modules = []
        for name, module in model.named_modules():
            scheme = next((s for pattern, s in chosen.items() if re.fullmatch(pattern, name)), None)
            modules.append({"name": name, "className": type(module).__name__, **({"scheme": scheme} if scheme else {})})
            if scheme:
                module.quantization_scheme = QuantizationScheme(**scheme)
                module.quantization_status = QuantizationStatus.COMPRESSED
        form = infer_model_format(model)
        for module in model.modules():
            if hasattr(module, "quantization_scheme"):
                module.quantization_scheme.format = None
        config = QuantizationConfig.from_pretrained(model, format=form.value)
        yield {"modules": modules, "config": config and attributes(config)}


def texts():
    """config.json as the package writes it."""
    from compressed_tensors.compressors import ModelCompressor

    kv = {"num_bits": 8, "type": "float", "strategy": "tensor"}
    asym = {"targets": ["Linear"], "weights": {"num_bits": 4, "symmetric": False, "group_size": 128, "zp_dtype": "torch.int8", "observer": "mse", "observer_kwargs": {"maxshrink": 2}}}
    for given in (
        {"config_groups": {"w4a16": ["Linear"]}, "format": "pack-quantized", "ignore": ["lm_head"], "quantization_status": "compressed"},
        {"config_groups": {"NVFP4": ["Linear"], "fp8_block": ["re:.*down_proj"]}, "format": "mixed-precision", "kv_cache_scheme": kv},
        {"config_groups": {"group_0": asym, "group_10": asym, "group_2": asym}, "moe_sparsity_config": {"method": "prune", "num_experts": [None, 7]}},
        {"config_groups": {}, "ignore": None},
    ):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "config.json"
            path.write_text('{"model_type": "llama", "rope_theta": 10000.0, "eps": 1e-05}')
            ModelCompressor(quantization_config=QuantizationConfig.model_validate(given)).update_config(folder)
            yield path.read_text()


def presets():
    return {name: {"attributes": attributes(preset_name_to_scheme(name, ["Linear"])), "json": preset_name_to_scheme(name, ["Linear"]).model_dump(mode="json"),
                   "format": infer_module_format(torch.nn.Linear, preset_name_to_scheme(name, ["Linear"])).value} for name in PRESET_SCHEMES}


def flattened():
    lists = [[], ["pack-quantized"], ["pack-quantized", "pack-quantized"], ["pack-quantized", "float-quantized"]]
    return [{"formats": l, "found": CompressionFormat(_flatten_formats(set(l))).value} for l in lists]


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)

    def write(name, value):
        (out / f"{name}.json").write_text(json.dumps(value, separators=(",", ":")).replace('},{"', '},\n{"') + "\n")

    write("args", [judged(QuantizationArgs, given) for given in args_cases()])
    write("schemes", [judged(QuantizationScheme, given) for given in scheme_cases()])
    write("configs", [judged(QuantizationConfig, given) for given in config_cases()])
    write("merges", list(merges()))
    write("calibrations", list(calibrations()))
    write("formats", {"cases": list(formats()), "flattened": flattened()})
    write("matching", matching())
    write("texts", list(texts()))
    write("models", list(of_models()))
    write("presets", presets())
    names = ["w4a16", "W4A16 ", "Nvfp4", "mxfp4xfp8", "MXFP4xFP8", "nope", "", "unquantized"]
    write("preset-names", {name: is_preset_scheme(name) for name in names})
    write("torch-dtypes", {name: str(getattr(torch, name)) for name in TORCH_NAMES})
    if len(sys.argv) > 2:
        code = (
            "import json,warnings;warnings.simplefilter('ignore');from compressed_tensors.quantization.quant_scheme import *;"
            "from compressed_tensors.quantization.quant_scheme import PRESET_SCHEMES as P;"
            "print('@'+json.dumps({n:preset_name_to_scheme(n,['Linear']).model_dump(mode='json') for n in P}))"
        )
        text = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": sys.argv[2]}, capture_output=True, text=True, check=True).stdout
        write("presets-0.18", json.loads(text[text.index("@") + 1 :]))


with contextlib.redirect_stderr(io.StringIO()):
    main()
