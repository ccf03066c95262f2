/* SPDX-License-Identifier: MIT
 * simd.h - wasm_simd128.h, or SIMDe's portable one where the target is not WebAssembly, so that sanitizers and fuzzers
 * reach the SIMD kernels too; and what every kernel here needs.
 *
 * Constants of loops come from number.h: V8 13 and later rebuild v128.const on each use inside a loop, at twice the cost.
 */
#ifndef BQ_SIMD_H
#define BQ_SIMD_H

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/wasm/simd128.h>
#endif

/* Keeps LLVM from unrolling a loop: V8 unrolls small ones itself and spills in larger ones. */
#ifdef __clang__
#define BQ_ROLLED _Pragma("clang loop unroll(disable)")
#else
#define BQ_ROLLED
#endif

/* Hides where a vector comes from: LLVM 14 makes scalar code of a conversion of an extension. Later ones do not, and
 * LLVM 19 does not take a vector as an operand. */
static inline v128_t bq_opaque(v128_t v)
{
#if defined(__wasm_simd128__) && __clang_major__ < 16
	__asm__("" : "+r"(v));
#endif
	return v;
}

#endif
