// workerd.js - for Cloudflare's workerd, which compiles no wasm at run time and imports modules instead.
// SPDX-License-Identifier: MIT

import module from './core.wasm';
import { makeInit } from '../core/init.js';

export * from '../index.js';
export const init = makeInit(() => module);
