// readme.test.js - the README's commands, as a newcomer types them: each works, one after the other, and leaves the files that it names.
// SPDX-License-Identifier: MIT
//
// dist/ is built already (npm test does; by hand: npm run build).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { installCommand, packedProject, root } from './packed.js';
import { lacking, smolLM2 } from './real-models.js';

const blocks = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)]
	.map(([, text]) => text)
	.filter((text) => text.includes('npx blockquant'));
const [safetensors, gguf] = blocks;

/** A project with the package, in the place of the checkout: what is written there is gone at the end. */
let project;
before(() => {
	project = packedProject();
	installCommand(project);
	for (const name of ['tests', '.cache']) symlinkSync(join(root, name), join(project, name));
});
after(() => rmSync(project, { recursive: true, force: true }));

/** @param {string} block @param {string[]} made files with something in them, afterwards */
function runs(block, made) {
	const { status, stdout, stderr } = spawnSync('bash', ['-euc', block], { cwd: project, encoding: 'utf8' });
	assert.equal(status, 0, stderr);
	for (const name of made) assert.ok(statSync(join(project, name)).size > 0, name);
	return stdout;
}

test('there are two blocks of commands', () => {
	assert.equal(blocks.length, 2);
	assert.ok(!safetensors.includes('.gguf') && gguf.includes('.gguf'));
});

test('safetensors', () => {
	const said = runs(safetensors, ['model.safetensors', 'out.safetensors', 'back.safetensors', 'config.json']);
	for (const part of [
		/dry run: nothing is written/,
		/all that differ/,
		/28 weights decoded from ct:w4a16/,
		/weight_packed/,
	])
		assert.match(said, part);
});

test('GGUF', { skip: lacking({ 'SmolLM2 in .cache/venv': smolLM2 }) }, () => {
	const said = runs(gguf, ['smol-f16.gguf', 'smol-q8_0.gguf', 'small.gguf', 'errors.json']);
	for (const part of [/tensors quantized to ggml:q8_0/, /all that differ/, /tensors quantized to ggml:iq2_xs/])
		assert.match(said, part);
});
