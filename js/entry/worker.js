// worker.js - a module worker (Web Worker or worker_threads): answers { id, call, args } with { id, result } or { id, error }.
// The first message is { id, call: 'init', args: [{ wasm: WebAssembly.Module }] }; { port } is another place to ask at.
// SPDX-License-Identifier: MIT

import { compare } from '../arrays/compare.js';
import { dequantize, fakeQuantize, quantize } from '../arrays/quantize.js';
import { makeInit } from '../core/init.js';
import { schemes } from '../presets.js';
import { answerWith } from '../workers/answer.js';
import { band } from '../workers/band.js';

answerWith({ init: makeInit(() => undefined), band, quantize, dequantize, fakeQuantize, compare, schemes });
