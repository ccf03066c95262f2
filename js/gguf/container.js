// container.js - GGUF as one of the containers that models come in (js/containers.js).
// SPDX-License-Identifier: MIT

import { floats } from './floats.js';
import { layoutGguf } from './layout.js';
import { ggufModules, opaqueTensors } from './modules.js';
import { companions, isGguf, openGguf } from './open.js';
import { keptBecause, refusalOf } from './select.js';
import { shardsOf } from './split.js';
import { ggufTarget, isFileType, plainStamp } from './target.js';

/** @type {import('../containers.js').Container} */
export const gguf = {
	recognise: isGguf,
	open: openGguf,
	companions,
	isModelFile: (name) => name.endsWith('.gguf'),
	isIndex: () => false,
	mainFiles(names) {
		const files = names.filter((name) => name.endsWith('.gguf'));
		return files.filter((name) => (shardsOf(name)?.[0] ?? name) === name);
	},
	hasConfig: false,
	knowsScheme: isFileType,
	target: ggufTarget,
	rules: { refusal: refusalOf, keeper: () => keptBecause, reason: 'a weight matrix' },
	floats,
	modules: async (model) => ggufModules(model),
	opaque: opaqueTensors,
	layout: layoutGguf,
	index: () => null,
	plainStamp,
	quantizedConfig: () => ({ config: null, quantizationConfig: null }),
	needOfConfig: () => [],
	plainConfig: () => null,
};
