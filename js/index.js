// index.js - what every entry exports, but init(), which knows where the wasm is.
// SPDX-License-Identifier: MIT

export { dequantizeAsync, quantizeAsync } from './arrays/async.js';
export { compare } from './arrays/compare.js';
export { dequantize, fakeQuantize, quantize } from './arrays/quantize.js';
export { repack } from './arrays/repack.js';
export { fromBurn } from './burn/from.js';
export { toBurn } from './burn/to.js';
export { fromCompressedTensors } from './compressed-tensors/from.js';
export { toCompressedTensors } from './compressed-tensors/to.js';
export { fromCoreAI } from './coreai/from.js';
export { toCoreAI } from './coreai/to.js';
export { BlockQuantError } from './errors.js';
export { readImatrix } from './imatrix/imatrix.js';
export { blobSink, memoryDirectory, memorySink } from './io/sink.js';
export { createObserver } from './observers/observer.js';
export { compareModels } from './model/compare.js';
export { dequantizeModel } from './model/dequantize.js';
export { openModel } from './model/open.js';
export { plan } from './model/plan.js';
export { quantizeModel } from './model/quantize.js';
export { schemes } from './presets.js';
export { cloneScheme, formatScheme, makeScheme, parseScheme, sameScheme } from './scheme/object.js';
export { schemeSizes } from './scheme/sizes.js';
export { validateScheme } from './scheme/validate.js';
export { createPool } from './workers/pool.js';
