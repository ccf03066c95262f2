// format.js - which compression format a quantization scheme is stored in (infer_module_format of
// compressed-tensors 0.20.1).
// SPDX-License-Identifier: MIT

/**
 * @param {{ num_bits: number, type: string, group_size: number | null, scale_dtype?: string | null }} weights
 * @param {unknown} inputs QuantizationArgs of the input activations, or null
 * @returns {string}
 */
export function inferFormat(weights, inputs) {
	const { num_bits: bits, type, group_size: group } = weights;
	if (type === 'float' && bits === 4 && group === 32) return 'mxfp4-pack-quantized';
	if (type === 'float' && bits === 6 && group === 32) return 'mxfp6-pack-quantized';
	if (type === 'float' && bits === 8 && group === 32 && weights.scale_dtype === 'torch.uint8')
		return 'mxfp8-quantized';
	if (type === 'float' && bits === 4 && group === 16) return 'nvfp4-pack-quantized';
	if (type === 'int' && inputs) return 'int-quantized';
	if (type === 'int' && bits >= 1 && bits <= 8) return 'pack-quantized';
	if (type === 'float' && inputs) return 'float-quantized';
	return 'naive-quantized';
}
