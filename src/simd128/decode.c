/* SPDX-License-Identifier: MIT
 * decode.c - codes to values with one scale (and zero point or min) a group, simd128.
 */
#include "../dtype.h"
#include "number.h"

static inline v128_t values_of(const struct bq_dequantizer *d, v128_t v, size_t cell)
{
	if (d->zero)
		v = bq_f32x4_round_to(d->work, wasm_f32x4_sub(v, wasm_v128_load32_splat(d->zero + cell)));
	v = bq_f32x4_round_to(d->work, wasm_f32x4_mul(v, wasm_v128_load32_splat(d->scale + cell)));
	if (d->min)
		v = wasm_f32x4_sub(v, wasm_v128_load32_splat(d->min + cell));
	v = wasm_v128_bitselect(v, bq_u32x4_splat(BQ_F32_NAN), wasm_f32x4_eq(v, v));
	return bq_f32x4_round_to(d->result, v);
}

/* Sixteen bytes as four vectors of 32-bit lanes. */
static inline void widen_codes(const uint8_t *codes, int is_signed, v128_t out[4])
{
	v128_t bytes = wasm_v128_load(codes), low, high;

	if (is_signed) {
		low = wasm_i16x8_extend_low_i8x16(bytes);
		high = wasm_i16x8_extend_high_i8x16(bytes);
		out[0] = wasm_i32x4_extend_low_i16x8(low);
		out[1] = wasm_i32x4_extend_high_i16x8(low);
		out[2] = wasm_i32x4_extend_low_i16x8(high);
		out[3] = wasm_i32x4_extend_high_i16x8(high);
	} else {
		low = wasm_u16x8_extend_low_u8x16(bytes);
		high = wasm_u16x8_extend_high_u8x16(bytes);
		out[0] = wasm_u32x4_extend_low_u16x8(low);
		out[1] = wasm_u32x4_extend_high_u16x8(low);
		out[2] = wasm_u32x4_extend_low_u16x8(high);
		out[3] = wasm_u32x4_extend_high_u16x8(high);
	}
	for (int k = 0; k < 4; k++)
		out[k] = bq_opaque(out[k]);
}

/* A tail of a group is decoded by scalar from its own cell. */
static struct bq_dequantizer at_cell(const struct bq_dequantizer *d, size_t cell)
{
	struct bq_dequantizer tail = *d;

	tail.scale += cell;
	tail.zero = d->zero ? d->zero + cell : NULL;
	tail.min = d->min ? d->min + cell : NULL;
	return tail;
}

/* Codes in 32-bit lanes as floats. */
static inline v128_t widen(uint32_t value, uint32_t kind, v128_t codes)
{
	if (kind != BQ_KIND_FLOAT)
		return wasm_f32x4_convert_i32x4(codes);
	switch (value) {
	case BQ_F8E4M3:
		return bq_f32x4_from_f8e4m3(codes);
	case BQ_F8E5M2:
		return bq_f32x4_from_f8e5m2(codes);
	case BQ_F4E2M1:
		return bq_f32x4_from_f4e2m1(codes);
	default:
		return bq_f32x4_from_f6e2m3(codes);
	}
}

/* The bytes of at most 16 floats: plane k holds byte k of each. */
struct byte_planes {
	v128_t plane[4];
};

static struct byte_planes planes_of_table(const float *codebook)
{
	const v128_t a = wasm_v128_load(codebook), b = wasm_v128_load(codebook + 4), c = wasm_v128_load(codebook + 8),
		     d = wasm_v128_load(codebook + 12);
	const v128_t even_ab = wasm_i8x16_shuffle(a, b, 0, 4, 8, 12, 16, 20, 24, 28, 2, 6, 10, 14, 18, 22, 26, 30);
	const v128_t even_cd = wasm_i8x16_shuffle(c, d, 0, 4, 8, 12, 16, 20, 24, 28, 2, 6, 10, 14, 18, 22, 26, 30);
	const v128_t odd_ab = wasm_i8x16_shuffle(a, b, 1, 5, 9, 13, 17, 21, 25, 29, 3, 7, 11, 15, 19, 23, 27, 31);
	const v128_t odd_cd = wasm_i8x16_shuffle(c, d, 1, 5, 9, 13, 17, 21, 25, 29, 3, 7, 11, 15, 19, 23, 27, 31);
	const struct byte_planes planes = { {
		wasm_i64x2_shuffle(even_ab, even_cd, 0, 2),
		wasm_i64x2_shuffle(odd_ab, odd_cd, 0, 2),
		wasm_i64x2_shuffle(even_ab, even_cd, 1, 3),
		wasm_i64x2_shuffle(odd_ab, odd_cd, 1, 3),
	} };

	return planes;
}

/* Sixteen codes as four vectors of the table's values. */
static inline void look_up(const struct byte_planes *table, const uint8_t *codes, v128_t out[4])
{
	const v128_t index = wasm_v128_load(codes);
	const v128_t byte0 = wasm_i8x16_swizzle(table->plane[0], index), byte1 = wasm_i8x16_swizzle(table->plane[1], index);
	const v128_t byte2 = wasm_i8x16_swizzle(table->plane[2], index), byte3 = wasm_i8x16_swizzle(table->plane[3], index);
	const v128_t low01 = wasm_i8x16_shuffle(byte0, byte1, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	const v128_t high01 = wasm_i8x16_shuffle(byte0, byte1, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
	const v128_t low23 = wasm_i8x16_shuffle(byte2, byte3, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	const v128_t high23 = wasm_i8x16_shuffle(byte2, byte3, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);

	out[0] = wasm_i16x8_shuffle(low01, low23, 0, 8, 1, 9, 2, 10, 3, 11);
	out[1] = wasm_i16x8_shuffle(low01, low23, 4, 12, 5, 13, 6, 14, 7, 15);
	out[2] = wasm_i16x8_shuffle(high01, high23, 0, 8, 1, 9, 2, 10, 3, 11);
	out[3] = wasm_i16x8_shuffle(high01, high23, 4, 12, 5, 13, 6, 14, 7, 15);
}

/* What is done to the codes of a cell: all that a dequantizer says, or in float32, with parameters that make no NaN of a number,
 * the product with the scale; before it a zero point subtracted; after it a min, too. */
enum form { ANY, PRODUCT, ZERO, MIN };

static enum form form_of(const struct bq_dequantizer *d, uint32_t kind)
{
	if (kind == BQ_KIND_FLOAT || d->work != BQ_F32 || d->result != BQ_F32)
		return ANY;
	if (d->min)
		return d->zero ? MIN : ANY; /* codes beside mins count from the lowest */
	return d->zero ? ZERO : PRODUCT;
}

static inline int is_finite(float x)
{
	return (bq_bits(x) & BQ_F32_INFINITY) != BQ_F32_INFINITY;
}

/* Sixteen values of a cell; kind and form are constants where this is called. */
static inline __attribute__((always_inline)) void decode_sixteen(const struct bq_dequantizer *d, uint32_t kind, enum form form,
	const struct byte_planes *table, const uint8_t *codes, size_t cell, float *out)
{
	v128_t v[4];

	if (kind == BQ_KIND_TABLE)
		look_up(table, codes, v);
	else
		widen_codes(codes, kind == BQ_KIND_SIGNED, v);
	for (int k = 0; k < 4; k++) {
		v[k] = kind == BQ_KIND_TABLE ? v[k] : widen(d->value, kind, v[k]);
		if (form == ANY) {
			v[k] = values_of(d, v[k], cell);
		} else {
			if (form != PRODUCT)
				v[k] = wasm_f32x4_sub(v[k], wasm_v128_load32_splat(d->zero + cell));
			v[k] = wasm_f32x4_mul(v[k], wasm_v128_load32_splat(d->scale + cell));
			if (form == MIN)
				v[k] = wasm_f32x4_sub(v[k], wasm_v128_load32_splat(d->min + cell));
		}
		wasm_v128_store(out + 4 * k, v[k]);
	}
}

static inline __attribute__((always_inline)) size_t decode_cell(const struct bq_dequantizer *d, uint32_t kind, enum form form,
	const struct byte_planes *table, const uint8_t *codes, size_t count, size_t cell, float *out)
{
	size_t i = 0;

	BQ_ROLLED
	for (; i + 16 <= count; i += 16)
		decode_sixteen(d, kind, form, table, codes + i, cell, out + i);
	return i;
}

/* kind is a constant where this is called: one loop here, one compiled for each. As a branch in the loop it cost a quarter
 * (w4a16, V8 11.3: 1570 against 2190 Melem/s); what the forms leave out, more than half (2190 against 5700). */
static inline __attribute__((always_inline)) void decode_groups(
	const struct bq_dequantizer *d, uint32_t kind, const uint8_t *codes, size_t count, size_t group, float *out)
{
	const enum form form = form_of(d, kind);
	struct byte_planes table;

	if (kind == BQ_KIND_TABLE)
		table = planes_of_table(d->codebook);
	for (size_t begin = 0, cell = 0; begin < count; begin += group, cell++) {
		const size_t here = count - begin < group ? count - begin : group;
		const uint8_t *const in = codes + begin;
		float *const to = out + begin;
		size_t done;

		if (form == ANY || !is_finite(d->scale[cell]) || (form == MIN && !is_finite(d->min[cell])))
			done = decode_cell(d, kind, ANY, &table, in, here, cell, to);
		else if (form == PRODUCT)
			done = decode_cell(d, kind, PRODUCT, &table, in, here, cell, to);
		else if (form == ZERO)
			done = decode_cell(d, kind, ZERO, &table, in, here, cell, to);
		else
			done = decode_cell(d, kind, MIN, &table, in, here, cell, to);
		if (done < here) {
			const struct bq_dequantizer tail = at_cell(d, cell);

			bq_decode_scalar(&tail, in + done, here - done, here, to + done);
		}
	}
}

void bq_decode_simd128(const struct bq_dequantizer *d, const uint8_t *codes, size_t count, size_t group, float *out)
{
	switch (bq_dtype(d->value)->kind) {
	case BQ_KIND_SIGNED:
		decode_groups(d, BQ_KIND_SIGNED, codes, count, group, out);
		break;
	case BQ_KIND_UNSIGNED:
		decode_groups(d, BQ_KIND_UNSIGNED, codes, count, group, out);
		break;
	case BQ_KIND_TABLE:
		if (d->ncodebook <= 16)
			decode_groups(d, BQ_KIND_TABLE, codes, count, group, out);
		else
			bq_decode_scalar(d, codes, count, group, out);
		break;
	default:
		decode_groups(d, BQ_KIND_FLOAT, codes, count, group, out);
	}
}
