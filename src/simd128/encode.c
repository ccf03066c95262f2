/* SPDX-License-Identifier: MIT
 * encode.c - values to codes with one scale (and zero point or min) a group, simd128. The choices of struct bq_quantizer are
 * branches that always go the same way, taken once for sixteen values.
 */
#include "../dtype.h"
#include "number.h"

/* Sixteen lanes of four vectors; a struct, so that helpers can take and return them in registers. */
struct sixteen {
	v128_t v[4];
};

static inline struct sixteen round_work(uint32_t work, struct sixteen s)
{
	if (work == BQ_BF16) {
		for (int k = 0; k < 4; k++)
			s.v[k] = bq_f32x4_round_bf16(s.v[k]);
	} else if (work == BQ_F16) {
		for (int k = 0; k < 4; k++)
			s.v[k] = bq_f32x4_round_f16(s.v[k]);
	}
	return s;
}

static inline struct sixteen load(const float *x)
{
	struct sixteen s;

	for (int k = 0; k < 4; k++)
		s.v[k] = wasm_v128_load(x + 4 * k);
	return s;
}

static inline struct sixteen quotients(const struct bq_quantizer *q, int sided, const float *x, size_t cell)
{
	const v128_t scale = wasm_v128_load32_splat(q->scale + cell);
	struct sixteen s = load(x);

	if (sided && q->min) {
		const v128_t min = wasm_v128_load32_splat(q->min + cell);

		for (int k = 0; k < 4; k++)
			s.v[k] = wasm_f32x4_add(s.v[k], min);
		s = round_work(q->work, s);
	}
	if (q->quotient == BQ_DIVIDE) {
		for (int k = 0; k < 4; k++)
			s.v[k] = wasm_f32x4_div(s.v[k], scale);
	} else {
		for (int k = 0; k < 4; k++)
			s.v[k] = wasm_f32x4_mul(s.v[k], scale);
	}
	s = round_work(q->work, s);
	if (sided && q->zero && !q->zero_after) {
		const v128_t zero = wasm_v128_load32_splat(q->zero + cell);

		for (int k = 0; k < 4; k++)
			s.v[k] = wasm_f32x4_add(s.v[k], zero);
		s = round_work(q->work, s);
	}
	return s;
}

static inline v128_t clamp(v128_t v, v128_t min, v128_t max)
{
	return wasm_f32x4_pmin(wasm_f32x4_pmax(v, min), max);
}

/* All ones where an int32 holds the lane. */
static inline v128_t fits_int32(v128_t v)
{
	return wasm_v128_and(wasm_f32x4_ge(v, bq_f32x4_splat(-2147483648.0f)), wasm_f32x4_lt(v, bq_f32x4_splat(2147483648.0f)));
}

/* after: what is added once v is rounded, if the codes have an offset. */
static inline v128_t integers(const struct bq_quantizer *q, uint32_t round, int sided, v128_t v, v128_t after)
{
	v128_t min = bq_f32x4_splat(q->code_min), max = bq_f32x4_splat(q->code_max);
	v128_t fits;

	if (sided && round != BQ_FIELD_HALF_UP) {
		min = wasm_f32x4_sub(min, after);
		max = wasm_f32x4_sub(max, after);
	}
	switch (round) {
	case BQ_HALF_EVEN:
		/* NaN lanes become 0. */
		v = clamp(v, min, max);
		fits = wasm_f32x4_eq(v, v);
		v = bq_i32x4_rounded(v, 0);
		return wasm_v128_and(sided ? wasm_i32x4_add(v, bq_i32x4_rounded(after, 0)) : v, fits);
	case BQ_HALF_AWAY:
		/* roundf is the truncation of v + copysign(the float below 0.5, v) for |v| < 2^22; larger ones are clamped. */
		fits = fits_int32(v);
		v = clamp(v, wasm_f32x4_sub(min, bq_f32x4_splat(1)), wasm_f32x4_add(max, bq_f32x4_splat(1)));
		v = wasm_f32x4_add(v, wasm_v128_bitselect(bq_f32x4_splat(0x1.fffffep-2f), v, bq_u32x4_splat(0x7FFFFFFF)));
		v = clamp(wasm_f32x4_trunc(v), min, max);
		return wasm_v128_and(bq_i32x4_rounded(sided ? wasm_f32x4_add(v, after) : v, 0), fits);
	default:
		/* Field 0 of what no int32 holds: NaN and what is too large; what is too small has it anyway. */
		v = wasm_f32x4_add(v, wasm_f32x4_sub(bq_f32x4_splat(0.5f), min));
		fits = wasm_f32x4_lt(v, bq_f32x4_splat(2147483648.0f));
		v = wasm_v128_and(wasm_f32x4_trunc(clamp(v, wasm_f32x4_splat(0), wasm_f32x4_sub(max, min))), fits);
		return bq_i32x4_rounded(v, (int)q->code_min);
	}
}

/* The low bytes of sixteen integers in -32768..32767. */
static inline v128_t low_bytes(struct sixteen s)
{
	const v128_t mask = bq_u16x8_splat(0xFF);
	v128_t low = wasm_v128_and(wasm_i16x8_narrow_i32x4(s.v[0], s.v[1]), mask);
	v128_t high = wasm_v128_and(wasm_i16x8_narrow_i32x4(s.v[2], s.v[3]), mask);

	return wasm_u8x16_narrow_i16x8(low, high);
}

static inline v128_t minifloats(const struct bq_quantizer *q, v128_t v, int drop_negative_zero)
{
	v = clamp(v, wasm_v128_load32_splat(&q->code_min), wasm_v128_load32_splat(&q->code_max));
	/* Arithmetic NaNs have a sign that differs between machines; scalar makes them positive. */
	v = wasm_v128_bitselect(v, bq_u32x4_splat(BQ_F32_NAN), wasm_f32x4_eq(v, v));
	if (drop_negative_zero)
		v = wasm_v128_andnot(v, wasm_f32x4_eq(v, wasm_f32x4_splat(0)));
	switch (q->value) {
	case BQ_F8E4M3:
		return bq_u32x4_f8e4m3_from_f32(v);
	case BQ_F8E5M2:
		return bq_u32x4_f8e5m2_from_f32(v);
	case BQ_F4E2M1:
		return bq_u32x4_f4e2m1_from_f32(v);
	default:
		return bq_u32x4_f6e2m3_from_f32(v);
	}
}

/* The codes of the nearest entries of a table of at most 16, the lower of two. */
static inline v128_t entries(const struct bq_quantizer *q, struct sixteen s)
{
	struct sixteen found = { { bq_u32x4_splat(0), bq_u32x4_splat(0), bq_u32x4_splat(0), bq_u32x4_splat(0) } };

	BQ_ROLLED
	for (uint32_t i = 0; i + 1 < q->ncodebook; i++) {
		const v128_t end = wasm_v128_load32_splat(q->codebook_end + i);

		for (int k = 0; k < 4; k++)
			found.v[k] = wasm_i32x4_sub(found.v[k], wasm_f32x4_gt(s.v[k], end));
	}
	return wasm_i8x16_swizzle(wasm_v128_load(q->codebook_code), low_bytes(found));
}

/* The E2M1 codes whose products are nearest, the first of equals. Those of the other sign are never nearer than 0, so that
 * magnitudes are compared; what is not 0 gets the sign of its product. */
static inline v128_t products(const v128_t product[8], v128_t scale, v128_t x)
{
	const v128_t magnitude = bq_f32x4_magnitude(x), sign = wasm_v128_and(wasm_u32x4_shr(wasm_v128_xor(x, scale), 28), bq_u32x4_splat(8));
	v128_t least = bq_f32x4_magnitude(wasm_f32x4_sub(product[0], magnitude)), code = wasm_i32x4_splat(0);

	for (int k = 1; k < 8; k++) {
		const v128_t distance = bq_f32x4_magnitude(wasm_f32x4_sub(product[k], magnitude));

		code = wasm_v128_bitselect(bq_u32x4_splat((uint32_t)k), code, wasm_f32x4_lt(distance, least));
		least = wasm_f32x4_pmin(least, distance);
	}
	return wasm_v128_or(code, wasm_v128_andnot(sign, wasm_i32x4_eq(code, wasm_i32x4_splat(0))));
}

static inline int has_nan(struct sixteen s)
{
	v128_t found = wasm_f32x4_ne(s.v[0], s.v[0]);

	for (int k = 1; k < 4; k++)
		found = wasm_v128_or(found, wasm_f32x4_ne(s.v[k], s.v[k]));
	return wasm_v128_any_true(found);
}

/* Values of one group, by scalar. */
static void encode_some(const struct bq_quantizer *q, size_t cell, const float *x, size_t count, uint8_t *codes)
{
	struct bq_quantizer own = *q;

	own.scale += cell;
	own.zero = q->zero ? q->zero + cell : NULL;
	own.min = q->min ? q->min + cell : NULL;
	bq_encode_scalar(&own, x, count, count, codes);
}

enum kind { INTEGERS, FIELDS, MINIFLOATS, ENTRIES, PRODUCTS };

/* kind and sided (whether there is a zero point or min) are constants where this is called: one loop here, one compiled for each. As a branch in the loop it cost a
 * tenth (w4a16, V8 11.3: 1440 against 1590 Melem/s). */
static inline __attribute__((always_inline)) void encode_groups(
	const struct bq_quantizer *given, enum kind kind, int sided, const float *x, size_t count, size_t group, uint8_t *codes)
{
	const struct bq_quantizer own = *given, *const q = &own; /* which codes cannot alias */

	for (size_t begin = 0, cell = 0; begin < count; begin += group, cell++) {
		size_t here = count - begin < group ? count - begin : group, whole = here & ~(size_t)15;
		const int drops = bq_drops_negative_zero(q, cell);
		const v128_t scale = wasm_v128_load32_splat(q->scale + cell);
		v128_t product[8];
		const v128_t after = sided && q->zero && q->zero_after ? wasm_v128_load32_splat(q->zero + cell) : wasm_f32x4_splat(0);

		for (int k = 0; k < 8 && kind == PRODUCTS; k++)
			product[k] = bq_f32x4_magnitude(wasm_f32x4_mul(scale, bq_f32x4_splat(bq_f32_from_f4e2m1((uint8_t)k))));
		BQ_ROLLED
		for (size_t i = begin; i < begin + whole; i += 16) {
			struct sixteen s = kind == PRODUCTS ? load(x + i) : quotients(q, sided, x + i, cell);

			if (kind == MINIFLOATS && q->nan_code && has_nan(s)) {
				encode_some(given, cell, x + i, 16, codes + i);
				continue;
			}
			for (int k = 0; k < 4 && kind != ENTRIES; k++)
				s.v[k] = kind == INTEGERS || kind == FIELDS ? integers(q, kind == FIELDS ? BQ_FIELD_HALF_UP : q->round, sided, s.v[k], after)
					: kind == PRODUCTS    ? products(product, scale, s.v[k])
										  : minifloats(q, s.v[k], drops);
			wasm_v128_store(codes + i, kind == ENTRIES ? entries(q, s) : low_bytes(s));
		}
		if (whole < here)
			encode_some(given, cell, x + begin + whole, here - whole, codes + begin + whole);
	}
}

void bq_encode_simd128(const struct bq_quantizer *q, const float *x, size_t count, size_t group, uint8_t *codes)
{
	if (bq_is_integer(q->value) && (q->min || q->zero))
		encode_groups(q, INTEGERS, 1, x, count, group, codes);
	else if (bq_is_integer(q->value) && q->round == BQ_FIELD_HALF_UP)
		encode_groups(q, FIELDS, 0, x, count, group, codes);
	else if (bq_is_integer(q->value))
		encode_groups(q, INTEGERS, 0, x, count, group, codes);
	else if (q->quotient == BQ_PRODUCTS)
		encode_groups(q, PRODUCTS, 0, x, count, group, codes);
	else if (!q->ncodebook && q->zero)
		encode_groups(q, MINIFLOATS, 1, x, count, group, codes);
	else if (!q->ncodebook)
		encode_groups(q, MINIFLOATS, 0, x, count, group, codes);
	else if (q->ncodebook <= 16)
		encode_groups(q, ENTRIES, 0, x, count, group, codes);
	else
		bq_encode_scalar(q, x, count, group, codes); /* a search of each lane's own */
}
