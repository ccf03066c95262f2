// coreai-config.test.js - Core AI's QuantizerConfig: read, and resolved over module names, types and ops.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fromCoreAI } from '../../js/coreai/from.js';
import {
	assign,
	onlyFor,
	presetConfig,
	readConfig,
	resolveConfig,
	setGlobal,
	setModuleName,
	setModuleType,
	without,
} from '../../js/coreai/index.js';
import { createObserver } from '../../js/observers/observer.js';
import { ready } from './support.js';

before(() => ready());

const LINEAR = 'torch.nn.modules.linear.Linear';
const linear = (name, shape = [8, 64]) => ({ name, type: LINEAR, parameters: { weight: shape, bias: [shape[0]] } });
const MODEL = [
	{ name: '', type: 'app.Model' },
	{ name: 'layers', type: 'torch.nn.ModuleList' },
	{ name: 'layers.0', type: 'app.Block' },
	linear('layers.0.q'),
	linear('layers.0.k'),
	{ name: 'layers.1', type: 'app.Block' },
	linear('layers.1.q'),
	{ name: 'head', type: 'torch.nn.modules.conv.ConvTranspose2d', parameters: { weight: [8, 16, 3, 3] } },
];

/** Only weights, of a dtype. */
const weights = (dtype, more = {}) => ({
	op_input_spec: null,
	op_output_spec: null,
	op_state_spec: { weight: { dtype, ...more } },
});
const resolve = (json, options) => resolveConfig(readConfig(json), MODEL, options);
const dtypes = (json) =>
	Object.fromEntries(
		resolve(json)
			.filter(({ kind }) => kind === 'state')
			.map(({ module, spec }) => [module, spec.dtype]),
	);

test('a config that says nothing quantizes weights per channel, inputs and outputs by a moving average', () => {
	const found = resolve({});
	assert.equal(found.length, 4 * 3);
	for (const { op, kind, key, spec, scheme, observer } of found) {
		assert.match(op, /\.(linear|conv_transpose2d)$/);
		assert.equal(key, kind === 'state' ? 'weight' : 0);
		assert.deepEqual([spec.dtype, spec.qscheme], ['int8', 'symmetric']);
		const state = kind === 'state';
		assert.equal(observer.target, state ? 'weight' : 'activation');
		assert.equal(scheme.observer?.calculator, state ? undefined : 'moving_average');
		assert.equal(spec.granularity.type, state ? 'per_channel' : 'per_tensor');
	}
});

test('null says that nothing is quantized, of a field, a module, an op or all', () => {
	assert.deepEqual(resolve({ global_config: null }), []);
	assert.deepEqual(dtypes({ module_name_configs: { 'layers\\.0\\..*': null } }), {
		'layers.1.q': 'int8',
		head: 'int8',
	});
	const kinds = (json) => [...new Set(resolve(json).map(({ kind }) => kind))];
	assert.deepEqual(kinds({ global_config: { op_input_spec: null } }), ['state', 'output']);
	assert.deepEqual(kinds({ global_config: { op_state_spec: { '*': null } } }), ['input', 'output']);
	assert.deepEqual(dtypes({ global_config: { op_type_config: { linear: null } } }), { head: 'int8' });
});

test('a name wins over a type, a type over the global config; the last of a level over those before', () => {
	const config = {
		global_config: weights('int8'),
		module_type_configs: { [LINEAR]: weights('int6'), 'app.Block': weights('uint6') },
		module_name_configs: { '.*\\.q': weights('int4'), 'layers\\.1': weights('int2') },
	};
	assert.deepEqual(dtypes(config), {
		'layers.0.q': 'int4',
		// A later entry takes along all that is inside and has none yet: of names layers.1 does, of types app.Block.
		'layers.0.k': 'uint6',
		'layers.1.q': 'int2',
		head: 'int8',
	});
	const { module_name_configs, ...rest } = config;
	const swapped = Object.fromEntries(Object.entries(module_name_configs).reverse());
	assert.equal(dtypes({ ...rest, module_name_configs: swapped })['layers.1.q'], 'int4');
	const levels = [...assign(readConfig(config), MODEL)].map(([name, { level }]) => [name, level]);
	assert.deepEqual(Object.fromEntries(levels), {
		'': 'global',
		layers: 'global',
		'layers.0': 'type',
		'layers.0.q': 'name',
		'layers.0.k': 'type',
		'layers.1': 'name',
		'layers.1.q': 'name',
		head: 'global',
	});
});

test('a name is matched as a whole, also by an alias', () => {
	const only = (pattern, modules = MODEL) =>
		resolveConfig(
			readConfig({ global_config: null, module_name_configs: { [pattern]: weights('int4') } }),
			modules,
		).map(({ module }) => module);
	assert.deepEqual(only('q'), []);
	assert.deepEqual(only('layers\\.[01]\\.q'), ['layers.0.q', 'layers.1.q']);
	assert.deepEqual(only('tied', [{ ...linear('a'), aliases: ['tied'] }, linear('b')]), ['a']);
});

test('module specs are for the module that is named, not for those inside', () => {
	const module_state_spec = { weight: { dtype: 'int2' } };
	const block = { ...weights('int4'), module_state_spec };
	assert.equal(dtypes({ module_name_configs: { 'layers\\.0': block } })['layers.0.q'], 'int4');
	assert.equal(dtypes({ module_name_configs: { 'layers\\.0\\.q': block } })['layers.0.q'], 'int2');
	const boundary = { module_input_spec: { '*': { dtype: 'uint8' } }, module_output_spec: { 0: null } };
	const found = resolve({ global_config: null, module_name_configs: { head: { ...weights('int4'), ...boundary } } });
	assert.deepEqual(
		found.map(({ kind, spec }) => [kind, spec.dtype]),
		[
			['input', 'uint8'],
			['state', 'int4'],
		],
	);
	assert.throws(() => readConfig({ global_config: { module_state_spec } }), { code: 'bad-scheme' });
});

test("the op config that fits last replaces the module's: by name before by type", () => {
	const ops = [
		{ name: 'attn.linear', type: 'linear', states: ['qkv'] },
		{ name: 'attn.matmul', type: 'matmul', inputs: 2, states: [] },
		{ name: 'attn.linear_1', type: 'linear', states: ['out'] },
	];
	const module = { name: 'attn', type: 'app.Attention', parameters: { qkv: [24, 8], out: [8, 8] }, ops };
	const state = (dtype) => ({ op_input_spec: null, op_output_spec: null, op_state_spec: { '*': { dtype } } });
	const global_config = {
		...state('int8'),
		op_type_config: {
			linear: state('int4'),
			matmul: { op_input_spec: { 1: { dtype: 'uint8' } }, op_output_spec: null },
		},
		op_name_config: { 'attn\\.linear_.*': state('int2') },
	};
	const found = resolveConfig(readConfig({ global_config }), [module]);
	assert.deepEqual(
		found.map(({ op, kind, key, spec }) => `${op} ${kind} ${key} ${spec.dtype}`),
		['attn.linear state qkv int4', 'attn.matmul input 1 uint8', 'attn.linear_1 state out int2'],
	);
});

test('a shared parameter has one spec, that of the most specific entry', () => {
	const modules = [linear('embed'), linear('head')];
	const tensor = (module, local) => (local === 'weight' ? 'tied' : `${module.name}.${local}`);
	const config = readConfig({ global_config: weights('int8'), module_name_configs: { head: weights('int4') } });
	const found = resolveConfig(config, modules, { tensor });
	assert.deepEqual(
		found.map(({ module, spec }) => [module, spec.dtype]),
		[['head', 'int4']],
	);
	const plain = resolveConfig(readConfig({ global_config: weights('int8') }), modules, { tensor });
	assert.deepEqual(
		plain.map(({ module }) => module),
		['embed'],
	);
});

test('qparam_qspec is carried through every field that holds a spec', () => {
	const nested = { dtype: 'float8_e4m3fn' };
	const spec = { dtype: 'int4', granularity: { type: 'per_block', axis: -1, block_size: 8 }, qparam_qspec: nested };
	const op = { op_input_spec: { 0: spec }, op_output_spec: { '*': spec }, op_state_spec: { weight: spec } };
	const module = {
		module_input_spec: { '*': spec },
		module_output_spec: { 0: spec },
		module_state_spec: { '*': spec },
	};
	const nothing = { op_input_spec: null, op_output_spec: null, op_state_spec: null };
	for (const config of [
		{ global_config: op },
		{ global_config: { ...nothing, op_type_config: { linear: op } } },
		{ global_config: { ...nothing, op_name_config: { '.*\\.linear': op } } },
		{ module_type_configs: { [LINEAR]: op } },
		{ module_name_configs: { '.*': op } },
		{ global_config: null, module_name_configs: { '.*\\.q': { ...nothing, ...module } } },
		{
			quantization_config: { module_type_configs: { [LINEAR]: { ...nothing, ...module } } },
			quantization_spec: spec,
		},
	]) {
		const found = resolve(config).filter(({ module: name, key }) => name === 'layers.0.q' && key !== 'bias');
		assert.equal(found.length, 3, JSON.stringify(config));
		for (const { kind, spec: read, scheme } of found) {
			assert.equal(read.qparam_qspec.dtype, 'float8_e4m3fn');
			const target = kind === 'state' ? 'weight' : 'activation';
			assert.deepEqual(scheme, fromCoreAI(spec, { target, rank: 2 }));
			assert.deepEqual(scheme.scales, [
				{ dtype: 'f8e4m3', block: 8 },
				{ dtype: 'f32', block: 'tensor' },
			]);
		}
	}
});

test('a backend that cannot store one of the specs is refused before anything is returned', () => {
	const nested = { ...weights('int4', { qparam_qspec: { dtype: 'float8_e4m3fn' } }) };
	const config = { global_config: weights('int8'), module_name_configs: { head: nested } };
	assert.equal(resolve(config, { backend: 'Torch' }).length, 4);
	for (const backend of ['CoreAI', 'CoreML'])
		assert.throws(() => resolve(config, { backend }), {
			code: 'unsupported',
			message: new RegExp(`^head\\.conv_transpose2d state weight\\.qparam_qspec: ${backend} `),
		});
	const dynamic = { op_input_spec: { '*': { qparam_calculator_cls: 'dynamic' } }, op_output_spec: null };
	assert.throws(() => resolve({ global_config: dynamic }, { backend: 'CoreAI' }), { code: 'unsupported' });
});

test('presets quantize weights alone, on the axes of each module', () => {
	for (const [name, dtype, linears, head] of [
		['w8', 'i8', 'channel', [-1, 1, -1, -1]],
		['w4', 'i4', 'channel', [-1, 1, -1, -1]],
		['w4_per_block', 'i4', 32, [32, 1, -1, -1]],
	]) {
		const found = resolve(presetConfig(name), { backend: 'CoreAI' });
		assert.deepEqual([...new Set(found.map(({ kind, key }) => `${kind} ${key}`))], ['state weight'], name);
		for (const { module, scheme } of found) {
			assert.equal(scheme.value, dtype);
			assert.deepEqual(scheme.scales[0].block, module === 'head' ? head : linears, `${name} ${module}`);
		}
	}
	assert.throws(() => presetConfig('w4a8'), { code: 'unknown-scheme' });
});

test('a qat_schedule becomes that of the observers', () => {
	const qat_schedule = { enable_fake_quant: 2, disable_observer: 5 };
	const found = resolve({ module_name_configs: { head: { qat_schedule } } });
	for (const { module, scheme, observer } of found) {
		const schedule = { enableObserver: 0, enableFakeQuantize: 2, disableObserver: 5 };
		assert.deepEqual(observer.schedule, module === 'head' ? schedule : undefined);
		createObserver(scheme, observer);
	}
});

test('everything that is wrong with a config is told at once', () => {
	const config = {
		global_config: {
			op_input_spec: { a: {} },
			op_output_spec: { 1: {} },
			op_state_spec: { weight: { dtype: 'int3' } },
		},
		module_type_configs: { Linear: {} },
		module_name_configs: { '(': {}, head: { qat_schedule: { enable_observer: 3, enable_fake_quant: 1 }, foo: 1 } },
		execution_mode: 'jit',
		preserved_attributes: 'weight',
		kv_cache_quant_configs: {},
	};
	assert.throws(
		() => readConfig(config),
		(error) => {
			for (const field of [
				'global_config.op_input_spec.a',
				'global_config.op_output_spec.1',
				'global_config.op_state_spec.weight.dtype',
				'module_type_configs.Linear',
				'module_name_configs.(',
				'module_name_configs.head.foo',
				'module_name_configs.head.qat_schedule.enable_fake_quant',
				'execution_mode',
				'preserved_attributes',
				'kv_cache_quant_configs',
			])
				assert.ok(`; ${error.message}`.includes(`; ${field}: `), `${field} in ${error.message}`);
			return error.code === 'bad-scheme';
		},
	);
	assert.throws(() => readConfig({ quantization_config: {}, other: 1 }), { code: 'bad-scheme', message: /^other: / });
	assert.throws(() => readConfig({ global_config: { op_input_spec: { 0: {}, '00': {} } } }), { code: 'bad-scheme' });
	for (const json of [null, [], 'w8']) assert.throws(() => readConfig(json), { code: 'bad-scheme' });
});

test('activations have the axes of their op, or those that it says', () => {
	const conv = { name: 'conv', type: 'torch.nn.modules.conv.Conv2d', parameters: { weight: [8, 3, 3, 3] } };
	const attention = {
		name: 'a',
		type: 'app.A',
		ops: [{ name: 'a.matmul', type: 'matmul', inputs: 1, axes: 4, states: [] }],
	};
	const spec = { dtype: 'int8', granularity: { type: 'per_channel', axis: 1 } };
	const config = readConfig({
		global_config: { op_input_spec: { '*': spec }, op_output_spec: null, op_state_spec: null },
	});
	const blocks = resolveConfig(config, [conv, attention]).map(({ op, scheme }) => [op, scheme.scales[0].block]);
	assert.deepEqual(blocks, [
		['conv.conv2d', [-1, 1, -1, -1]],
		['a.matmul', [-1, 1, -1, -1]],
	]);
});

test('edits: a setting for all, a class, a name; each gives a new config and takes no part of the old', () => {
	const start = presetConfig('w8');
	const before = structuredClone(start);
	const names = setModuleName(setModuleName(start, 'head', weights('int2')), 'layers\\.1', weights('uint6'));
	const edited = setModuleType(setGlobal(names, weights('int4')), 'app.Block', weights('int6'));
	assert.deepEqual(dtypes(edited), {
		'layers.0.q': 'int6',
		'layers.0.k': 'int6',
		'layers.1.q': 'uint6',
		head: 'int2',
	});
	assert.deepEqual(start, before);
	// A setting that is there is replaced where it stands, as its place among the others decides.
	const again = setModuleName(names, 'head', null);
	assert.deepEqual(Object.keys(again.module_name_configs), ['head', 'layers\\.1']);
	assert.equal(dtypes(again).head, undefined);
	assert.deepEqual(resolve(setGlobal(start, null)), []);
	// The envelope of files is taken off; names are data, whatever they are.
	const file = { quantization_config: before, quantization_spec: {} };
	assert.deepEqual(setGlobal(file, null), { global_config: null });
	assert.deepEqual(Object.keys(setModuleName(start, '__proto__', null).module_name_configs), ['__proto__']);
});

test('edits: only for some modules, and without some', () => {
	const some = onlyFor(presetConfig('w4'), { type: LINEAR }, 'head');
	assert.deepEqual(dtypes(some), { 'layers.0.q': 'int4', 'layers.0.k': 'int4', 'layers.1.q': 'int4', head: 'int4' });
	assert.equal(some.global_config, null);
	assert.deepEqual(dtypes(onlyFor(presetConfig('w4'), '.*\\.q')), { 'layers.0.q': 'int4', 'layers.1.q': 'int4' });
	// A config that says nothing of all modules has the defaults for them.
	assert.deepEqual(dtypes(onlyFor({}, 'head')), { head: 'int8' });
	const others = without(presetConfig('w4'), 'head', { type: 'app.Block' });
	assert.deepEqual(dtypes(others), {});
	assert.deepEqual(dtypes(without(presetConfig('w4'), 'layers\\.0')), { 'layers.1.q': 'int4', head: 'int4' });
	assert.deepEqual(without(presetConfig('w4')), presetConfig('w4'));
	// Each target has a copy of its own.
	some.module_name_configs.head.op_state_spec.weight.dtype = 'int2';
	assert.equal(dtypes(some)['layers.0.q'], 'int4');
	// An earlier setting of a target is replaced, a later one replaces.
	const custom = setModuleName(presetConfig('w4'), 'head', weights('int2'));
	assert.equal(dtypes(onlyFor(custom, 'head')).head, 'int4');
	assert.equal(dtypes(setModuleName(onlyFor(custom, 'head'), 'head', weights('int2'))).head, 'int2');
});

test('edits that make no sense are refused', () => {
	const config = presetConfig('w8');
	const bad = { code: 'bad-argument' };
	assert.throws(() => onlyFor(config), { ...bad, message: /at least one/ });
	assert.throws(() => onlyFor(onlyFor(config, 'head'), 'layers'), { ...bad, message: /global_config is null/ });
	for (const target of [null, 3, ['head'], { name: 'head' }])
		for (const edit of [onlyFor, without]) assert.throws(() => edit(config, 'head', target), bad);
	for (const edit of [onlyFor, without]) {
		assert.throws(() => edit(config, '('), { code: 'bad-scheme', message: /module_name_configs.\(: / });
		assert.throws(() => edit(config, { type: 'Linear' }), { code: 'bad-scheme', message: /full path of a class/ });
		assert.throws(() => edit(null, 'head'), { code: 'bad-scheme' });
	}
	assert.throws(() => setGlobal(config, { module_state_spec: {} }), { code: 'bad-scheme' });
	assert.throws(() => setModuleType(config, 'Linear', null), { code: 'bad-scheme' });
	assert.throws(() => setModuleName(config, 'head', { op_state_spec: { weight: { dtype: 'int3' } } }), {
		code: 'bad-scheme',
	});
});
