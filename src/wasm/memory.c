/* SPDX-License-Identifier: MIT
 * memory.c - what keeps core.wasm free of imports: only the wasm build has this file.
 *
 * Emscripten calls this function whenever memory grows, and imports it where nobody defines it. JavaScript makes new views
 * after every call that can grow memory, so there is nothing to be told.
 */
#include <stddef.h>

void emscripten_notify_memory_growth(size_t memory_index);

void emscripten_notify_memory_growth(size_t memory_index)
{
	(void)memory_index;
}
