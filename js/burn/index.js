// index.js - blockquant/burn: Burn's own vocabulary: its scheme with what follows from it, its functions, its serialised tensors.
// SPDX-License-Identifier: MIT

export { BlockLayout } from './block-layout.js';
export { BlockSize } from './block-size.js';
export { QuantScheme } from './quant-scheme.js';
export { QuantizedBytes } from './quantized-bytes.js';
export { computeQParams, computeRange } from './ranges.js';
export { scaleToDtype } from './scales.js';
export { globalScaleDtype, globalScaleSize, paramsShape, quantizable, quantizedDataLen, scaleSize } from './sizes.js';
export { QPARAM_ALIGN, QUANT_VALUES, SCALE_DTYPES } from './tables.js';
export { packI8sToU32s, unpackU32sToI8s } from './words.js';
