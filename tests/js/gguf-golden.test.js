// gguf-golden.test.js - whole GGUF files, byte for byte those that llama-quantize --pure makes, with importance and without.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { BlockQuantError } from '../../js/errors.js';
import { FILE_TYPES, typeForRows } from '../../js/gguf/ftypes.js';
import { readImatrix } from '../../js/imatrix/imatrix.js';
import { openModel } from '../../js/model/open.js';
import { schemes } from '../../js/presets.js';
import { canMake, quantized } from './gguf-support.js';
import { goldenFolders, ready, sha256 } from './support.js';

before(() => ready());

/** @param {string} path @param {string} name that the output is to say */
async function imatrixAt(path, name) {
	return { ...(await readImatrix(new Uint8Array(readFileSync(path)))), name };
}

for (const folder of goldenFolders.map((each) => join(each, 'gguf')).filter((each) => existsSync(each))) {
	test(`every pure row of ${folder}/results.json whose types are here`, async () => {
		const rows = JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8'));
		const [done, refused, later] = [new Set(), new Set(), new Set()];
		for (const { input, type, pure, imatrix: weights, exit, size, sha256: expected } of rows) {
			if (!(pure || type === 'COPY')) continue;
			const bytes = new Uint8Array(readFileSync(join(folder, input)));
			// The tool ran in this folder: its metadata name the file without a path.
			const imatrix = weights === null ? undefined : await imatrixAt(join(folder, weights), weights);
			const row = `${input}${weights === null ? '' : ' with importance'} ${type}`;
			const options = { scheme: type, imatrix };
			const wanted = FILE_TYPES.find(({ name }) => name === type)?.type;
			// Rows of the "odd" model are no whole blocks of 256: nearly every type falls back.
			const stored = [...new Set((await openModel(bytes)).tensors.map(({ shape }) => shape.at(-1)))].map(
				(width) => (wanted === undefined ? 'F32' : typeForRows(wanted, width)),
			);
			if (exit !== 0) {
				await assert.rejects(quantized(bytes, options), BlockQuantError, row);
				refused.add(row);
			} else if (!stored.every(canMake)) {
				await assert.rejects(quantized(bytes, options), { code: 'unsupported' }, row);
				later.add(row);
			} else {
				const result = await quantized(bytes, options);
				assert.equal(result.bytes.length, size, row);
				assert.equal(sha256(result.bytes), expected, row);
				assert.equal(result.nbytes, size);
				done.add(row);
			}
		}
		assert.ok(done.size >= 90, `${done.size} rows`);
		for (const { name } of schemes()) {
			const files = FILE_TYPES.filter(({ type }) => `ggml:${type.toLowerCase()}` === name);
			const rows = [...done, ...refused].filter((row) => row.includes('llama'));
			if (files.length === 0) continue; // of another system, or a type without a file type of its own
			for (const kind of ['gguf', 'importance'])
				assert.ok(
					files.some((file) => rows.some((row) => row.endsWith(`${kind} ${file.name}`))),
					`${name} has no row (${kind})`,
				);
		}
	});
}
