// folders.js - directories for the tests of files by path; they go when the test file ends.
// SPDX-License-Identifier: MIT

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { llama } from './files-support.js';

export const root = mkdtempSync(join(tmpdir(), 'blockquant-'));
let folders = 0;

after(() => rmSync(root, { recursive: true, force: true }));

/** An empty directory. */
export function folder() {
	const path = join(root, `${folders++}`);
	mkdirSync(path);
	return path;
}

/** A directory with a model of one file, and perhaps its config.json. @param {string} [config] */
export function model(config) {
	const directory = folder();
	writeFileSync(join(directory, 'model.safetensors'), llama(1));
	if (config !== undefined) writeFileSync(join(directory, 'config.json'), config);
	return { directory, path: join(directory, 'model.safetensors') };
}

/** @param {string} path */
export const read = (path) => readFileSync(path, 'utf8');
export const options = { scheme: 'w4a16' };
export const CONFIG = '{"model_type":"llama","rope_theta":10000.0,"eps":1e-05,"architectures":["X"]}';
