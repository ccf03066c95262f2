// coreai-arguments.test.js - what Core AI's functions are given by mistake: each time one error that says what was expected.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromCoreAI } from '../../js/coreai/from.js';
import { assign, bitsPerWeight, checkBackend, presetConfig, readConfig, resolveConfig } from '../../js/coreai/index.js';
import { toCoreAI } from '../../js/coreai/to.js';
import { createObserver } from '../../js/observers/observer.js';
import { ready } from './support.js';

/** Each refused call, with its code and a word of its message. */
const refused = (calls) => {
	for (const [call, code, message] of calls)
		assert.throws(call, { name: 'BlockQuantError', code, message }, `${call}`);
};

test('null and things of another kind', async () => {
	await ready();
	const config = readConfig(presetConfig('w8'));
	const linear = { name: 'a', type: 'torch.nn.modules.linear.Linear', parameters: { weight: [4, 8] } };
	const scheme = fromCoreAI({});
	refused([
		[() => fromCoreAI(null), 'bad-scheme', /spec: expected \{ dtype, .*\}; got null/],
		[() => fromCoreAI({}, null), 'bad-argument', /options/],
		[() => fromCoreAI({}, { axis: 1 }), 'bad-argument', /axis: unknown field; expected target, rank, module/],
		[() => fromCoreAI({}, { rank: Number.NaN }), 'bad-argument', /rank: expected 1 to 5 axes, got NaN/],
		[() => fromCoreAI({}, { module: null }), 'bad-argument', /module: expected the name of a class, got null/],
		[
			() => fromCoreAI({ granularity: { type: 'per_channel' } }, { module: 'torch.nn.LSTM' }),
			'bad-scheme',
			/granularity\.axis: missing: only the weight of a known module has a default/,
		],
		[
			() => fromCoreAI({ granularity: { type: 'per_block', block_size: [1, 1, 1, 1, 1, 32] } }),
			'bad-scheme',
			/granularity\.block_size: expected a positive integer, or a list of 1 to 5/,
		],
		[() => fromCoreAI({ float_range: [-1e39, 1] }), 'bad-scheme', /float_range: .*that float32 holds/],
		[
			() =>
				createObserver(fromCoreAI({ float_range: [-1e6, null] })).observe(new Uint16Array(4), {
					shape: [4],
					dtype: 'f16',
				}),
			'bad-argument',
			/observer\.range: -1000000 is beyond the f16 of the values/,
		],
		[
			() => resolveConfig(config, [{ ...linear, type: 'my.Mixer', ops: [{ name: 'a.mix', type: 'mix' }] }]),
			'bad-scheme',
			/a\.mix state weight\.granularity\.axis: missing: only the weight of a known module has a default/,
		],
		[() => resolveConfig(config, [linear, linear]), 'bad-argument', /modules\[1\]\.name: the name "a" twice/],
		[() => fromCoreAI({ granularity: null }), 'bad-scheme', /granularity: expected \{ type, .*\}; got null/],
		[() => fromCoreAI({ qparam_qspec: 1 }), 'bad-scheme', /qparam_qspec: expected \{ dtype, /],
		[() => toCoreAI(scheme, null), 'bad-argument', /options/],
		[() => toCoreAI(scheme, { module: 'Linear' }), 'bad-argument', /module: unknown field; expected target, rank/],
		[() => toCoreAI(scheme, { rank: 6 }), 'bad-argument', /rank: expected 1 to 5/],
		[() => checkBackend({}, null), 'bad-argument', /backend: expected one of Torch, CoreAI, CoreML; got null/],
		[() => checkBackend({}, 'constructor'), 'bad-argument', /backend/],
		[() => checkBackend({}, 'CoreAI', null), 'bad-argument', /options/],
		[() => checkBackend(null, 'CoreAI'), 'bad-scheme', /got null/],
		[() => bitsPerWeight({}), 'bad-argument', /shapes: expected a list of shapes, got undefined/],
		[() => bitsPerWeight({}, []), 'bad-argument', /shapes: expected a list of shapes/],
		[() => bitsPerWeight({}, [4, 8]), 'bad-shape', /shape: expected a list of sizes, got 4/],
		[() => bitsPerWeight({}, [[4, Number.NaN]]), 'bad-shape', /shape: expected a list of sizes/],
		[() => bitsPerWeight({}, [[0, 4]]), 'bad-shape', /no values/],
		[() => bitsPerWeight({}, [[4]], null), 'bad-argument', /options/],
		[() => bitsPerWeight({}, [[4]], { dtype: 'constructor' }), 'bad-argument', /dtype: expected one of float32/],
		[() => bitsPerWeight({}, [[4]], { rank: 2 }), 'bad-argument', /rank: unknown field/],
		[() => presetConfig(null), 'unknown-scheme', /no preset null/],
		[() => readConfig(null), 'bad-scheme', /got null/],
		[() => resolveConfig(null), 'bad-argument', /config: expected what readConfig\(\) gives, got null/],
		[() => resolveConfig(presetConfig('w8'), []), 'bad-argument', /config: expected what readConfig\(\) gives/],
		[() => assign(config), 'bad-argument', /modules: expected a list, got undefined/],
		[() => resolveConfig(config, [null]), 'bad-argument', /modules\[0\]: expected \{ name, type, .*got null/],
		[() => resolveConfig(config, [{ name: 'a' }]), 'bad-argument', /modules\[0\].type: expected the full path/],
		[
			() => resolveConfig(config, [linear, { ...linear, parameters: { weight: 4 } }]),
			'bad-argument',
			/modules\[1\].parameters: expected shapes by local name/,
		],
		[
			() => resolveConfig(config, [{ ...linear, ops: [{ name: 'a.linear' }] }]),
			'bad-argument',
			/modules\[0\].ops\[0\].type: expected a word/,
		],
		[() => resolveConfig(config, [linear], null), 'bad-argument', /options/],
		[() => resolveConfig(config, [linear], { tensor: 'weight' }), 'bad-argument', /tensor: expected a function/],
		[() => resolveConfig(config, [linear], { backend: 'Metal' }), 'bad-argument', /backend/],
	]);
});

test('a word that is nearly right is suggested', async () => {
	await ready();
	for (const [json, message] of [
		[{ dtpye: 'int8' }, /dtpye: unknown field; .*did you mean dtype\?/],
		[{ dtype: 'in4' }, /dtype: .*did you mean int4\?/],
		[{ qscheme: 'symetric' }, /qscheme: .*did you mean symmetric\?/],
		[{ granularity: { type: 'per_blok' } }, /granularity.type: .*did you mean per_block\?/],
		[{ granularity: { typ: 'per_channel' } }, /granularity\.typ: unknown field; did you mean type\?/],
		[{ granularity: { type: 'per_block', blok_size: 4 } }, /granularity.blok_size: .*did you mean block_size\?/],
		[
			{ qparam_qspec: { dtype: 'float8_e4m3fn', parent_dtype: 'flaot16' } },
			/qparam_qspec.parent_dtype: .*did you mean float16\?/,
		],
	])
		assert.throws(() => fromCoreAI(json), { code: 'bad-scheme', message });
	for (const read of [
		fromCoreAI,
		(config) => checkBackend(config, 'Torch'),
		(config) => bitsPerWeight(config, [[4]]),
	])
		assert.throws(() => read({ global_config: {} }), {
			code: 'bad-scheme',
			message: /a config of Core AI is of a whole model; a scheme is the weight spec of one of its modules/,
		});
	assert.throws(() => readConfig({ global_confg: {} }), { message: /global_confg: .*did you mean global_config\?/ });
});

test('axes that a tensor has not, and those that it has by its module', async () => {
	await ready();
	const spec = { granularity: { type: 'per_channel', axis: 2 } };
	assert.throws(() => fromCoreAI(spec), {
		code: 'bad-scheme',
		message: /2 is none of the 2 axes .* or another rank/,
	});
	assert.deepEqual(fromCoreAI(spec, { module: 'torch.nn.Conv2d' }), fromCoreAI(spec, { rank: 4 }));
	assert.deepEqual(fromCoreAI(spec, { module: 'ConvTranspose1d' }), fromCoreAI(spec, { rank: 3 }));
	assert.deepEqual(fromCoreAI(spec, { module: 'Conv3d' }), fromCoreAI(spec, { rank: 5 }));
	assert.throws(() => fromCoreAI(spec, { module: 'Conv2d', target: 'activation' }), { code: 'bad-scheme' });
});

test('specs without end are refused where the second begins', () => {
	const cyclic = { dtype: 'int4' };
	cyclic.qparam_qspec = cyclic;
	let deep = { dtype: 'int4' };
	for (let i = 0; i < 20_000; i++) deep = { dtype: 'int4', qparam_qspec: deep };
	for (const spec of [cyclic, deep])
		assert.throws(() => fromCoreAI(spec), {
			code: 'bad-scheme',
			message: /qparam_qspec\.qparam_qspec: one spec inside another is the most/,
		});
});
