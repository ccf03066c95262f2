// containers.js - the kinds of files that models come in; a row knows everything that only its kind of file has.
// SPDX-License-Identifier: MIT

import { gguf } from './gguf/container.js';
import { safetensors } from './safetensors/container.js';

/** @typedef {import('./io/source.js').Source} Source */
/** @typedef {import('./model/types.js').Model} Model */
/** @typedef {import('./model/types.js').ModelTensor} ModelTensor */
/** @typedef {import('./model/types.js').OutputFile} OutputFile */
/** @typedef {import('./model/module-job.js').QuantizedModule} QuantizedModule */

/** @typedef {'gguf' | 'safetensors'} Format */

/**
 * @typedef {object} Container
 * @property {(source: Source) => Promise<boolean>} recognise by its name or its first bytes
 * @property {(sources: Source[]) => Promise<Model>} open reads and checks headers
 * @property {(source: Source) => Promise<string[]>} companions names of the other files that the model of this one needs
 * @property {(name: string) => boolean} isModelFile
 * @property {(name: string) => boolean} isIndex whether it names the files of a model
 * @property {(names: string[]) => string[]} mainFiles those of a directory's files that stand for a model, the usual one first
 * @property {boolean} hasConfig a config.json beside a model says how it is quantized
 * @property {(name: string) => boolean} knowsScheme
 * @property {(model: Model, options: import('./model/types.js').TargetOptions) => import('./model/types.js').Target} target
 * @property {import('./model/types.js').SelectRules} rules
 * @property {(tensor: ModelTensor) => import('./model/types.js').FloatTensor} floats
 * @property {(model: Model, config?: string | Uint8Array | null) => Promise<Map<string, QuantizedModule>>} modules quantized
 *   weights by the name of each tensor that belongs to one
 * @property {(model: Model) => ModelTensor[]} opaque quantized tensors that this version cannot decode
 * @property {(model: Model, stepOf: (tensor: ModelTensor) => import('./model/types.js').Step, stamp: any) => OutputFile[]} layout
 * @property {(model: Model, files: OutputFile[]) => { name: string, bytes: Uint8Array } | null} index of the files written
 * @property {(dtype: 'f32' | 'f16' | 'bf16') => any} plainStamp what the layout says of a model whose weights are decoded
 * @property {(decided: import('./model/plan.js').Plan, config?: string | Uint8Array | null) =>
 *   { config: string | null, quantizationConfig: object | null }} quantizedConfig
 * @property {(decided: import('./model/plan.js').Plan) => string[]} needOfConfig why readers of what is planned must have a config.json
 * @property {(config?: string | Uint8Array | null) => string | null} plainConfig
 */

/** The first that recognises a file takes it; the last takes what is left. @type {Record<Format, Container>} */
export const CONTAINERS = { gguf, safetensors };

/** @param {{ format: Format }} model */
export const containerOf = ({ format }) => CONTAINERS[format];

/** Whether some container knows this name of a scheme. @param {string} name */
export const isContainerScheme = (name) => Object.values(CONTAINERS).some((one) => one.knowsScheme(name));

/** Whether a file's name is one of some kind of model. @param {string} name */
export const isModelFile = (name) => Object.values(CONTAINERS).some((one) => one.isModelFile(name));
