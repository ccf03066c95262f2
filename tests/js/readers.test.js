// readers.test.js - what others make of our files: Python's safetensors opens them, and a decoder in numpy that shares no
// code with us (tests/py/decode.py) gets exactly the values that `blockquant dequantize` writes.
// SPDX-License-Identifier: MIT

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { lacking, miniLM } from './real-models.js';
import { root } from './support.js';

const python = join(root, '.cache/venv/bin/python');
const hasReaders = existsSync(python) && spawnSync(python, ['-c', 'import safetensors, numpy']).status === 0;
const noReaders = hasReaders
	? false
	: 'no Python with safetensors and numpy in .cache/venv (scripts/setup.sh --test; is PyPI reachable?)';

const folder = mkdtempSync(join(tmpdir(), 'blockquant-readers-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function run(command, args) {
	const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
	assert.equal(status, 0, `${command} ${args.join(' ')}: ${stderr}`);
	return stdout;
}
const blockquant = (...args) => run(process.execPath, [join(root, 'dist/cli.mjs'), ...args]);

const FORMATS = {
	'ct:w4a16': 'int4',
	'ct:w4a16_asym': 'int4 with zero points',
	'ct:w8a16': 'int8',
	'ct:fp8_dynamic': 'fp8',
	'ct:nvfp4a16': 'nvfp4',
	'ct:mxfp4a16': 'mxfp4',
};

function agrees(model, scheme, modules) {
	const [quantized, plain] = ['quantized', 'plain'].map((name) => join(folder, `${name}.safetensors`));
	blockquant('quantize', model, quantized, '--scheme', scheme);
	blockquant('dequantize', quantized, plain, '--dtype', 'f32');
	const found = JSON.parse(run(python, [join(root, 'tests/py/decode.py'), quantized, plain]));
	assert.deepEqual(found.formats, [FORMATS[scheme]]);
	assert.equal(found.modules, modules);
	assert.ok(found.passed_through > 0);
}

for (const scheme of Object.keys(FORMATS)) {
	for (const dtype of ['bf16', 'f32'])
		test(`${scheme} of a generated ${dtype} model: numpy decodes our values`, { skip: noReaders }, () => {
			const sample = join(folder, `sample-${dtype}.safetensors`);
			if (!existsSync(sample)) blockquant('sample', sample, '--layers', '1', '--dtype', dtype);
			agrees(sample, scheme, 7);
		});
	const skip = noReaders || lacking({ 'all-MiniLM-L6-v2 in .cache/venv': miniLM });
	test(`${scheme} of all-MiniLM-L6-v2: numpy decodes our values`, { skip }, () => agrees(miniLM, scheme, 37));
}
