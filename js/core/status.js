// status.js - what each broken rule means, in words.
// SPDX-License-Identifier: MIT

/**
 * What each broken rule means, to a field where that makes a difference ('': any other); docs/schemes.md says more under the same
 * word. @type {Record<string, string | Record<string, string>>}
 */
const RULE_TEXTS = {
	'bad-value': 'value is no dtype for codes, or narrow is not for a signed integer',
	'bad-levels': 'there must be 1 to 3 scale levels, and as many min levels with the same blocks, or none',
	'bad-level-dtype': 'the dtype of a level cannot hold a scale there',
	'bad-block': 'a block has more axes than the tensor, or is no multiple of the block inside it',
	'bad-zero': {
		zero: "a zero point is an integer of the values' signedness, at least as wide, and without mins; of floats f8e4m3 alone has one, of f8e4m3, by rules that add it before rounding",
		symmetric: 'it widens a range, which only the zero point or the mins of integers have',
		'': 'mins go with integer values, and without a zero point',
	},
	'bad-rules': {
		value: 'these rules make no scales for such codes: unsigned ones and i1 need a zero point or mins (i1 at least rules that divide by a span, and no multiplier above), floats rules that round half to even, ggml-e2m1 takes f4e2m1',
		'scales[0]':
			'these rules make no such innermost scale: it must be a float within a tensor-wide multiplier (compressed-tensors), have a sign (ggml-signed), or, an e8m0 of the largest magnitude, stand alone beside a symmetric range',
		'scales[1]': 'by these rules the outer level is a multiplier: one f32 for the tensor',
		'scales[2]': 'by these rules there are at most two levels',
		scales: 'by these rules nested levels come from a search alone',
		'': 'these rules make no zero point and no mins beside such scales',
	},
	'bad-layout':
		'this layout has no place for what the scheme stores: 32-bit words hold integers and tables, nibbles 4 bits and sixes 6 bits without a sign of integers, blocks of ggml- the values and levels of their preset, one array codes that fill words',
	'bad-fused': 'this kernel does not do this scheme',
	'bad-shape': 'a shape has 1 to 5 axes and at most 2^53 values',
	empty: 'a tensor without values cannot be quantized',
	ragged: 'rows are not whole blocks, and this format stores only whole ones',
	odd: 'rows have an odd number of values, and this format stores two in a byte',
	'needs-kernel':
		"only a preset's own kernel does this: name the preset, say another calibration, or give the parameters of blocks",
	'too-big': 'a row, or the rows that share a block, do not fit in memory together',
	'bad-calibration': 'no such calibration, or its argument is out of range',
	'bad-codebook': 'a codebook is 2 to 256 different finite numbers',
	'needs-importance': 'the search of this scheme weighs values by importance, and there is none',
};

/** What is wrong with a call rather than with a scheme or a tensor. @type {Record<string, string>} */
const CALL_TEXTS = {
	'bad-dtype': 'weights are f32, f16 or bf16',
	'bad-kernels': 'this build lacks these kernels',
};

/** @param {string} status @param {string} [field] that is to blame */
export function statusText(status, field = '') {
	const said = CALL_TEXTS[status] ?? RULE_TEXTS[status];
	const text = typeof said === 'string' ? said : (said[field] ?? said['']);
	return status in CALL_TEXTS ? text : `${text} (rule ${status} of docs/schemes.md)`;
}
