// vocabularies.test.js - every preset into every vocabulary and back: the same bytes, or the reason that docs/schemes.md gives.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cloneScheme, quantize, schemes, toBurn, toCompressedTensors, toCoreAI } from '../../js/index.js';
import { schemeOfJson } from '../../js/vocabularies.js';
import { random, ready, root } from './support.js';

await ready();

const SAME = 'the same bytes';
const WRITERS = [toCompressedTensors, toBurn, toCoreAI];

/** Cells of the table by family of presets. */
const page = readFileSync(join(root, 'docs/schemes.md'), 'utf8');
const [, body] =
	/\| presets \| compressed-tensors \| Burn \| Core AI \|\n\|.*\n([\s\S]*?)\n\n/.exec(page) ?? assert.fail();
const table = new Map(
	body.split('\n').map((line) => {
		const [family, ...cells] = line.slice(2, -2).split(' | ');
		return [family.replaceAll('`', ''), cells];
	}),
);

/** The JSON, as a file would have it, or the reason why there is none. */
function written(write, name) {
	try {
		return { json: JSON.parse(JSON.stringify(write(name))) };
	} catch (error) {
		assert.equal(error.code, 'unsupported', `${name}: ${error.stack}`);
		return { reason: error.message };
	}
}

const shape = [8, 512];
const r = random(3);
const data = Float32Array.from({ length: 8 * 512 }, () => r.normal());

test('every preset becomes the JSON of each system and comes back with its bytes, or there is the reason of the table', () => {
	for (const { name, scheme } of schemes()) {
		const cells = table.get(name.slice(0, name.indexOf(':') + 1)) ?? assert.fail(`${name} is in no row`);
		WRITERS.forEach((write, column) => {
			const { json, reason } = written(write, name);
			const cell = cells[column];
			const what = `${name} -> ${write.name}: ${reason}`;
			if (reason !== undefined) {
				assert.ok(
					cell.split('; ').some((said) => reason.includes(said)),
					what,
				);
				return;
			}
			assert.ok(cell.startsWith(SAME), what);
			// What only goes beside a scheme of that system.
			const back = cloneScheme(schemeOfJson(json), { calibration: scheme.calibration });
			const [ours, theirs] = [name, back].map((each) => quantize(data, { scheme: each, shape }));
			assert.deepEqual([theirs.bytes, theirs.planes], [ours.bytes, ours.planes], what);
		});
	}
});

test('near misses of any vocabulary are told', () => {
	for (const [json, message] of [
		[{ value: 'q8f' }, /value: .*did you mean Q8F\?/],
		[{ dtpye: 'int4' }, /scheme\.dtpye: a field of no vocabulary; did you mean dtype\?/],
		[{ valeu: 'i4', scale: [] }, /valeu: .*did you mean value\?; scheme\.scale: .*did you mean scales\?/],
		[{ num_bit: 4 }, /scheme\.num_bit: .*did you mean num_bits\?/],
		[{ glboal_config: {} }, /scheme\.glboal_config: .*did you mean global_config\?/],
		[{ store: 'native' }, /store: .*got "native"; did you mean Native\?/],
		[{ store: { packedU32: 0 } }, /store: .*did you mean PackedU32\?/],
		[{ store: { PackedU32: -1 } }, /store: expected .*got \{"PackedU32":-1\}$/],
		[{ scale: [] }, /scheme\.scale: .*did you mean scales\?/],
		[{}, /scheme\.value: expected the dtype of a code.*scheme\.scales: expected a list/],
	])
		assert.throws(() => schemeOfJson(json), { code: 'bad-scheme', message });
});

test('arguments of compressed-tensors are told by any field that it alone has', () => {
	for (const json of [{ group_size: 64 }, { strategy: 'channel' }, { type: 'float' }])
		assert.equal(schemeOfJson(json).rules, 'compressed-tensors');
});
