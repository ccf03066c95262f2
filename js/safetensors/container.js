// container.js - safetensors as one of the containers that models come in (js/containers.js).
// SPDX-License-Identifier: MIT

import { quantizedModules } from '../compressed-tensors/modules.js';
import { needOfConfig, plainConfig, quantizedConfig } from './config.js';
import { isIndexName } from './index-file.js';
import { indexOf, layoutModel } from './layout.js';
import { companions, openSafetensors } from './open.js';
import { keeper, refusalOf } from './select.js';
import { isPresetName, safetensorsTarget } from './target.js';

/** As transformers looks for them. */
const USUAL = ['model.safetensors', 'model.safetensors.index.json'];

/** @type {import('../containers.js').Container} */
export const safetensors = {
	// The format has no magic: what is nothing else is read as this.
	recognise: async () => true,
	open: openSafetensors,
	companions,
	isModelFile: (name) => name.endsWith('.safetensors'),
	isIndex: isIndexName,
	mainFiles(names) {
		const usual = USUAL.filter((name) => names.includes(name));
		if (usual.length > 0) return usual.slice(0, 1);
		const indexes = names.filter(isIndexName);
		return indexes.length > 0 ? indexes : names.filter((name) => name.endsWith('.safetensors'));
	},
	hasConfig: true,
	knowsScheme: isPresetName,
	target: safetensorsTarget,
	rules: { refusal: refusalOf, keeper, reason: 'the weight of a linear layer' },
	floats: (tensor) => tensor,
	modules: quantizedModules,
	opaque: () => [],
	layout: layoutModel,
	index: indexOf,
	plainStamp: () => null,
	quantizedConfig,
	needOfConfig,
	plainConfig,
};
