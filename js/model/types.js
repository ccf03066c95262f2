// types.js - the shapes of the objects that the files of js/model hand to one another.
// SPDX-License-Identifier: MIT

/** @typedef {import('../io/source.js').Source} Source */
/** @typedef {import('../safetensors/read.js').SafetensorsHeader} SafetensorsHeader */
/** @typedef {import('../safetensors/index-file.js').SafetensorsIndex} SafetensorsIndex */

/**
 * A file of a model.
 * @typedef {object} ModelFile
 * @property {string} name
 * @property {Source} source
 * @property {SafetensorsHeader} header
 */

/**
 * @typedef {object} ModelTensor
 * @property {string} name
 * @property {string} dtype as the file says it, e.g. BF16
 * @property {number[]} shape
 * @property {number} nbytes
 * @property {string} file name of the file that it is in
 * @property {(offset: number, length: number) => Promise<Uint8Array>} read bytes of this tensor
 */

/**
 * @typedef {object} Model
 * @property {'safetensors'} format
 * @property {Record<string, string>} metadata of all files together; each file's own is in its header
 * @property {ModelTensor[]} tensors in the files' order
 * @property {ModelFile[]} files
 * @property {(SafetensorsIndex & { name: string }) | null} index
 * @property {string[]} warnings
 */

export {};
