// status.js - what each broken rule means, in words.
// SPDX-License-Identifier: MIT

/** What each broken rule means; docs/schemes.md says more under the same word. @type {Record<string, string>} */
const RULE_TEXTS = {
	'bad-value': 'value is no dtype for codes, or narrow is not for a signed integer',
	'bad-levels': 'there must be 1 to 3 scale levels, and as many min levels with the same blocks, or none',
	'bad-level-dtype': 'the dtype of a level cannot hold a scale there',
	'bad-block': 'a block has more axes than the tensor, or is no multiple of the block inside it',
	'bad-zero':
		'a zero point or mins need integer values; a zero point their kind, as many bits and no mins; symmetric one of the two; f8e4m3 may have one of f8e4m3 where the rules add it before rounding',
	'bad-rules': 'these rules do not say how to make the parameters of this scheme',
	'bad-layout': 'this layout has no place for what the scheme stores',
	'bad-fused': 'this kernel does not do this scheme',
	'bad-shape': 'a shape has 1 to 5 axes and at most 2^53 values',
	empty: 'a tensor without values cannot be quantized',
	ragged: 'rows are not whole blocks, and this format stores only whole ones',
	odd: 'rows have an odd number of values, and this format stores two in a byte',
	'needs-kernel':
		"only a preset's own kernel does this: name the preset, say another calibration, or give the parameters of blocks",
	'too-big': 'the rows that share a block do not fit in memory together',
	'bad-calibration': 'no such calibration, or its argument is out of range',
	'bad-codebook': 'a codebook is 2 to 256 different finite numbers',
	'needs-importance': 'the search of this scheme weighs values by importance, and there is none',
};

/** What is wrong with a call rather than with a scheme or a tensor. @type {Record<string, string>} */
const CALL_TEXTS = {
	'bad-dtype': 'weights are f32, f16 or bf16',
	'bad-kernels': 'this build lacks these kernels',
};

/** @param {string} status */
export const statusText = (status) => CALL_TEXTS[status] ?? `${RULE_TEXTS[status]} (rule ${status} of docs/schemes.md)`;
