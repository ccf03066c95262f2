// library.js - the one place that says where the built package is: serve the folder that holds both web-demo/ and dist/.
// SPDX-License-Identifier: MIT

export * from '../dist/index.mjs';
