// tables.js - compressed-tensors' words, and what they are in a scheme of ours.
// SPDX-License-Identifier: MIT

/** Dtypes of scales that are not the values' own. @type {Record<string, string>} */
export const SCALE_DTYPES = { f8e4m3: 'torch.float8_e4m3fn', e8m0: 'torch.uint8' };

/** Which axes of a block are whole, for a tensor of [batch, heads, tokens, width]: all but the heads. */
export const ATTN_HEAD = Object.freeze([-1, 1, -1, -1]);
