// odd-arguments-legal.js - which odd values are legal, by entry, function and place; all others are refused.
// SPDX-License-Identifier: MIT

/** Not looked at. */
export const ANY = 'any';

/** @param {string} place @param {Record<string, string>} fields of what stands there */
const under = (place, fields) =>
	Object.fromEntries(Object.entries(fields).map(([path, names]) => [place + path, names]));

const ARGS = {
	'': '{} | proxy',
	'.num_bits': '-1 | true',
	'.symmetric': 'true',
	'.group_size': 'true',
	'.strategy': 'null',
	'.block_structure': 'null',
	'.dynamic': 'true',
	'.actorder': 'null',
	'.scale_dtype': 'null',
	'.zp_dtype': 'null',
	'.observer': "null | '' | 'x'",
	'.observer_kwargs': '{} | proxy',
};
const QSCHEME = {
	...under('.weights', ARGS),
	'.weights': 'null | {} | proxy',
	'.targets': '[]',
	'.input_activations': 'null | {} | proxy',
	'.output_activations': 'null | {} | proxy',
	'.format': 'null',
};
const CONFIG = {
	'.config_groups': '{} | proxy',
	'.config_groups.group_0.targets': '[]',
	'.config_groups.group_0.weights': 'null | {} | proxy',
	'.config_groups.group_0.input_activations': 'null | {} | proxy',
	'.config_groups.group_0.output_activations': 'null | {} | proxy',
	'.config_groups.group_0.format': 'null',
	'.quant_method': "'' | 'x'",
	'.kv_cache_scheme': 'null | {} | proxy',
	'.format': "'' | 'x'",
	'.global_compression_ratio': 'null | -1 | 1.5 | 2^60 | true',
	'.ignore': 'null | []',
};
const SPEC = {
	'': '{} | proxy',
	'.granularity.axis': 'null | -1',
	'.scale_dtype': 'null',
	'.qparam_qspec': 'null',
};
const QUANTIZER = {
	'': '{} | proxy',
	'.global_config': 'null | {} | proxy',
	'.global_config.op_input_spec': 'null | {} | proxy',
	'.global_config.op_output_spec': 'null | {} | proxy',
	'.global_config.op_state_spec': 'null | {} | proxy',
	'.global_config.op_state_spec.weight': 'null | {} | proxy',
	'.global_config.qat_schedule': 'null | {} | proxy',
	'.module_type_configs': 'null | {} | proxy',
	'.module_type_configs.torch.nn.Linear': 'null | {} | proxy',
	'.module_name_configs': 'null | {} | proxy',
	'.preserved_attributes': '[]',
};
const STORED = {
	'.bytes': 'null',
	'.nbytes': ANY,
	'.bitsPerWeight': ANY,
	'.warnings': ANY,
};
const BURN = {
	'': '{} | proxy',
	'.tensor': 'null',
	'.block': 'null',
	'.block.size': '[]',
};

/** @type {Record<string, Record<string, string>>} */
export const LEGAL = {
	'index quantize': {
		'1.scheme.symmetric': 'true',
		'1.scheme.activations.block': '-1',
		'1.scheme.activations.symmetric': 'true',
		'1.correct': 'true',
	},
	'index fakeQuantize': {
		'1.correct': 'true',
	},
	'index dequantize': {
		...under('0', STORED),
	},
	'index quantizeAsync': {
		'1.onProgress': 'function',
		'1.transfer': 'true',
	},
	'index dequantizeAsync': {
		...under('0', STORED),
		1: '{} | proxy',
		'1.onProgress': 'function',
	},
	'index repack': {
		...under('0', STORED),
		1: '{} | proxy',
	},
	'index fromBurn': {
		...under('0', BURN),
		1: '{} | proxy',
	},
	'index fromCompressedTensors': {
		...under('0', QSCHEME),
		'0.weights': '{} | proxy',
		'0.weights.num_bits': 'true',
		'0.output_activations': 'null',
		'0.weights.dynamic': '',
		0: '{} | proxy',
	},
	'index toCompressedTensors': {
		1: '{} | proxy',
		'1.targets': '[]',
	},
	'index fromCoreAI': {
		...under('0', SPEC),
		1: '{} | proxy',
		'1.module': "'' | 'x'",
	},
	'index createObserver': {
		1: '{} | proxy',
		'1.schedule': '{} | proxy',
		'1.schedule.disableObserver': 'null',
	},
	'index observer.set': {
		0: '{} | proxy',
		'0.observing': 'true',
		'0.fakeQuantizing': 'true',
		'0.exporting': 'true',
	},
	'index compareModels': {
		2: '{} | proxy',
		'2.configA': 'null',
		'2.configB': 'null',
		'2.onProgress': 'function',
	},
	'index dequantizeModel': {
		2: '{} | proxy',
		'2.onProgress': 'function',
		'2.config': 'null',
	},
	'index plan': {
		'1.include': "'' | 'x' | []",
		'1.exclude': "'x' | []",
		'1.onProgress': 'function',
		'1.config': "null | '' | 'x'",
		'1.correct': 'true',
		'1.measure': 'true',
	},
	'index quantizeModel': {
		'2.onProgress': 'function',
		'2.config': 'null',
		'2.correct': 'true',
		'2.measure': 'true',
	},
	'index makeScheme': {
		'0.symmetric': 'true',
		'0.activations.block': '-1',
		'0.activations.symmetric': 'true',
	},
	'index cloneScheme': {
		1: '{} | proxy',
	},
	'index validateScheme': {
		0: ANY,
		1: '{} | proxy',
		'0.value': ANY,
		'0.scales': ANY,
		'0.rules': ANY,
		'0.layout': ANY,
		'1.shape': '[] | [2^40, 2^40] | long list',
	},
	'index createPool': {
		0: '{} | proxy',
		'0.startTimeout': '1.5',
	},
	'node fileSink': {
		0: "'x'",
		1: '{} | proxy',
		'1.inputs': '[]',
	},
	'node quantizeModelPath': {
		1: "'x'",
		'2.report': "'x'",
		'2.onProgress': 'function',
	},
	'node dequantizeModelPath': {
		1: "'x'",
		2: '{} | proxy',
		'2.onProgress': 'function',
	},
	'node init': {
		0: '{} | proxy',
		'0.workerUrl': "'' | 'x'",
	},
	'compressed-tensors configOfModules': {
		0: '[] | map',
		1: '{} | proxy',
		'1.kvCache': 'null | {} | proxy',
		'1.format': "'' | 'x'",
	},
	'compressed-tensors inferModelFormat': {
		0: '[] | [{}] | map',
		1: "null | '' | 'x'",
	},
	'compressed-tensors inferModuleFormat': {
		...under('0', QSCHEME),
		0: '{} | proxy',
		1: "'' | 'x' | []",
	},
	'compressed-tensors summarizeFormats': {
		0: '[] | map',
	},
	'compressed-tensors isMatch': {
		0: "'' | 'x'",
		1: "'' | 'x' | [] | map",
		2: '[] | map',
		3: '[] | map',
		4: '{} | proxy',
	},
	'compressed-tensors isNarrowMatch': {
		0: '[]',
		1: '[]',
		2: "'' | 'x'",
	},
	'compressed-tensors matchName': {
		0: "'' | 'x'",
		1: "'' | 'x'",
		2: '{} | proxy',
		'2.b': '[]',
	},
	'compressed-tensors matchNamedModules': {
		0: '[] | map',
		1: '[] | map',
		2: '[] | map',
		3: '{} | proxy',
	},
	'compressed-tensors matchQuantizableTensors': {
		0: '[] | map',
		1: '{} | proxy',
		'1.targets': '[] | map',
		'1.ignore': '[] | map',
		'1.parameters': '[] | map',
	},
	'compressed-tensors matchTargets': {
		0: "'' | 'x'",
		1: "'' | 'x' | [] | map",
		2: '[] | map',
	},
	'compressed-tensors schemeFinder': {
		...under('0', CONFIG),
		'0.moe_sparsity_config': 'null',
	},
	'compressed-tensors schemeFinder()': {
		0: "'' | 'x'",
		1: "'' | 'x' | [] | map",
	},
	'compressed-tensors schemeOfModule': {
		...under('0', CONFIG),
		1: "'' | 'x'",
		2: "'' | 'x' | [] | map",
		'0.moe_sparsity_config': 'null',
	},
	'compressed-tensors mergeQuantizationConfigs': {
		...under('0', CONFIG),
		...under('1', CONFIG),
	},
	'compressed-tensors isPresetScheme': {
		0: ANY,
	},
	'compressed-tensors presetNameToScheme': {
		1: '[]',
	},
	'compressed-tensors quantizationArgs': {
		...under('0', ARGS),
	},
	'compressed-tensors writeQuantizationArgs': {
		...under('0', ARGS),
	},
	'compressed-tensors quantizationConfig': {
		...under('0', CONFIG),
	},
	'compressed-tensors requiresCalibrationData': {
		...under('0', CONFIG),
		'0.moe_sparsity_config': 'null',
	},
	'compressed-tensors writeQuantizationConfig': {
		...under('0', CONFIG),
		1: '{} | proxy',
		'1.correct': 'true',
	},
	'compressed-tensors quantizationScheme': {
		...under('0', QSCHEME),
	},
	'compressed-tensors writeQuantizationScheme': {
		...under('0', QSCHEME),
	},
	'compressed-tensors calculateQparams': {
		...under('2', ARGS),
		'2.num_bits': 'true',
		3: '{} | proxy',
		'3.correct': 'true',
	},
	'compressed-tensors dynamicQparams': {
		...under('1.args', ARGS),
		'1.args.num_bits': 'true',
		'1.correct': 'true',
	},
	'compressed-tensors generateGparam': {
		2: '{} | proxy',
		'2.correct': 'true',
	},
	'compressed-tensors dequantize': {
		...under('1.args', ARGS),
		'1.args.num_bits': 'true',
		'1.args': '',
		'1.args.group_size': '',
		'1.zeroPoint': 'null',
	},
	'compressed-tensors fakeQuantize': {
		...under('1.args', ARGS),
		'1.args.num_bits': 'true',
		'1.args': '',
		'1.args.group_size': '',
		'1.zeroPoint': 'null',
		'1.correct': 'true',
	},
	'compressed-tensors quantize': {
		...under('1.args', ARGS),
		'1.args.num_bits': 'true',
		'1.args': '',
		'1.args.group_size': '',
		'1.zeroPoint': 'null',
		'1.correct': 'true',
	},
	'coreai bitsPerWeight': {
		...under('0', SPEC),
		2: '{} | proxy',
		'2.module': "'' | 'x'",
	},
	'coreai readConfig': {
		...under('0', QUANTIZER),
	},
	'coreai assign': {
		1: '[]',
	},
	'coreai resolveConfig': {
		1: '[]',
		2: '{} | proxy',
		'2.tensor': 'function',
	},
	'coreai checkBackend': {
		...under('0', SPEC),
		2: '{} | proxy',
	},
	'coreai setGlobal': {
		...under('0', QUANTIZER),
		1: 'null | {} | proxy',
	},
	'coreai setModuleType': {
		...under('0', QUANTIZER),
		2: 'null | {} | proxy',
	},
	'coreai setModuleName': {
		...under('0', QUANTIZER),
		1: "'' | 'x'",
		2: 'null | {} | proxy',
	},
	'coreai onlyFor': {
		...under('0', QUANTIZER),
		'0.global_config': '{} | proxy',
		1: "'' | 'x'",
		2: "'' | 'x'",
	},
	'coreai without': {
		...under('0', QUANTIZER),
		1: "'' | 'x'",
		2: "'' | 'x'",
	},
	'coreai exportWeight': {
		1: '{} | proxy',
		'2.module': "'' | 'x'",
	},
	'burn BlockLayout': {
		0: '[2^40, 2^40]',
	},
	'burn BlockSize': {
		0: '[]',
	},
	'burn BlockSize.numBlocks': {
		0: '[2^40, 2^40]',
	},
	'burn QuantScheme': {
		...under('0', BURN),
	},
	'burn QuantScheme.permuteDims': {
		0: '[]',
	},
	'burn QuantizedBytes.of': {
		...under('0', STORED),
		'0.bytes': '',
		'0.planes': ANY,
	},
	'burn QuantizedBytes.write': {
		'2.global': 'null',
	},
	'burn scaleToDtype': {
		0: 'NaN | 1.5 | 2^60',
	},
	'burn paramsShape': {
		0: '[2^40, 2^40]',
	},
};
