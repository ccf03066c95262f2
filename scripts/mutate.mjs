// mutate.mjs - one line of the core changed at a time: does a test see it? `npm run mutate`.
// SPDX-License-Identifier: MIT
//
// Works in a copy, build/mutate. Each mutant is built natively and given to CTest; one that CTest lets pass is built as
// wasm too and given to tests/js/golden.test.js and builds.test.js. Exit 1 if a mutant survives both. Words as arguments
// choose mutants by their file: `npm run mutate -- q4_k encode.c`.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `from` stands once in its file. A mutant that changes no result on any input has no place here. */
const mutations = [
	['src/scalar/range.c', 'lo[cell] = has_nan ? bq_float(BQ_F32_NAN) : least;', 'lo[cell] = least;', 'a NaN is lost'],
	['src/scalar/range.c', '& 0x7FFFFFFF) > (found', '& 0x7FFFFFFF) >= (found', 'the last of equals'],
	['src/scalar/encode.c', 'rintf(v)', 'roundf(v)', 'half away, not to even'],
	['src/scalar/encode.c', 'roundf(v)', 'rintf(v)', 'half to even, not away'],
	['src/scalar/encode.c', 'truncf(bq_clamp', 'rintf(bq_clamp', 'a field rounded twice'],
	['src/scalar/encode.c', 'v < 2147483648.0f', 'v <= 2147483648.0f', '2^31 fits an int32'],
	['src/scalar/encode.c', 'v / q->scale[cell]', 'v * (1 / q->scale[cell])', 'the reciprocal rounds twice'],
	['src/scalar/encode.c', 'v = bq_round_to(q->work, v);', 'v = v + 0;', 'quotients keep float32'],
	['src/scalar/encode.c', 'distance < least', 'distance <= least', 'the last of equal products'],
	['src/simd128/encode.c', 'lt(distance, least)', 'le(distance, least)', 'the same in lanes'],
	['src/simd128/encode.c', 'wasm_v128_xor(x, scale), 28', 'x, 28', 'products of a negative scale'],
	['src/scalar/range.c', '!skip_nan && x[i] != x[i]', 'x[i] != x[i]', 'a NaN that should be skipped'],
	['src/simd128/range.c', 'hi[cell]) && !skip_nan', 'hi[cell])', 'the same in lanes'],
	['src/ideal.c', 'correct && exponent', 'exponent', 'powers that should wrap'],
	['src/ideal.c', 'if (!isfinite(amax))', 'if (amax != amax)', 'the power of an infinity'],
	['src/parameters.c', 'out[i] != out[i] ? 0 : out[i]', 'out[i]', 'NaN scales above codes of 0'],
	['src/rules.c', '[BQ_GGML_UE4M3] = 1', '[BQ_GGML_UE4M3] = 0', 'a NaN beside numbers'],
	['src/geometry.c', 'next < count ? next : count', 'next', 'siblings in the next row of cells'],
	['src/parameters.c', 'rounded[i] == info->max)', 'rounded[i] > info->max)', 'codes beyond the largest'],
	['src/parameters.c', '(saturates && x[i] > info->max);\n\t\tif', '0;\n\t\tif', 'what a dtype saturates'],
	['src/pack_blocks.c', '^ (eight & ~low)', '^ 0', 'the sign of what is added to'],
	['src/scalar/decode.c', 'bq_round_to(d->work, v * d->scale[cell])', 'v * d->scale[cell]', 'products keep float32'],
	['src/scalar/decode.c', 'v - d->zero[cell]', 'v + d->zero[cell]', 'the sign of a zero point'],
	['src/scalar/pack.c', 'if (filled >= 32)', 'if (filled >= 31)', 'a word of 31 bits'],
	['src/scalar/pack.c', 'pending >>= 32;', 'pending = 0;', 'what straddles a word is lost'],
	['src/scalar/pack.c', '(codes[i + 2] & 63u) << 12', '(codes[i + 2] & 63u) << 11', 'the third six'],
	['src/scalar/ggml_q8_0.c', 'roundf(x[i]', 'rintf(x[i]', 'half to even, not away'],
	['src/scalar/ggml_block32.h', '2 * levels - 1);', '2 * levels);', 'a code of 16'],
	['src/scalar/ggml_block32.h', '(float)levels + 0.5f', '(float)levels + 0.4999f', 'the half of half up'],
	['src/scalar/ggml_block32.h', '* inverse + 0.5f)', '* inverse + 0.4999f)', 'the same above a min'],
	['src/scalar/ggml_block32.h', '>> i << 4 & 16', '>> i << 3 & 16', 'the fifth bits'],
	['src/scalar/ggml_k32.h', '2.0f * bq_sum_of_squares', '1.0f * bq_sum_of_squares', "q4_k's sigma"],
	['src/scalar/ggml_k32.h', 'if (scale == 0.0f)', 'if (scale < 0.0f)', 'codes of a scale of 0'],
	[
		'src/scalar/ggml_q6_k.c',
		'rounded < 127 ? rounded : 127',
		'rounded < 126 ? rounded : 126',
		"q6_k's highest scale",
	],
	['src/scalar/ggml_search.h', '>> shift & 1) << j', '>> shift & 1) << (7 - j)', "q5_k's fifth bits"],
	['src/scalar/ggml_search.h', '(in[l] >> j & 1)', '(in[l] >> (7 - j) & 1)', 'a plane of bits'],
	['src/scalar/ggml_k16.h', 'in[k] >> 4 | codes[64 + k] << 4', 'in[k] >> 4 | codes[k] << 4', "q6_k's upper bits"],
	['src/scalar/ggml_search.h', 'fabsf(field) < bq', 'fabsf(field) <= bq', 'NaNs of infinite scales'],
	['src/scalar/number.c', 'any |= is_nonfinite', 'any = is_nonfinite', 'only the last one counts'],
	['src/scalar/ggml_q2_k.c', 'TOP_SCALE, 255, found.min', 'TOP_SCALE - 1, 255, found.min', "q2_k's mins"],
	['src/scalar/ggml_q3_k.c', '(2.0f * bq_sum_of_squares', '(1.0f * bq_sum_of_squares', "q3_k's sigma"],
	['src/scalar/ggml_search_turns.c', 'pass < 5', 'pass < 2', 'fewer turns'],
	['src/scalar/ggml_search_levels.c', 'k = -7; k <= 7', 'k = -7; k <= 6', 'one candidate less'],
	['src/scalar/ggml_iq4_xs.c', '(2.0f / VALUES)', '(1.0f / VALUES)', "iq4_xs's sigma"],
	['src/ggml_iq_grid.c', 'shells += here > 0;', 'shells++;', 'empty distances count'],
	['src/ggml_iq_grid.c', 'half + nbytes * high', 'half + nbytes * low', 'the upper half of a point'],
	['src/ggml_iq_grid.c', 'distance[k] < last', 'distance[k] + 1u < last', 'one shell less'],
	['src/scalar/ggml_iq.h', 'if (sum < least)', 'if (sum <= least)', 'the last of equals'],
	['src/scalar/ggml_iq.h', 'parity ^= parity >> 2;', 'parity ^= parity >> 3;', 'the eighth sign'],
	['src/scalar/ggml_iq.h', '(float)(2 * code + 1) * 0.125f', '(float)(2 * code + 1) * 0.25f', 'twice the scale'],
	['src/scalar/ggml_iq.c', 'code + 1 - 2 * signs', 'code + 1 - signs', "iq1's shifts"],
	['src/scalar/ggml_iq.c', 'x[order[at - 1]] > x[i]', 'x[order[at - 1]] >= x[i]', 'the order of equals'],
	['src/scalar/ggml_iq.c', 'turned ? 2 - l : l', 'l', 'levels of a negative scale'],
	[
		'src/scalar/ggml_iq_search.h',
		'< (weight[least] * x[least]) * x[least]',
		'<= (weight[least] * x[least]) * x[least]',
		'the last of equals',
	],
	['src/scalar/ggml_iq_search.h', 'even && count % 2', 'even && count % 2 == 0', 'odd numbers of signs'],
	['src/scalar/ggml_iq_search.h', 'k <= work->rule->steps', 'k < work->rule->steps', 'one candidate less'],
	[
		'src/scalar/ggml_iq_search.h',
		'1.0f / inverse, all, &candidate',
		'*scale, all, &candidate',
		'neighbours at the scale so far',
	],
	['src/scalar/ggml_iq_search.h', 'outer * rule->fudge', 'outer', 'the factor of the stored scale'],
	['src/scalar/ggml_iq_search.h', 'rule->plain_sigma * sigma +', '0.0f * sigma +', "iq2_s's weights"],
	['src/scalar/ggml_iq2_xxs.c', '.steps = 6', '.steps = 5', 'two candidates less'],
	['src/scalar/ggml_iq2_xxs.c', 'BQ_IQ_REFINE_ALL', 'BQ_IQ_REFINE_OFF', 'groups on the grid are not rounded again'],
	['src/scalar/ggml_iq2_xs.c', '.sigma = 1.0f', '.sigma = 2.0f', "iq2_xs's sigma"],
	['src/scalar/ggml_iq2_s.c', '.tiny = 1e-8f', '.tiny = 1e-9f', 'what counts as zeros'],
	['src/scalar/ggml_iq3_xxs.c', '.step = 0.2f', '.step = 0.1f', 'smaller steps'],
	[
		'src/scalar/ggml_iq3_s.c',
		'BQ_IQ_REFINE_ALL_IF_OFF',
		'BQ_IQ_REFINE_OFF',
		'groups on the grid are not rounded again',
	],
	['src/scalar/ggml_iq3_s.c', ' && !correct', ' && correct', 'correct and not'],
	['src/scalar/ggml_iq1_s.c', 'down < 2', 'down < 1', 'only shifts up'],
	['src/scalar/ggml_iq1_s.c', 'outer * 1.125f', 'outer * 1.12f', 'the factor of the stored scale'],
	['src/scalar/ggml_iq1_m.c', 'shifts < 4', 'shifts < 3', 'one combination of shifts less'],
	['src/scalar/ggml_iq1_m.c', 'if (square > 0.0f)', 'if (square < 0.0f)', 'the outer scale is not fitted'],
	['src/simd128/ggml_iq.c', 'wasm_i8x16_add(signs, signs)', 'signs', "iq1's shifts"],
	['src/simd128/ggml_iq.c', 'outer != outer', 'outer > outer', 'a NaN of another kind'],
	['src/scalar/ggml_mxfp4.c', 'correct && code < 0 ? 0 : code', 'code', 'correct is ignored'],
	['src/encode.c', 'layout->scattered_half(block) & 0x7C00u', '0u', "iq1_m's scale overflows unseen"],
	['src/encode.c', 'if (has_halves && !any_overflow', 'if (!any_overflow', 'a NaN where no scale is f16'],
	['src/encode.c', 'return any >> 31;', 'return 0;', 'weights that are not finite, in ranges that show them'],
	['src/encode.c', '!bq_skips_nan(&job->encoder)', '1', 'a NaN that ranges pass over'],
	['src/encode.c', 'plan->needs_importance && !importance', '0', 'importance that must be'],
	[
		'src/parameters.c',
		'(2 * grid->value[i][c] + 1) / 8',
		'(2 * grid->value[i][c] + 1) / 4',
		'odd scales, twice as large',
	],
	['src/number.h', '11, 22, 44, 88', '11, 22, 22, 88', 'log2f just below a power of two'],
	['src/scalar/ggml_e2m1.h', 'distance < least', 'distance <= least', 'the last of equals'],
	['src/scalar/ggml_ternary.h', '256 * number + 242', '256 * number + 241', 'trits rounded down'],
	['src/scalar/ggml_q1_0.c', 'x[i] >= 0.0f', 'x[i] > 0.0f', "q1_0's zeros"],
	['src/scalar/ggml_search.c', '| in[j] >> 6 << 4', '| in[j] >> 6 << 5', "the upper bits of q4_k's scales"],
	['src/scalar/ggml_search_min.c', '{ -1.0f, 0.1f, 20, 0 }', '{ -1.0f, 0.1f, 19, 0 }', 'one candidate less'],
	['src/scalar/ggml_search_min.c', '{ -0.9f, 0.05f, 36, 0 }', '{ -0.9f, 0.05f, 35, 0 }', 'one candidate less'],
	['src/scalar/ggml_search_min.c', 'candidate_low > 0.0f', 'candidate_low > 0.001f', 'a min below zero'],
	['src/scalar/ggml_search_min.c', 'if (low > 0.0f)', 'if (low > 1.0f)', 'the range has 0 in it'],
	['src/scalar/ggml_search_positive.c', 'pass < 5', 'pass < 2', 'fewer passes'],
	[
		'src/scalar/ggml_search_signed.c',
		'for (int k = -9; k <= 9; k++)',
		'for (int k = -9; k < 9; k++)',
		'one candidate less',
	],
	['src/simd128/number.c', '*first = i + first_here', '*first = first_here', 'where the first one is'],
	[
		'src/simd128/range.c',
		'nan = wasm_v128_or(nan, wasm_f32x4_ne(v, v))',
		'nan = wasm_f32x4_ne(v, v)',
		'a NaN is lost',
	],
	['src/simd128/encode.c', '0x1.fffffep-2f', '0.5f', 'the largest float below a half rounds up'],
	['src/simd128/encode.c', 'fits = wasm_f32x4_lt(', 'fits = wasm_f32x4_le(', '2^31 fits an int32'],
	['src/simd128/range.c', 'found != negative)', 'found == negative)', 'the first of two signs'],
	[
		'src/simd128/encode.c',
		'wasm_f32x4_trunc(clamp(v, wasm',
		'wasm_f32x4_nearest(clamp(v, wasm',
		'a field rounded twice',
	],
	[
		'src/simd128/decode.c',
		'tail.zero = d->zero ? d->zero + cell',
		'tail.zero = d->zero ? d->zero',
		"a tail's zero point",
	],
	['src/simd128/pack.c', 'wasm_u16x8_shr(second, 4)', 'wasm_u16x8_shr(second, 3)', 'the odd codes'],
	['src/simd128/ggml_search_signed.c', 'best->score, better)', 'best->score, inverse)', 'the score is lost'],
	['src/simd128/ggml_block32.h', '0x4B400000 - (uint32_t)levels', '0x4B400001 - (uint32_t)levels', 'a code less'],
	['src/simd128/ggml_block32.h', 'splat(levels + 0.5f', 'splat(levels + 0.4999f', 'the half of half up'],
	['src/simd128/ggml_search_turns.c', '0.499f', '0.75f', 'codes that should change stay'],
	['src/simd128/ggml_search_turns.c', 'candidates_of(some + k', 'candidates_of(some', 'a candidate is not seen'],
	[
		'src/simd128/ggml_block32_min.h',
		'wasm_v128_any_true(bq_f32x4_nonfinite(range)) ? 15 : 0',
		'(unsigned)wasm_i32x4_bitmask(bq_f32x4_nonfinite(range))',
		'one-sided blocks beside a NaN',
	],
	[
		'src/simd128/ggml_block32_min.h',
		'wasm_v128_or(extremes.positive, wasm_v128_not(extremes.negative))',
		'extremes.positive',
		'the least of positive values',
	],
	['src/simd128/ggml_search_levels.c', '{ 79.0f, 69.0f', '{ 78.0f, 69.0f', 'a bound between levels'],
	['src/simd128/ggml_mxfp4.c', 'bq_u32x4_splat(0x1FFFFF)', 'bq_u32x4_splat(0x0FFFFF)', 'bounds that are too high'],
	['src/simd128/ggml_nvfp4.c', '1e5f', '1e8f', 'distances that round to the same'],
	['src/scalar/planes.h', 'scale == 0 ? info->epsilon : scale', 'scale', 'a scale of 0 stays'],
	['src/scalar/planes.h', 'cells->scale != cells->work', 'cells->scale == cells->work', 'which scales saturate'],
	['src/scalar/planes.h', '.drop_negative_zero = 1', '.drop_negative_zero = 0', '-0'],
	['src/scalar/planes.h', 'largest / highest)', 'largest * (1 / highest))', 'the reciprocal rounds twice'],
	['src/scalar/nvfp4_planes.c', 'code ? code : LEAST_CODE', 'code', 'a scale of 0 stays'],
	[
		'src/scalar/nvfp4_planes.c',
		'bq_round_to(cells->work, largest / 6)',
		'largest / 6',
		'the ideal scale keeps float32',
	],
	['src/scalar/mxfp4_planes.c', ' && isfinite(largest)', '', 'infinite weights count as overflows'],
	['src/scalar/mxfp4_planes.c', '== 0 ? 127 : code', '== 0 ? 0 : code', 'powers that float16 lacks'],
	['src/simd128/planes.h', '-0x1p-134f', '-0x1p-135f', 'negatives that bfloat16 has not'],
	['src/simd128/planes.h', '-0x1p-25f', '-0x1p-24f', "float16's least negatives"],
	['src/simd128/planes.h', '0x1.8p23f + 4)', '0x1.8p23f + 5)', 'codes above 4'],
	['src/simd128/planes.h', 'splat(0x7FFF)), odd)', 'splat(0x7FFF)), wasm_i32x4_splat(1))', 'half up, not to even'],
	['src/simd128/planes.h', 'bq_u32x4_splat(13u << 23)', 'bq_u32x4_splat(12u << 23)', 'a bit more than float16 has'],
	['src/simd128/planes.h', ' || !isfinite(largest)', '', 'quotients that are NaN'],
	['src/simd128/int8_planes.c', '0x1.8p23f', '0x1.8p22f', 'halves'],
	['src/simd128/fp8_planes.c', '0x43E00000', '0x43F00000', '480, which is NaN'],
	['src/simd128/nvfp4_planes.c', 'wasm_f32x4_splat(448)', 'wasm_f32x4_splat(480)', 'a scale beyond E4M3'],
	['src/simd128/nvfp4_planes.c', 'wasm_i32x4_splat(0x20)', 'wasm_i32x4_splat(0x01)', 'a scale of 0 is the least'],
	['src/simd128/mxfp4_planes.c', 'wasm_i32x4_min(largest, infinity)', 'largest', 'NaN is carried to 0'],
	['src/simd128/mxfp4_planes.c', 'found >> (i - first) / GROUP', 'found', 'overflows that are counted twice'],
	['src/simd128/mxfp4_planes.c', 'wasm_i32x4_splat(127 - 24)', 'wasm_i32x4_splat(0)', 'powers that float16 lacks'],
	['src/cells.c', ' + begin / plan->group;', ';', 'scales in the place of the first'],
	['src/cells.c', '? BQ_TILE / plan->group * plan->group', '? BQ_TILE', 'cells cut in two'],
	['src/simd128/ggml_ternary.h', 'wasm_f32x4_le(quotient', 'wasm_f32x4_lt(quotient', 'half away from zero'],
	['src/simd128/ggml_tq1_0.c', 'wasm_i16x8_splat(4316)', 'wasm_i16x8_splat(4315)', 'the inverse of 243'],
	['src/simd128/ggml_k32.h', '= bq_codes_up_to(top,', '= bq_codes_up_to(top + 1,', 'a code of 16'],
	['src/simd128/ggml_k32.h', 'if (scale == 0.0f)', 'if (scale < 0.0f)', 'codes of a scale of 0'],
	[
		'src/simd128/ggml_k16.h',
		'bq_u8x16_splat((uint8_t)(2 * levels - 1))',
		'bq_u8x16_splat((uint8_t)(2 * levels - 2))',
		'the highest code of q3_k and q6_k',
	],
	['src/ideal.c', 'divisor = (max - min) / 2', 'divisor = max', 'int4 divides by 7, not by 7.5'],
	['src/ideal.c', 'rintf(bq_clamp', 'roundf(bq_clamp', 'zero points half away'],
	[
		'src/parameters.c',
		'multiplier = bq_round_to(encoder->work, 1 / amax)',
		'multiplier = 1 / amax',
		'one rounding less',
	],
	['src/parameters.c', 'saturate && dtype != encoder->work', 'saturate && dtype == encoder->work', 'infinite scales'],
	['src/calibrate.c', '/ plan->cols + row) / plan', '/ plan->cols) / plan', 'importance of the first row'],
	['src/ideal.c', 'bq_bits(a) < bq_bits(b) ? b : a', 'bq_bits(a) < bq_bits(b) ? a : b', 'parents of the least child'],
	['src/ideal.c', 'scale[c] < least ? least', 'scale[c] <= 2 * least ? least', "coreai's least scale"],
	['src/ideal.c', 'point = rintf(point);', 'point = roundf(point);', 'zero points half away, after'],
	['src/parameters.c', 'codes[i]++;', 'codes[i] += 0;', 'scales rounded down'],
	['src/parameters.c', '? 0x1p-126f : 0', '? 0x1p-125f : 0', "burn's least scale"],
	['src/parameters.c', 'isfinite(ideal) ? top->decoded : ideal', 'top->decoded', 'a global scale that was replaced'],
	['src/calibrate.c', 'w->weights[i] * (error', '1 * (error', 'errors without importance'],
	['src/calibrate.c', 'count, rank - 1)', 'count, rank - (rank > 1) - 1 + (rank == 1))', 'the percentile before'],
	['src/sum.c', 'exponent ? exponent - 1 : 0', 'exponent', 'subnormals in steps of 2^-148'],
	['src/sum.c', 'half && (sticky || (quotient & 1))', 'half', 'means half up'],
	['src/codebook.c', 'nearest > middle ?', 'nearest < middle ?', 'the end of an entry'],
	['src/scalar/encode.c', 'v > q->codebook_end[i]', 'v >= q->codebook_end[i]', 'the upper of two entries'],
	['src/pack_blocks.c', 'upper[i] = codes[i] >> 4', 'upper[i] = codes[i] >> 5', "q6_k's upper bits"],
	['src/pack_blocks.c', 'low[0] | low[8] << 4', 'low[0] | low[7] << 4', "nvfp4's upper codes"],
	['src/encode.c', 'first < report->first_nonfinite', 'first > report->first_nonfinite', 'the last, not the first'],
	['src/calibrate.c', '*to_hi >= -*to_lo', '*to_hi > -*to_lo', 'ties of given ranges'],
	[
		'src/encode.c',
		'.quotient_work = correct ? BQ_F32 : plan->encode_work',
		'.quotient_work = plan->encode_work',
		'correct is ignored',
	],
	['src/store.c', 'out + 4 * (word * cells + c)', 'out + 4 * (word * cells)', 'zero points in the column of others'],
	['src/number.h', '0x800000u >> carry', '0x1000000u >> carry', 'MX scales grow from 1.5, not from 1.75'],
	['src/number.h', '0x400u >> carry', '0x800u >> carry', 'the same in float16'],
	['src/number.h', '(rest + (code & 1) > half)', '(rest >= half)', 'half up, not to even'],
	['src/number.h', '(bits + 0x7FFF + (bits >> 16 & 1))', '(bits + 0x8000)', 'half up, not to even'],
	['src/number.h', 'magnitude > 0x43E80000', 'magnitude >= 0x43E80000', '464 is NaN'],
	['src/number.h', 'steps < 7 ? steps : 7', 'steps < 8 ? steps : 8', 'a subnormal becomes normal'],
	['src/number.h', 'magnitude > 0x40F00000', 'magnitude > 0x40F80000', '7.75 becomes -0'],
	['src/rules.c', '[BQ_F6E2M3] = 4', '[BQ_F6E2M3] = 2', 'MXFP6 grows from 1.75'],
	['src/layouts.c', 'bq_load16(in) ^ 0x8000', 'bq_load16(in)', "the sign of q4_1's min"],
	['src/layouts.c', 'bq_unpack_bit_plane(in, 2', 'bq_unpack_bit_plane(in, 1', "q3_k's third bits"],
	['src/workspace.c', 'w->ideal = take(&arena, 4 * cells)', 'w->ideal = take(&arena, 0)', 'a workspace too small'],
	[
		'src/lines.c',
		'exchange.between *= plan->dims[axis];',
		'exchange.between += plan->dims[axis];',
		'axes in between',
	],
	['src/lines.c', 'exchange.between *= cells[axis];', 'exchange.between += cells[axis];', 'the same of blocks'],
	['src/lines.c', '(back ? grid : c) * nbytes', '(back ? c : grid) * nbytes', 'scales exchanged once too often'],
	['src/lines.c', 'out[count / 2] = codes[count - 1] & 15;', 'out[count / 2] = 0;', 'the last of an odd line'],
	['src/lines.c', 'codes[count - 1] = in[count / 2] & 15;', 'codes[count - 1] = 0;', 'the same on the way back'],
	['src/lines.c', '(codes[i] ^ half) - half', '(codes[i] ^ half)', 'the sign of a field'],
	['src/lines.c', 'scheme->value == BQ_F4E2M1 ?', 'scheme->value == BQ_I4 ?', 'pairs of codes'],
	['src/lines.c', 'bq_ceil_div(together, 32) * 4', 'together / 32 * 4', 'the last word of a line'],
	[
		'src/store.c',
		'back ? here : unit, back ? unit : here',
		'back ? unit : here, back ? here : unit',
		'the way of a copy',
	],
	[
		'src/plan.c',
		'plan->first_axis = plan->packed_axis;',
		'plan->first_axis = plan->first_axis;',
		'units cut through a line',
	],
	['src/convert.c', 'bq_f16_from_f32(x) + 1', 'bq_f16_from_f32(x)', 'a scale rounded down'],
	['src/convert.c', 'if (x >= 448.0f)', 'if (x >= 464.0f)', 'a scale beyond its dtype'],
	['src/convert.c', 'if (x >= 65504.0f)', 'if (x >= 65536.0f)', 'the same of float16'],
	['src/band.c', 'band->nsteps > total - first_step', 'band->nsteps > total', 'bands beyond the end'],
	['src/observe.c', 'unit.cell[0] + bq_row_cell', 'bq_row_cell', 'units in the cells of the first'],
	['src/observe.c', 'scale[0], row)', 'scale[0], 0)', 'all rows in the first cells of a unit'],
	['src/observe.c', 'rest = (float)(1 - constant)', 'rest = 1 - (float)constant', '1 - c in float32'],
	['src/observe.c', 'bq_round_to(dtype, weight * batch[i])', 'weight * batch[i]', 'one rounding less'],
	['src/plan.c', 'workspace < 2 * MAX_STEP', 'workspace < 16 * MAX_STEP', 'a workspace that 32 bits do not hold'],
].map(([file, from, to, why]) => ({ file, from, to, why }));

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const copy = join(root, 'build/mutate');
const jobs = String(availableParallelism());
const words = process.argv.slice(2);
const chosen = mutations.filter(({ file }) => !words.length || words.some((word) => file.includes(word)));
if (!chosen.length) fail(`mutate: no mutant's file has ${words.join(' or ')} in its name`, 2);
const began = Date.now();

copyRepository();
for (const mutation of chosen) mutated(mutation);
build(['cmake'], 'native', ['-DCMAKE_C_COMPILER=gcc', '-DCMAKE_BUILD_TYPE=Release', '-DBLOCKQUANT_WERROR=OFF']);
for (const tests of [ctest, javascript]) {
	const failed = tests();
	if (failed) fail(`mutate: without a mutation, these fail already: ${failed}`);
}

const rows = chosen.map((mutation) => {
	const path = join(copy, mutation.file);
	const original = readFileSync(path, 'utf8');
	writeFileSync(path, mutated(mutation));
	build([], 'native');
	const killers = ctest() || javascript();
	writeFileSync(path, original);
	const row = [killers || 'SURVIVED', mutation.file, `${mutation.from}  ->  ${mutation.to}`, mutation.why];
	console.log(row.join(' | '));
	return row;
});
const survivors = rows.filter(([killers]) => killers === 'SURVIVED').length;
console.log(`\nmutate: ${rows.length} mutants, ${survivors} survived, ${((Date.now() - began) / 1000).toFixed(0)} s`);
process.exitCode = survivors ? 1 : 0;

/** What the native and wasm builds and the tests read. Times are new, so that nothing of an earlier mutant stays built. */
function copyRepository() {
	mkdirSync(join(copy, 'build'), { recursive: true });
	for (const name of ['include', 'src', 'tests', 'js', 'docs', 'CMakeLists.txt', 'package.json', 'LICENSE']) {
		rmSync(join(copy, name), { recursive: true, force: true });
		cpSync(join(root, name), join(copy, name), { recursive: true });
	}
	link(join(root, 'node_modules'), join(copy, 'node_modules'));
	/* Golden data that is not in the repository, if it is beside it. */
	link(resolve(root, '../shared'), resolve(copy, '../shared'));
	/* builds.test.js wants two native builds; here both are the mutant. */
	link(join(copy, 'build/native'), join(copy, 'build/sanitize'));
}

function link(target, path) {
	rmSync(path, { recursive: true, force: true });
	symlinkSync(target, path);
}

/** The text of the mutation's file with it. */
function mutated({ file, from, to }) {
	const parts = readFileSync(join(copy, file), 'utf8').split(from);
	if (parts.length !== 2) fail(`mutate: ${file} has ${parts.length - 1} of: ${from}`);
	return parts.join(to);
}

/** Configures, if there is a command for that, and builds. A mutant that does not compile is a mistake in the list. */
function build(configure, folder, options = [], target = 'all') {
	const at = `build/${folder}`;
	if (configure.length) must([...configure, '-S', '.', '-B', at, ...options]);
	must(['cmake', '--build', at, '--parallel', jobs, '--target', target]);
}

/** The names of the tests that fail: of the quick ones, or else of ggml's. */
function ctest() {
	return ctestOf('-E') || ctestOf('-R');
}

function ctestOf(which) {
	const { status, stdout } = run([
		'ctest',
		'--test-dir',
		'build/native',
		which,
		'ggml',
		'-j',
		jobs,
		'--timeout',
		'120',
	]);
	if (status === 0) return '';
	return [...stdout.matchAll(/^\s*\d+ - (\w+) \(/gm)].map(([, name]) => name).join(' ') || 'ctest';
}

/** Files of tests that need the wasm build. */
function javascript() {
	const configured = existsSync(join(copy, 'build/wasm/CMakeCache.txt'));
	build(
		configured ? [] : ['emcmake', 'cmake'],
		'wasm',
		['-DCMAKE_BUILD_TYPE=Release', '-DBLOCKQUANT_WERROR=OFF'],
		'core',
	);
	const names = ['golden', 'builds', 'burn-golden', 'coreai-golden', 'calibrations', 'codebooks', 'equivalences'];
	const files = names.map((name) => `tests/js/${name}.test.js`);
	const { status, stdout } = run([process.execPath, '--test', '--test-reporter=tap', ...files]);
	if (status === 0) return '';
	const failed = [...stdout.matchAll(/^not ok \d+ - (.+)$/gm)].map(
		([, name]) => `js: ${name.replace(`${copy}/`, '')}`,
	);
	return failed.join(', ') || 'node --test';
}

function must(command) {
	const { status, stdout, stderr } = run(command);
	if (status !== 0) fail(`${stdout}${stderr}\nmutate: ${command.join(' ')} ended with ${status}`);
}

function run([command, ...args]) {
	const options = { cwd: copy, encoding: 'utf8', maxBuffer: 2 ** 28 };
	const { error, ...result } = spawnSync(command, args, options);
	if (error) fail(`mutate: ${command}: ${error.message}`);
	return result;
}

function fail(message, code = 1) {
	console.error(message);
	process.exit(code);
}
