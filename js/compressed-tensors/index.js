// index.js - compressed-tensors' own vocabulary, under its own names.
// SPDX-License-Identifier: MIT

/** @typedef {import('./quantization-args.js').QuantizationArgs} QuantizationArgs */
/** @typedef {import('./quantization-scheme.js').QuantizationScheme} QuantizationScheme */
/** @typedef {import('./quantization-config.js').QuantizationConfig} QuantizationConfig */

export { configOfModules } from './config-of-modules.js';
export { inferModelFormat, inferModuleFormat, summarizeFormats } from './format.js';
export {
	isMatch,
	isNarrowMatch,
	matchName,
	matchNamedModules,
	matchQuantizableTensors,
	matchTargets,
	schemeFinder,
	schemeOfModule,
} from './match.js';
export { mergeQuantizationConfigs } from './merge.js';
export { isPresetScheme, presetNameToScheme } from './preset-schemes.js';
export { quantizationArgs, writeQuantizationArgs } from './quantization-args.js';
export { quantizationConfig, requiresCalibrationData, writeQuantizationConfig } from './quantization-config.js';
export { quantizationScheme, writeQuantizationScheme } from './quantization-scheme.js';
export { calculateQparams, dynamicQparams, generateGparam } from './qparams.js';
export { dequantize, fakeQuantize, quantize } from './quantize.js';
