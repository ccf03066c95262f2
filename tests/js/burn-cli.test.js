// burn-cli.test.js - the command takes Burn's JSON: it explains a scheme, and says why no file of weights holds it.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { done, fails, temporaryFolder } from './cli-support.js';

const folder = temporaryFolder();

function file(name, json) {
	const path = join(folder, name);
	writeFileSync(path, JSON.stringify(json));
	return path;
}

const nvfp4 = {
	...{ value: 'E2M1', store: { PackedNative: 0 }, mode: 'Symmetric', tensor: 'F32' },
	block: { size: { storage: [16, 1, 1, 1, 1], len: 1 }, dtype: 'UE4M3' },
};

test("a scheme in Burn's words is explained", () => {
	const path = file('nvfp4.json', nvfp4);
	const text = done('schemes', path);
	assert.match(text, /^burn:nvfp4: E2M1 weights/);
	assert.match(text, /codes of 4 bits as a device's own type: two floats of 4 bits a byte/);
	const { name, planes } = JSON.parse(done('schemes', path, '--json'));
	assert.equal(name, 'burn:nvfp4');
	assert.deepEqual(
		planes.map(({ dtype, nbytes }) => [dtype, nbytes]),
		[
			['U8', 4096 * 2048],
			['U8', 4096 * 256],
			['F32', 4],
		],
	);
	const along = file('along.json', { value: 'Q4S', store: { PackedU32: 1 }, block: { size: [32], dtype: 'F16' } });
	assert.match(
		done('schemes', along),
		/words of 32, .* along the axis 1 from the last, which changes places with it/,
	);
});

test('mistakes are named with the file', () => {
	const path = file('wrong.json', { value: 'Q4', store: 'Native', mode: 'Affine' });
	fails(2, /wrong\.json: value: expected one of .*; mode: expected one of Symmetric, Lookup/, 'schemes', path);
});

test('a file of weights does not hold it', () => {
	const out = join(folder, 'out.safetensors');
	const model = join(folder, 'model.safetensors');
	const header = JSON.stringify({ 'a.weight': { dtype: 'F32', shape: [2, 16], data_offsets: [0, 128] } });
	const size = Buffer.alloc(8);
	size.writeBigUInt64LE(BigInt(header.length));
	writeFileSync(model, Buffer.concat([size, Buffer.from(header), Buffer.alloc(128)]));
	const path = file('scheme.json', nvfp4);
	fails(
		1,
		/a safetensors file carries compressed-tensors layouts, and burn:nvfp4 is none/,
		'quantize',
		model,
		out,
		'--scheme',
		path,
	);
});
