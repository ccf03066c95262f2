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

/** @typedef {import('./scheme.js').Scheme} Scheme */
/** @typedef {import('./scheme.js').Level} Level */
/** @typedef {import('./scheme.js').Block} Block */
/** @typedef {import('./scheme/read.js').Problem} Problem */
/** @typedef {import('./scheme/sizes.js').Sizes} Sizes */
/** @typedef {import('./arrays/quantize.js').QuantizeOptions} QuantizeOptions */
/** @typedef {import('./arrays/quantize.js').QuantizedTensor} QuantizedTensor */
/** @typedef {import('./arrays/quantize.js').Plane} Plane */
/** @typedef {import('./arrays/compare.js').Comparison} Comparison */
/** @typedef {import('./errors.js').ErrorCode} ErrorCode */
/** @typedef {import('./imatrix/imatrix.js').Imatrix} Imatrix */
/** @typedef {import('./io/sink.js').Sink} Sink */
/** @typedef {import('./io/sink.js').DirectorySink} DirectorySink */
/** @typedef {import('./io/source.js').Source} Source */
/** @typedef {import('./model/types.js').Model} Model */
/** @typedef {import('./model/types.js').ModelTensor} ModelTensor */
/** @typedef {import('./model/plan.js').Plan} Plan */
/** @typedef {import('./model/quantize.js').QuantizeOptions} QuantizeModelOptions */
/** @typedef {import('./model/quantize.js').QuantizeResult} QuantizeModelResult */
/** @typedef {import('./model/dequantize.js').DequantizeOptions} DequantizeModelOptions */
/** @typedef {import('./model/dequantize.js').DequantizeResult} DequantizeModelResult */
/** @typedef {import('./model/compare.js').ModelComparison} ModelComparison */
