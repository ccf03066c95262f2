// library.d.ts - types of library.js from the sources, so that they can be checked before dist/ is built.
// SPDX-License-Identifier: MIT

export * from '../js/entry/inline.js';
export declare const workerUrl: URL;
