// odd-arguments.test.js - every function that an entry exports, with odd values in the place of each argument, option and field:
// what is not listed as legal is one BlockQuantError.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import * as burn from '../../js/burn/index.js';
import * as ct from '../../js/compressed-tensors/index.js';
import * as coreai from '../../js/coreai/index.js';
import { BlockQuantError } from '../../js/errors.js';
import * as library from '../../js/index.js';
import { fileSink } from '../../js/node/file-sink.js';
import { readImatrixPath } from '../../js/node/imatrix-file.js';
import { dequantizeModelPath, openModelPath, quantizeModelPath } from '../../js/node/model-files.js';
import { makeInit } from '../../js/core/init.js';
import { llama } from './files-support.js';
import { legacyImatrix } from './imatrix-support.js';
import { ANY, LEGAL } from './odd-arguments-legal.js';
import { ready, root } from './support.js';

await ready();

/** The entry for Node but for what index has. */
const node = {
	fileSink,
	readImatrixPath,
	dequantizeModelPath,
	openModelPath,
	quantizeModelPath,
	init: makeInit(() => readFileSync(join(root, 'build/wasm/core.wasm'))),
};

const folder = mkdtempSync(join(tmpdir(), 'odd-'));
after(() => rmSync(folder, { recursive: true }));
const at = (name) => join(folder, name);
// A path may be a word.
process.chdir(folder);

/** By the name that the lists below have for it. @type {Record<string, unknown>} */
const ODD = {
	undefined,
	null: null,
	NaN: Number.NaN,
	'-1': -1,
	1.5: 1.5,
	'2^60': 2 ** 60,
	true: true,
	"''": '',
	"'x'": 'x',
	'{}': {},
	'[]': [],
	'[2^40, 2^40]': [2 ** 40, 2 ** 40],
	'long list': new Array(2 ** 16).fill(0),
	symbol: Symbol('x'),
	// What no text can be made of.
	'[symbol]': [Symbol('x')],
	'[{}]': [Object.create(null)],
	'[undefined]': [undefined],
	'10n': 10n,
	function: () => {},
	map: new Map(),
	proxy: new Proxy(Object.freeze({}), {}),
};

const W = Float32Array.from({ length: 256 }, (_, i) => Math.sin(i * i));
const SHAPE = [2, 128];
const SCHEME = library.makeScheme({ value: 'i4', scales: [{ dtype: 'f16', block: 32 }] });
const OWN = {
	value: 'i4',
	scales: [{ dtype: 'f16', block: 32 }],
	zero: 'i4',
	symmetric: false,
	calibration: 'minmax',
	rules: 'plain',
	layout: 'planes',
	packing: { into: 'bytes', axis: 0 },
	activations: { mode: 'dynamic', value: 'i8', block: 'channel', scale: 'f16', symmetric: true },
	observer: { calculator: 'moving_average', constant: 0.1, range: [-4, 4] },
};
const QUANTIZED = library.quantize(W, { scheme: SCHEME, shape: SHAPE });
const ARGS = {
	num_bits: 4,
	type: 'int',
	symmetric: true,
	group_size: 32,
	strategy: 'group',
	block_structure: null,
	dynamic: false,
	actorder: null,
	scale_dtype: null,
	zp_dtype: null,
	observer: null,
	observer_kwargs: {},
};
const QSCHEME = {
	targets: ['Linear'],
	weights: ARGS,
	input_activations: null,
	output_activations: null,
	format: 'pack-quantized',
};
const CONFIG = {
	config_groups: { group_0: QSCHEME },
	quant_method: 'compressed-tensors',
	kv_cache_scheme: null,
	format: 'pack-quantized',
	quantization_status: 'compressed',
	global_compression_ratio: null,
	ignore: ['lm_head'],
};
const NUMERIC = { dtype: 'f32', correct: false, overflow: 'error', nonfinite: 'error' };
const WHOLE = ct.quantizationConfig(CONFIG);
const f32 = (shape, number) => ({
	dtype: 'F32',
	shape,
	bytes: new Uint8Array(new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(number).buffer),
});
const opaque = (object) => {
	OPAQUE.add(object);
	return object;
};
const SPEC = {
	dtype: 'uint4',
	qscheme: 'asymmetric',
	qformulation: 'zp',
	granularity: { type: 'per_block', axis: 1, block_size: 32 },
	qparam_calculator_cls: 'static',
	range_calculator_cls: 'minmax',
	fake_quantize_cls: 'default',
	float_range: [null, null],
	scale_dtype: null,
	qparam_qspec: null,
};
const QUANTIZER = {
	global_config: { op_input_spec: null, op_output_spec: null, op_state_spec: { weight: SPEC }, qat_schedule: null },
	module_type_configs: { 'torch.nn.Linear': null },
	module_name_configs: {},
	preserved_attributes: [],
	execution_mode: 'graph',
};
const MODULES = [{ name: 'a', type: 'torch.nn.Linear', parameters: { weight: [4, 64] }, aliases: ['b'] }];
const BURN = {
	value: 'Q8S',
	store: { PackedU32: 0 },
	mode: 'Symmetric',
	tensor: null,
	block: { size: [32], dtype: 'F16' },
};
const QS = new burn.QuantScheme(BURN);
const BLOCK = new burn.BlockSize([32]);
const CODES = { codes: new Int8Array(256), scales: new Float32Array(8).fill(1), global: null };
const BYTES = burn.QuantizedBytes.write(QS, SHAPE, CODES);
const MODEL = await library.openModel(llama(1));
const quantizedFile = library.memorySink();
await library.quantizeModel(MODEL, quantizedFile, { scheme: 'w4a16' });
const QUANTIZED_MODEL = await library.openModel(quantizedFile.bytes());
/** What other functions have made, of which nobody changes a field. */
const OPAQUE = new Set([MODEL, QUANTIZED_MODEL]);
const RUN = { workers: 1, signal: new AbortController().signal, onProgress: () => {}, config: null };
writeFileSync(at('model.safetensors'), llama(1));
writeFileSync(at('quantized.safetensors'), quantizedFile.bytes());
writeFileSync(at('imatrix.dat'), legacyImatrix([{ name: 'a', calls: 1, values: [1, 2] }]));
const { config: _, ...RUN_PATH } = RUN;
const NAMED = [{ name: 'a.b', classes: ['Linear'] }];

/** What there is to call, with arguments that are right; a function where they are used up. @type {Record<string, Record<string, [Function, any]>>} */
const CALLS = {
	index: {
		quantize: [
			library.quantize,
			[W, { scheme: OWN, shape: SHAPE, ...NUMERIC, calibration: 'minmax', ranges: undefined }],
		],
		'quantize, ranges': [
			library.quantize,
			[
				W,
				{
					scheme: SCHEME,
					shape: SHAPE,
					ranges: { min: new Float32Array(8).fill(-1), max: new Float32Array(8).fill(1) },
				},
			],
		],
		'quantize, parameters': [
			library.quantize,
			[W, { scheme: SCHEME, shape: SHAPE, parameters: { 'scales.0': new Uint16Array(8).fill(0x3c00) } }],
		],
		'quantize, imatrix': [
			library.quantize,
			[W, { scheme: 'iq4_nl', shape: SHAPE, imatrix: new Float32Array(128).fill(1) }],
		],
		fakeQuantize: [library.fakeQuantize, [W, { scheme: SCHEME, shape: SHAPE, ...NUMERIC }]],
		dequantize: [library.dequantize, [QUANTIZED]],
		quantizeAsync: [
			library.quantizeAsync,
			() => [
				W.slice(),
				{ scheme: SCHEME, shape: SHAPE, workers: 1, signal: RUN.signal, onProgress: () => {}, transfer: false },
			],
		],
		dequantizeAsync: [
			library.dequantizeAsync,
			[QUANTIZED, { workers: 1, signal: RUN.signal, onProgress: () => {} }],
		],
		compare: [library.compare, [W, W]],
		repack: [library.repack, [QUANTIZED, { layout: 'planes', packing: { into: 'bytes', axis: 0 } }]],
		fromBurn: [library.fromBurn, [BURN, { calibration: 'MinMax' }]],
		toBurn: [library.toBurn, ['burn:q8s']],
		fromCompressedTensors: [library.fromCompressedTensors, [QSCHEME]],
		toCompressedTensors: [library.toCompressedTensors, ['w4a16', { targets: ['Linear'] }]],
		fromCoreAI: [library.fromCoreAI, [SPEC, { target: 'weight', rank: 2, module: 'Linear' }]],
		toCoreAI: [library.toCoreAI, ['coreai:w8']],
		readImatrix: [library.readImatrix, [legacyImatrix([{ name: 'a', calls: 1, values: [1, 2] }])]],
		blobSink: [library.blobSink, []],
		memoryDirectory: [library.memoryDirectory, []],
		memorySink: [library.memorySink, [8]],
		createObserver: [
			library.createObserver,
			[
				SCHEME,
				{
					calculator: 'moving_average',
					constant: 0.1,
					range: [null, 1],
					target: 'weight',
					schedule: { enableObserver: 0, enableFakeQuantize: 0, disableObserver: null },
				},
			],
		],
		'observer.observe': [
			(...args) => library.createObserver(SCHEME).observe(...args),
			[W, { shape: SHAPE, dtype: 'f32' }],
		],
		'observer.forward': [
			(...args) => library.createObserver(SCHEME).forward(...args),
			[W, { shape: SHAPE, dtype: 'f32' }],
		],
		'observer.set': [
			(...args) => library.createObserver(SCHEME).set(...args),
			[{ observing: true, fakeQuantizing: true, exporting: false }],
		],
		'observer.enter': [(...args) => library.createObserver(SCHEME).enter(...args), ['calibration']],
		compareModels: [
			library.compareModels,
			[MODEL, MODEL, { configA: null, configB: null, signal: RUN.signal, onProgress: () => {} }],
		],
		dequantizeModel: [
			library.dequantizeModel,
			() => [QUANTIZED_MODEL, opaque(library.memorySink()), { dtype: 'f32', ...RUN }],
		],
		openModel: [library.openModel, () => [llama(1)]],
		plan: [
			library.plan,
			[
				MODEL,
				{
					scheme: 'w4a16',
					include: [/q_proj/],
					exclude: 'zzz',
					...RUN,
					correct: false,
					measure: false,
					nonfinite: 'error',
					overflow: 'error',
				},
			],
		],
		quantizeModel: [
			library.quantizeModel,
			() => [
				MODEL,
				opaque(library.memorySink()),
				{ scheme: 'w4a16', ...RUN, correct: false, measure: false, nonfinite: 'error', overflow: 'error' },
			],
		],
		schemes: [library.schemes, []],
		makeScheme: [library.makeScheme, [OWN]],
		formatScheme: [library.formatScheme, [SCHEME]],
		parseScheme: [library.parseScheme, ['w4a16']],
		sameScheme: [library.sameScheme, [SCHEME, SCHEME]],
		cloneScheme: [library.cloneScheme, ['w4a16', { value: 'i3' }]],
		schemeSizes: [library.schemeSizes, [SCHEME, { shape: SHAPE, dtype: 'f32' }]],
		validateScheme: [library.validateScheme, [SCHEME, { shape: SHAPE, dtype: 'f32' }]],
		createPool: [(...args) => library.createPool(...args).close(), [{ workers: 1, startTimeout: 1000 }]],
	},
	node: {
		fileSink: [async (...args) => (await node.fileSink(...args)).abort(), [at('sink'), { inputs: [] }]],
		readImatrixPath: [node.readImatrixPath, [at('imatrix.dat')]],
		openModelPath: [async (...args) => (await node.openModelPath(...args)).close(), [at('model.safetensors')]],
		quantizeModelPath: [
			node.quantizeModelPath,
			[at('model.safetensors'), at('out.safetensors'), { scheme: 'w4a16', ...RUN_PATH, report: undefined }],
		],
		dequantizeModelPath: [
			node.dequantizeModelPath,
			[at('quantized.safetensors'), at('back.safetensors'), { dtype: 'f32', ...RUN_PATH }],
		],
		init: [node.init, [{ kernels: 'simd128', wasm: undefined, workerUrl: undefined }]],
	},
	'compressed-tensors': {
		configOfModules: [
			ct.configOfModules,
			[
				[{ name: 'a', className: 'Linear', scheme: QSCHEME }],
				{ status: 'compressed', kvCache: null, format: 'pack-quantized' },
			],
		],
		inferModelFormat: [ct.inferModelFormat, [Object.values(WHOLE.config_groups), null]],
		inferModuleFormat: [ct.inferModuleFormat, [WHOLE.config_groups.group_0, 'Linear']],
		summarizeFormats: [ct.summarizeFormats, [['dense']]],
		isMatch: [ct.isMatch, ['a', 'Linear', ['Linear'], [], {}]],
		isNarrowMatch: [ct.isNarrowMatch, [NAMED, ['Linear'], 'a.b']],
		matchName: [ct.matchName, ['a', 'a', { b: ['a'] }]],
		matchNamedModules: [ct.matchNamedModules, [NAMED, ['Linear'], [], {}]],
		matchQuantizableTensors: [
			ct.matchQuantizableTensors,
			[['a.weight'], { targets: ['Linear'], ignore: [], parameters: ['weight'] }],
		],
		matchTargets: [ct.matchTargets, ['a', 'Linear', ['Linear']]],
		schemeFinder: [ct.schemeFinder, [WHOLE]],
		'schemeFinder()': [ct.schemeFinder(WHOLE), ['a', 'Linear']],
		schemeOfModule: [ct.schemeOfModule, [WHOLE, 'a', 'Linear']],
		mergeQuantizationConfigs: [ct.mergeQuantizationConfigs, [CONFIG, CONFIG]],
		isPresetScheme: [ct.isPresetScheme, ['W4A16']],
		presetNameToScheme: [ct.presetNameToScheme, ['W4A16', ['Linear']]],
		quantizationArgs: [ct.quantizationArgs, [ARGS]],
		writeQuantizationArgs: [ct.writeQuantizationArgs, [ARGS]],
		quantizationConfig: [ct.quantizationConfig, [CONFIG]],
		requiresCalibrationData: [ct.requiresCalibrationData, [WHOLE]],
		writeQuantizationConfig: [ct.writeQuantizationConfig, [CONFIG, { correct: false }]],
		quantizationScheme: [ct.quantizationScheme, [QSCHEME]],
		writeQuantizationScheme: [ct.writeQuantizationScheme, [QSCHEME]],
		calculateQparams: [ct.calculateQparams, [W.map((x) => -Math.abs(x)), W.map(Math.abs), ARGS, { ...NUMERIC }]],
		dynamicQparams: [ct.dynamicQparams, [W, { args: ARGS, shape: SHAPE, ...NUMERIC, globalScale: undefined }]],
		generateGparam: [ct.generateGparam, [W.map((x) => -Math.abs(x)), W.map(Math.abs), NUMERIC]],
		dequantize: [
			ct.dequantize,
			[
				{ dtype: 'I8', shape: SHAPE, bytes: new Uint8Array(256) },
				{ args: ARGS, scale: f32([2, 4], 1), zeroPoint: null, gIdx: undefined },
			],
		],
		fakeQuantize: [
			ct.fakeQuantize,
			[W, { args: ARGS, shape: SHAPE, scale: f32([2, 4], 1), zeroPoint: null, ...NUMERIC }],
		],
		quantize: [ct.quantize, [W, { args: ARGS, shape: SHAPE, scale: f32([2, 4], 1), zeroPoint: null, ...NUMERIC }]],
	},
	coreai: {
		bitsPerWeight: [coreai.bitsPerWeight, [SPEC, [[4, 64]], { dtype: 'float32', module: 'Linear' }]],
		readConfig: [coreai.readConfig, [QUANTIZER]],
		presetConfig: [coreai.presetConfig, ['w8']],
		assign: [coreai.assign, [opaque(coreai.readConfig(QUANTIZER)), MODULES]],
		resolveConfig: [
			coreai.resolveConfig,
			[opaque(coreai.readConfig(QUANTIZER)), MODULES, { backend: 'Torch', tensor: () => 'a' }],
		],
		checkBackend: [coreai.checkBackend, [SPEC, 'Torch', { target: 'weight', rank: 2 }]],
		setGlobal: [coreai.setGlobal, [QUANTIZER, null]],
		setModuleType: [coreai.setModuleType, [QUANTIZER, 'torch.nn.Linear', null]],
		setModuleName: [coreai.setModuleName, [QUANTIZER, 'a', null]],
		onlyFor: [coreai.onlyFor, [QUANTIZER, 'a', { type: 'torch.nn.Linear' }]],
		without: [coreai.without, [QUANTIZER, 'a', { type: 'torch.nn.Linear' }]],
		exportWeight: [coreai.exportWeight, [W, { dtype: 'int8' }, { shape: SHAPE, dtype: 'f32', module: 'Linear' }]],
		gradientMask: [coreai.gradientMask, [W, { scheme: 'coreai:w8', shape: SHAPE }]],
	},
	burn: {
		BlockLayout: [(...args) => new burn.BlockLayout(...args), [SHAPE, BLOCK]],
		'BlockLayout.blockOf': [(...args) => new burn.BlockLayout(SHAPE, BLOCK).blockOf(...args), [0]],
		'BlockLayout.isWhole': [(...args) => new burn.BlockLayout(SHAPE, BLOCK).isWhole(...args), [0]],
		BlockSize: [(...args) => new burn.BlockSize(...args), [[32]]],
		'BlockSize.toDims': [(...args) => BLOCK.toDims(...args), [2]],
		'BlockSize.numBlocks': [(...args) => BLOCK.numBlocks(...args), [SHAPE]],
		'BlockSize.permuted': [(...args) => BLOCK.permuted(...args), [2, [1, 0]]],
		QuantScheme: [(...args) => new burn.QuantScheme(...args), [{ ...BURN, table: undefined }]],
		'QuantScheme.permuteDims': [(...args) => QS.permuteDims(...args), [[1, 0]]],
		'QuantScheme.swapDims': [(...args) => QS.swapDims(...args), [2, 0, 1]],
		'QuantScheme.reshapePackingDim': [(...args) => QS.reshapePackingDim(...args), [2]],
		QuantizedBytes: [(...args) => new burn.QuantizedBytes(...args), [BYTES.bytes, QS, SHAPE]],
		'QuantizedBytes.of': [burn.QuantizedBytes.of, [library.quantize(W, { scheme: 'burn:q8s', shape: SHAPE })]],
		'QuantizedBytes.write': [burn.QuantizedBytes.write, [QS, SHAPE, CODES]],
		computeQParams: [burn.computeQParams, [QS, { min: W, max: W }]],
		computeRange: [burn.computeRange, [QS, W, SHAPE, 'MinMax']],
		scaleToDtype: [burn.scaleToDtype, [1, 'F16']],
		globalScaleDtype: [burn.globalScaleDtype, [QS]],
		globalScaleSize: [burn.globalScaleSize, [QS]],
		paramsShape: [burn.paramsShape, [SHAPE, QS]],
		quantizable: [burn.quantizable, [QS]],
		quantizedDataLen: [burn.quantizedDataLen, [QS, SHAPE]],
		scaleSize: [burn.scaleSize, ['F16']],
		packI8sToU32s: [burn.packI8sToU32s, [new Int8Array(4)]],
		unpackU32sToI8s: [burn.unpackU32sToI8s, [new Uint32Array(1), 4, 8]],
	},
};

/** @param {unknown} value */
const isPlain = (value) =>
	typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** The value with what stands at each place in it replaced: the whole, each field, fields of fields. */
function* places(value, depth = 3) {
	yield { path: '', put: (odd) => odd };
	if (!isPlain(value) || OPAQUE.has(value) || depth === 0) return;
	for (const [key, field] of Object.entries(value))
		for (const { path, put } of places(field, depth - 1))
			yield { path: `.${key}${path}`, put: (odd) => ({ ...value, [key]: put(odd) }) };
}

/** Where odd values are let through: their names, by place. What is thrown must be an error of ours. */
async function letThrough([call, given]) {
	const args = () => (typeof given === 'function' ? given() : given);
	/** @type {Record<string, string[]>} */
	const passed = {};
	await call(...args());
	for (const [i, arg] of args().entries())
		for (const { path, put } of places(arg))
			for (const [name, odd] of Object.entries(ODD)) {
				try {
					await call(...args().with(i, put(odd)));
					// What may be left out may be undefined.
					if (odd !== undefined) (passed[`${i}${path}`] ??= []).push(name);
				} catch (error) {
					assert.ok(error instanceof BlockQuantError, `${i}${path} = ${name}: ${error?.stack ?? error}`);
					assert.notEqual(error.code, 'internal', `${i}${path} = ${name}: ${error.stack}`);
				}
			}
	return passed;
}

/** No functions, or not to be called here. */
const OTHERS = ['BlockQuantError', 'QPARAM_ALIGN', 'QUANT_VALUES', 'SCALE_DTYPES'];

const ENTRIES = { index: library, node, 'compressed-tensors': ct, coreai, burn };

for (const [entry, calls] of Object.entries(CALLS)) {
	test(`${entry}: every function refuses what is not legal, by an error of ours`, async () => {
		for (const [name, row] of Object.entries(calls)) {
			const expected = Object.entries(LEGAL[`${entry} ${name}`] ?? {}).filter(([, names]) => names !== '');
			const found = Object.entries(await letThrough(row)).map(([place, names]) => [
				place,
				names.length === Object.keys(ODD).length - 1 ? ANY : names.join(' | '),
			]);
			assert.deepEqual(Object.fromEntries(found), Object.fromEntries(expected), `${entry} ${name}`);
		}
	});
	test(`${entry}: every function is here`, () => {
		const named = Object.keys(calls).map((name) => name.split(/[.,(]/)[0]);
		const missing = Object.keys(ENTRIES[entry]).filter((name) => ![...named, ...OTHERS].includes(name));
		assert.deepEqual(missing, []);
	});
}
