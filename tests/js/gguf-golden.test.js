// gguf-golden.test.js - whole GGUF files, byte for byte those that llama-quantize --pure makes, with importance and without.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { FILE_TYPES, fileTypeNamed } from '../../js/gguf/ftypes.js';
import { readImatrix } from '../../js/imatrix/imatrix.js';
import { typeNamed } from '../../js/gguf/types.js';
import { schemes } from '../../js/presets.js';
import { quantized } from './gguf-support.js';
import { goldenFolders, ready, sha256 } from './support.js';

before(() => ready());

/** @param {string} path @param {string} name that the output is to say */
async function imatrixAt(path, name) {
	return { ...(await readImatrix(new Uint8Array(readFileSync(path)))), name };
}

/** What becomes of the rows, by their number: of this repository's file, and of the larger one. */
const COUNTS = {
	136: { equal: 126, refused: 10, recipes: 0 },
	541: { equal: 259, refused: 26, recipes: 256 },
};

/** Our word for what the tool says of a file that it does not make. @type {[RegExp, string][]} */
const REFUSALS = [
	[/this quantization requires an imatrix/, 'needs-importance'],
	[/no tensor type fallback is defined/, 'bad-shape'],
];

/** A type of files that the tool does not make: gguf-judge.test.js compares it. */
const NO_ROWS = 'ggml:nvfp4';

for (const folder of goldenFolders.map((each) => join(each, 'gguf')).filter((each) => existsSync(each))) {
	test(`every row of ${folder}/results.json`, async () => {
		const rows = JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8'));
		const [equal, refused, recipes] = [new Set(), new Set(), new Set()];
		for (const { input, type, pure, imatrix: weights, exit, error, size, sha256: expected } of rows) {
			const bytes = new Uint8Array(readFileSync(join(folder, input)));
			// The tool ran in this folder: its metadata name the file without a path.
			const imatrix = weights === null ? undefined : await imatrixAt(join(folder, weights), weights);
			const row = `${input}${weights === null ? '' : ' with importance'}${pure ? ' pure' : ''} ${type}`;
			const options = { scheme: type, imatrix, pure };
			const made = fileTypeNamed(type)?.type;
			if (made !== undefined && typeNamed(made).quantized && !pure) {
				await assert.rejects(quantized(bytes, options), { code: 'unsupported', message: /recipe/ }, row);
				recipes.add(row);
			} else if (exit !== 0) {
				const [, code] = REFUSALS.find(([said]) => said.test(error.join())) ?? [];
				await assert.rejects(quantized(bytes, options), { name: 'BlockQuantError', code }, row);
				refused.add(row);
			} else {
				const result = await quantized(bytes, options);
				assert.equal(result.bytes.length, size, row);
				assert.equal(sha256(result.bytes), expected, row);
				assert.equal(result.nbytes, size);
				equal.add(row);
			}
		}
		const counts = { equal: equal.size, refused: refused.size, recipes: recipes.size };
		assert.deepEqual(counts, COUNTS[rows.length]);
		for (const { name } of schemes().filter((each) => each.name.startsWith('ggml:') && each.name !== NO_ROWS)) {
			const files = FILE_TYPES.filter(({ type }) => `ggml:${type.toLowerCase()}` === name);
			const of = [...equal, ...refused].filter((row) => row.startsWith('llama'));
			for (const kind of ['gguf', 'importance'])
				assert.ok(
					files.some((file) => of.some((row) => row.endsWith(`${kind} pure ${file.name}`))),
					`${name} has no row (${kind})`,
				);
		}
	});
}
