// band-worker.js - the worker whose text is inside index and slim: it answers a pool, and nobody else.
// SPDX-License-Identifier: MIT

import { makeInit } from '../core/init.js';
import { answerWith } from '../workers/answer.js';
import { band } from '../workers/band.js';

answerWith({ init: makeInit(() => undefined), band });
