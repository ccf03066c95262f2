/* SPDX-License-Identifier: MIT
 * test_number.c - number conversions: against their definitions, the specs' vectors and PyTorch's casts (golden data),
 * simd128 against scalar.
 *
 * Usage: test_number [FOLDER]: the golden data, or its folder float; without it that part is skipped.
 */
#include <math.h>

#include "kernels.h"
#include "number.h"
#include "test.h"

struct format {
	uint32_t dtype;
	const char *name;
	unsigned code_nbytes, ncodes;
};

static const struct format formats[] = {
	{ BQ_F16, "f16", 2, 65536 },
	{ BQ_BF16, "bf16", 2, 65536 },
	{ BQ_F8E4M3, "f8e4m3", 1, 256 },
	{ BQ_F8E5M2, "f8e5m2", 1, 256 },
	{ BQ_F4E2M1, "f4e2m1", 1, 16 },
	{ BQ_F6E2M3, "f6e2m3", 1, 64 },
	{ BQ_E8M0, "e8m0", 1, 256 },
	{ BQ_UE4M3, "ue4m3", 1, 256 },
	{ BQ_GGML_UE4M3, "ggml_ue4m3", 1, 256 },
};
enum { NFORMATS = sizeof formats / sizeof *formats };

/* Signed formats whose codes count up with the magnitude; finite: how many codes of one sign are. */
static const struct minifloat {
	uint32_t dtype;
	int mantissa_bits, bias;
	uint32_t finite, sign;
} minifloats[] = {
	{ BQ_F16, 10, 15, 0x7C00, 0x8000 },
	{ BQ_BF16, 7, 127, 0x7F80, 0x8000 },
	{ BQ_F8E4M3, 3, 7, 0x7F, 0x80 },
	{ BQ_F8E5M2, 2, 15, 0x7C, 0x80 },
	{ BQ_F4E2M1, 1, 1, 8, 8 },
	{ BQ_F6E2M3, 3, 1, 32, 0x20 },
	{ BQ_UE4M3, 3, 7, 0x7F, 0 },
};
enum { NMINIFLOATS = sizeof minifloats / sizeof *minifloats };

static const struct format *format_of(uint32_t dtype)
{
	for (size_t f = 0; f < NFORMATS; f++)
		if (formats[f].dtype == dtype)
			return &formats[f];
	abort();
}

static uint32_t code_at(const struct format *format, const void *codes, size_t index)
{
	return format->code_nbytes == 2 ? ((const uint16_t *)codes)[index] : ((const uint8_t *)codes)[index];
}

static void encode(
	const struct bq_kernels *row, const struct format *format, const void *values, size_t count, void *codes)
{
	row->from_f32[format->dtype](values, count, codes);
}

/* One number, 19 times over: a whole step of any kernel, and its tail. */
enum { COPIES = 19 };

static uint32_t code_of(const struct bq_kernels *row, const struct format *format, uint32_t bits)
{
	uint32_t values[COPIES];
	uint16_t codes[COPIES];

	for (int i = 0; i < COPIES; i++)
		values[i] = bits;
	encode(row, format, values, COPIES, codes);
	for (int i = 1; i < COPIES; i++)
		CHECK(code_at(format, codes, i) == code_at(format, codes, 0), "%s %08x, copy %d: %x, not %x", format->name,
			bits, i, code_at(format, codes, i), code_at(format, codes, 0));
	return code_at(format, codes, 0);
}

static uint32_t value_of(const struct bq_kernels *row, const struct format *format, uint32_t code)
{
	uint16_t wide[COPIES];
	uint8_t narrow[COPIES];
	uint32_t values[COPIES];

	for (int i = 0; i < COPIES; i++) {
		wide[i] = (uint16_t)code;
		narrow[i] = (uint8_t)code;
	}
	row->to_f32[format->dtype](format->code_nbytes == 2 ? (void *)wide : (void *)narrow, COPIES, (float *)values);
	for (int i = 1; i < COPIES; i++)
		CHECK(
			values[i] == values[0], "%s code %x, copy %d: %08x, not %08x", format->name, code, i, values[i], values[0]);
	return values[0];
}

static int is_nan(uint32_t bits)
{
	return (bits & 0x7FFFFFFF) > BQ_F32_INFINITY;
}

/* ---- definitions ---- */

static void codes_decode_to_their_value(const struct bq_kernels *row)
{
	for (size_t m = 0; m < NMINIFLOATS; m++) {
		const struct minifloat *mini = &minifloats[m];
		const struct format *format = format_of(mini->dtype);

		for (uint32_t code = 0; code < mini->finite; code++) {
			const uint32_t exponent = code >> mini->mantissa_bits;
			const uint32_t fraction = code & ((1u << mini->mantissa_bits) - 1);
			const uint32_t significand = fraction + (exponent ? 1u << mini->mantissa_bits : 0);
			const double value = ldexp(significand, (exponent ? (int)exponent : 1) - mini->bias - mini->mantissa_bits);
			const uint32_t got = value_of(row, format, code);

			CHECK(got == bq_bits((float)value), "%s %x: %a, not %a", format->name, code, bq_float(got), value);
			if (mini->sign)
				CHECK(value_of(row, format, code | mini->sign) == (got | 0x80000000), "%s %x", format->name,
					code | mini->sign);
		}
	}
}

static void codes_survive_the_round_trip(const struct bq_kernels *row)
{
	for (size_t f = 0; f < NFORMATS; f++) {
		const struct format *format = &formats[f];

		for (uint32_t code = 0; code < format->ncodes; code++) {
			const uint32_t bits = value_of(row, format, code);
			const uint32_t back = code_of(row, format, bits);

			if (format->dtype == BQ_GGML_UE4M3)
				continue; /* decodes to half of what it encodes: below */
			if (is_nan(bits))
				CHECK(is_nan(value_of(row, format, back)), "%s %x: NaN became %x", format->name, code, back);
			else
				CHECK(back == (format->dtype == BQ_UE4M3 ? code & 0x7F : code), "%s %x became %x", format->name, code,
					back);
		}
	}
}

/* Between each pair of neighbours: the midpoint goes to the even code, one ulp to either side decides. */
static void encoding_rounds_to_nearest_even(const struct bq_kernels *row)
{
	for (size_t m = 0; m < NMINIFLOATS; m++) {
		const struct minifloat *mini = &minifloats[m];
		const struct format *format = format_of(mini->dtype);

		for (uint32_t code = 0; code + 1 < mini->finite; code++) {
			const float below = bq_float(value_of(row, format, code));
			const float above = bq_float(value_of(row, format, code + 1));
			const uint32_t middle = bq_bits((float)(((double)below + above) / 2));

			for (int side = -1; side <= 1; side++) {
				const uint32_t want = side ? code + (side > 0) : code + (code & 1);
				const uint32_t got = code_of(row, format, middle + (uint32_t)side);

				CHECK(got == want, "%s %08x%+d: %x, not %x", format->name, middle, side, got, want);
				if (mini->sign) {
					const uint32_t negative = code_of(row, format, (middle + (uint32_t)side) | 0x80000000);

					CHECK(negative == (want | mini->sign), "%s -%08x%+d: %x", format->name, middle, side, negative);
				}
			}
		}
	}
}

struct vector {
	uint32_t dtype, bits, code;
};

/* From the tests of compressed-tensors, cubek (Burn) and ggml's definitions; PyTorch for what is out of range. */
static const struct vector vectors[] = {
	{ BQ_F16, 0, 0 }, { BQ_F16, 0x80000000, 0x8000 }, { BQ_F16, 1, 0 }, { BQ_F16, 0x807FFFFF, 0x8000 },
	{ BQ_F16, 0x33000000, 0 }, { BQ_F16, 0x33000001, 1 }, { BQ_F16, 0x477FEFFF, 0x7BFF },
	{ BQ_F16, 0x477FF000, 0x7C00 }, { BQ_F16, 0x7F7FFFFF, 0x7C00 }, { BQ_F16, 0xFF800000, 0xFC00 },
	{ BQ_F16, 0x7F800001, 0x7E00 }, { BQ_F16, 0xFFFFFFFF, 0xFE00 },
	{ BQ_BF16, 0x80000000, 0x8000 }, { BQ_BF16, 0x00008000, 0 }, { BQ_BF16, 0x00008001, 1 },
	{ BQ_BF16, 0x7F7F7FFF, 0x7F7F }, { BQ_BF16, 0x7F7F8000, 0x7F80 }, { BQ_BF16, 0x7F800000, 0x7F80 },
	{ BQ_BF16, 0x7F800001, 0x7FC0 }, { BQ_BF16, 0xFFFFFFFF, 0xFFFF }, { BQ_BF16, 0xFFA50000, 0xFFE5 },
	{ BQ_F8E4M3, 0x80000000, 0x80 }, { BQ_F8E4M3, 0x3F880000, 0x38 }, { BQ_F8E4M3, 0x3F980000, 0x3A },
	{ BQ_F8E4M3, 0x40133333, 0x41 }, { BQ_F8E4M3, 0x43DFF333, 0x7E }, { BQ_F8E4M3, 0x43E80000, 0x7E },
	{ BQ_F8E4M3, 0x43E80001, 0x7F }, { BQ_F8E4M3, 0xC47A0000, 0xFF }, { BQ_F8E4M3, 0x7F800000, 0x7F },
	{ BQ_F8E4M3, 0xFF800000, 0xFF }, { BQ_F8E4M3, 0x7FC00000, 0x7F }, { BQ_F8E4M3, 0xFF800001, 0xFF },
	{ BQ_F8E4M3, 0x3B000000, 0x01 }, { BQ_F8E4M3, 0x3A800000, 0x00 }, { BQ_F8E4M3, 0x3A800001, 0x01 },
	{ BQ_F8E4M3, 0x3B400000, 0x02 }, { BQ_F8E4M3, 0x3C600000, 0x07 }, { BQ_F8E4M3, 0x00000001, 0x00 },
	{ BQ_F8E5M2, 0x476FFFFF, 0x7B }, { BQ_F8E5M2, 0x47700000, 0x7C }, { BQ_F8E5M2, 0xFF800000, 0xFC },
	{ BQ_F8E5M2, 0x7F800001, 0x7F }, { BQ_F8E5M2, 0xFFC00000, 0xFF }, { BQ_F8E5M2, 0x37000000, 0x00 },
	{ BQ_F8E5M2, 0x37000001, 0x01 }, { BQ_F8E5M2, 0x80000000, 0x80 },
	/* .2 .3 1.4 2.6 4.9 5.5 */
	{ BQ_F4E2M1, 0x3E4CCCCD, 0 }, { BQ_F4E2M1, 0x3E99999A, 1 }, { BQ_F4E2M1, 0x3FB33333, 3 },
	{ BQ_F4E2M1, 0x40266666, 5 }, { BQ_F4E2M1, 0x409CCCCD, 6 }, { BQ_F4E2M1, 0x40B00000, 7 },
	/* ties: .25 .75 1.25 1.75 2.5 3.5 5; then -.25 -5 7 100 inf -inf 0 -0, the least negative, NaN and -NaN */
	{ BQ_F4E2M1, 0x3E800000, 0 }, { BQ_F4E2M1, 0x3F400000, 2 }, { BQ_F4E2M1, 0x3FA00000, 2 },
	{ BQ_F4E2M1, 0x3FE00000, 4 }, { BQ_F4E2M1, 0x40200000, 4 }, { BQ_F4E2M1, 0x40600000, 6 },
	{ BQ_F4E2M1, 0x40A00000, 6 }, { BQ_F4E2M1, 0xBE800000, 8 }, { BQ_F4E2M1, 0xC0A00000, 14 },
	{ BQ_F4E2M1, 0x40E00000, 7 }, { BQ_F4E2M1, 0x42C80000, 7 }, { BQ_F4E2M1, 0x7F800000, 7 },
	{ BQ_F4E2M1, 0xFF800000, 15 }, { BQ_F4E2M1, 0, 0 }, { BQ_F4E2M1, 0x80000000, 8 },
	{ BQ_F4E2M1, 0x80000001, 8 }, { BQ_F4E2M1, 0x7FC00000, 7 }, { BQ_F4E2M1, 0xFFC00000, 7 },
	{ BQ_F4E2M1, 0xFF800001, 7 },
	/* 7.5 7.75 100 inf -inf NaN -NaN -0; half of the least, one ulp more */
	{ BQ_F6E2M3, 0x40F00000, 0x1F }, { BQ_F6E2M3, 0x40F80000, 0x1F }, { BQ_F6E2M3, 0x42C80000, 0x1F },
	{ BQ_F6E2M3, 0x7F800000, 0x1F }, { BQ_F6E2M3, 0xFF800000, 0x3F }, { BQ_F6E2M3, 0x7FC00000, 0x1F },
	{ BQ_F6E2M3, 0xFF800001, 0x1F }, { BQ_F6E2M3, 0x80000000, 0x20 }, { BQ_F6E2M3, 0x3D800000, 0 },
	{ BQ_F6E2M3, 0x3D800001, 1 },
	/* 0 -0 -1, the largest subnormal, 2^-127, 2^-126, just below 1, 1, 1.75, .25, the largest, inf, -inf, NaN, -NaN */
	{ BQ_E8M0, 0, 0 }, { BQ_E8M0, 0x80000000, 0 }, { BQ_E8M0, 0xBF800000, 0 }, { BQ_E8M0, 0x007FFFFF, 0 },
	{ BQ_E8M0, 0x00400000, 0 }, { BQ_E8M0, 0x00800000, 1 }, { BQ_E8M0, 0x3F7FFFFF, 126 },
	{ BQ_E8M0, 0x3F800000, 127 }, { BQ_E8M0, 0x3FE00000, 127 }, { BQ_E8M0, 0x3E800000, 125 },
	{ BQ_E8M0, 0x7F7FFFFF, 254 }, { BQ_E8M0, 0x7F800000, 254 }, { BQ_E8M0, 0xFF800000, 0 },
	{ BQ_E8M0, 0x7F800001, 255 }, { BQ_E8M0, 0xFFC00000, 255 },
	/* 0 -0 -1 .5, halfway to the least and one ulp more, 448 449 464 inf -inf NaN -NaN, .0390625 2^-6 */
	{ BQ_UE4M3, 0, 0 }, { BQ_UE4M3, 0x80000000, 0 }, { BQ_UE4M3, 0xBF800000, 0 },
	{ BQ_UE4M3, 0x3F000000, 0x30 }, { BQ_UE4M3, 0x3A800000, 0 }, { BQ_UE4M3, 0x3A800001, 1 },
	{ BQ_UE4M3, 0x43E00000, 0x7E }, { BQ_UE4M3, 0x43E08000, 0x7E }, { BQ_UE4M3, 0x43E80000, 0x7E },
	{ BQ_UE4M3, 0x7F800000, 0x7E }, { BQ_UE4M3, 0xFF800000, 0 }, { BQ_UE4M3, 0x7FC00000, 0x7F },
	{ BQ_UE4M3, 0xFF800001, 0x7F }, { BQ_UE4M3, 0x3D200000, 0x12 }, { BQ_UE4M3, 0x3C800000, 0x08 },
	/* 0 -0 -1 NaN -NaN; half up: 2^-10, one ulp less (the sum with .5 is rounded to 1) and two, 1.0625 and one ulp
	 * less, 1.1875; below 2^-6 at most 7; 240 247 248 256 448 449 inf -inf, the least float32, one ulp below 1 */
	{ BQ_GGML_UE4M3, 0, 0 }, { BQ_GGML_UE4M3, 0x80000000, 0 }, { BQ_GGML_UE4M3, 0xBF800000, 0 },
	{ BQ_GGML_UE4M3, 0x7FC00000, 0 }, { BQ_GGML_UE4M3, 0xFFC00000, 0 }, { BQ_GGML_UE4M3, 0x3A800000, 1 },
	{ BQ_GGML_UE4M3, 0x3A7FFFFF, 1 }, { BQ_GGML_UE4M3, 0x3A7FFFFE, 0 }, { BQ_GGML_UE4M3, 0x3F880000, 0x39 },
	{ BQ_GGML_UE4M3, 0x3F87FFFF, 0x38 }, { BQ_GGML_UE4M3, 0x3F980000, 0x3A }, { BQ_GGML_UE4M3, 0x3C7FFFFF, 7 },
	{ BQ_GGML_UE4M3, 0x3C800000, 8 }, { BQ_GGML_UE4M3, 0x43700000, 0x77 }, { BQ_GGML_UE4M3, 0x43770000, 0x77 },
	{ BQ_GGML_UE4M3, 0x43780000, 0x7E }, { BQ_GGML_UE4M3, 0x43800000, 0x7E },
	{ BQ_GGML_UE4M3, 0x43E00000, 0x7E }, { BQ_GGML_UE4M3, 0x43E08000, 0x7E },
	{ BQ_GGML_UE4M3, 0x7F800000, 0x7E }, { BQ_GGML_UE4M3, 0xFF800000, 0 }, { BQ_GGML_UE4M3, 1, 0 },
	{ BQ_GGML_UE4M3, 0x3F7FFFFF, 0x38 },
};

static void encoding_gives_the_specs_codes(const struct bq_kernels *row)
{
	for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
		const struct format *format = format_of(vectors[v].dtype);
		const uint32_t got = code_of(row, format, vectors[v].bits);

		CHECK(got == vectors[v].code, "%s %08x: %x, not %x", format->name, vectors[v].bits, got, vectors[v].code);
	}
}

/* Here bits is what the code decodes to. */
static const struct vector special_codes[] = {
	{ BQ_F16, 0x7F800000, 0x7C00 }, { BQ_F16, 0xFF800000, 0xFC00 }, { BQ_F16, 0x7FC02000, 0x7C01 },
	{ BQ_F16, 0xFFFFE000, 0xFFFF }, { BQ_F16, 0x33800000, 0x0001 }, { BQ_F16, 0x80000000, 0x8000 },
	{ BQ_BF16, 0x7F810000, 0x7F81 }, { BQ_BF16, 0x00010000, 1 },
	{ BQ_F8E4M3, 0x7FF00000, 0x7F }, { BQ_F8E4M3, 0xFFF00000, 0xFF },
	{ BQ_F8E5M2, 0x7F800000, 0x7C }, { BQ_F8E5M2, 0x7FE00000, 0x7D }, { BQ_F8E5M2, 0x7FC00000, 0x7E },
	{ BQ_F8E5M2, 0xFFE00000, 0xFF },
	{ BQ_F4E2M1, 0xC0C00000, 0xFF }, { BQ_F4E2M1, 0x3F000000, 0xF1 },
	{ BQ_F6E2M3, 0xC0F00000, 0xFF }, { BQ_F6E2M3, 0x3E000000, 0xC1 },
	{ BQ_E8M0, 0x00400000, 0 }, { BQ_E8M0, 0x00800000, 1 }, { BQ_E8M0, 0x3F800000, 127 },
	{ BQ_E8M0, 0x7F000000, 254 }, { BQ_E8M0, 0x7FC00000, 255 },
	{ BQ_UE4M3, 0x7FF00000, 0x7F }, { BQ_UE4M3, 0x7FF00000, 0xFF }, { BQ_UE4M3, 0x3B000000, 0x81 },
	{ BQ_GGML_UE4M3, 0, 0 }, { BQ_GGML_UE4M3, 0, 0x7F }, { BQ_GGML_UE4M3, 0, 0x80 },
	{ BQ_GGML_UE4M3, 0x43700000, 0xFF }, { BQ_GGML_UE4M3, 0x43600000, 0x7E }, { BQ_GGML_UE4M3, 0x3A800000, 1 },
	{ BQ_GGML_UE4M3, 0x3F000000, 0x38 },
};

static void special_codes_decode_as_the_specs_say(const struct bq_kernels *row)
{
	for (size_t v = 0; v < sizeof special_codes / sizeof *special_codes; v++) {
		const struct format *format = format_of(special_codes[v].dtype);
		const uint32_t got = value_of(row, format, special_codes[v].code);

		CHECK(got == special_codes[v].bits, "%s %x: %08x, not %08x", format->name, special_codes[v].code, got,
			special_codes[v].bits);
	}
	for (uint32_t code = 0; code < 0x7F; code++) {
		const float half = bq_float(value_of(row, format_of(BQ_GGML_UE4M3), code));
		const uint32_t back = code_of(row, format_of(BQ_GGML_UE4M3), bq_bits(2 * half));

		CHECK(2 * half == bq_f32_from_ue4m3((uint8_t)code), "ggml_ue4m3 %x: %a", code, half);
		CHECK(back == (code < 0x78 ? code : 0x7E), "ggml_ue4m3 %x became %x", code, back);
	}
}

static void rounding_to_a_working_dtype_is_a_round_trip(void)
{
	CHECK(bq_bits(bq_round_to(BQ_F32, bq_float(0x3F800001))) == 0x3F800001, "f32");
	CHECK(bq_bits(bq_round_to(BQ_F16, bq_float(0x3F801001))) == 0x3F802000, "f16");
	CHECK(bq_bits(bq_round_to(BQ_F16, bq_float(0x477FF000))) == 0x7F800000, "f16");
	CHECK(bq_bits(bq_round_to(BQ_BF16, bq_float(0x3F808000))) == 0x3F800000, "bf16");
	CHECK(bq_bits(bq_round_to(BQ_BF16, bq_float(0x40420000))) == 0x40420000, "bf16"); /* 3.03125 / 1.2109375 is below */
	CHECK(bq_bits(bq_round_to(BQ_BF16, 3.03125f / 1.2109375f)) == 0x40200000, "bf16: 2.5032 is 2.5");
}

static void loads_and_stores_are_little_endian(void)
{
	uint8_t bytes[9] = { 0xEE };

	bq_store64(bytes + 1, 0x8877665544332211u);
	for (int i = 1; i < 9; i++)
		CHECK(bytes[i] == 0x11 * i, "byte %d: %02x", i, bytes[i]);
	CHECK(bq_load16(bytes + 1) == 0x2211 && bq_load32(bytes + 5) == 0x88776655, "%x", bq_load32(bytes + 5));
	bq_store16(bytes + 3, 0xA1B2);
	bq_store32(bytes + 5, 0xF1020304);
	CHECK(bytes[3] == 0xB2 && bytes[4] == 0xA1 && bytes[5] == 4 && bytes[8] == 0xF1 && bytes[0] == 0xEE, "stores");
}

/* ---- rows against scalar ---- */

static void compare_rows(const struct bq_kernels *row, const char *what, const uint32_t *values, size_t count)
{
	uint16_t *want = test_buffer(count * 2, 0), *got = test_buffer(count * 2, 0xFF);

	for (size_t f = 0; f < NFORMATS; f++) {
		encode(&bq_kernels_scalar, &formats[f], values, count, want);
		encode(row, &formats[f], values, count, got);
		for (size_t i = 0; i < count; i++) {
			const uint32_t w = code_at(&formats[f], want, i);
			const uint32_t g = code_at(&formats[f], got, i);

			CHECK(g == w, "%s, %s [%zu] %08x: %x, scalar %x", what, formats[f].name, i, values[i], g, w);
			if (g != w)
				break;
		}
	}
	free(want);
	free(got);
}

static void rows_encode_as_scalar_does(const struct bq_kernels *row)
{
	const size_t nrandom = 2000000, nf16 = 0x7C00;
	uint32_t *values = test_buffer(nrandom * 4, 0), state = 1;

	for (uint32_t i = 0; i < 65536; i++)
		values[i] = i << 16;
	compare_rows(row, "every bf16", values, 65536);

	for (size_t i = 0; i < nrandom; i++)
		values[i] = (test_next(&state) & 0xFFFF0000) | test_next(&state) >> 16;
	compare_rows(row, "random bits", values, nrandom);

	/* Halfway between f16 neighbours and one ulp to either side, both signs: smaller formats' midpoints are among them
	 * or f16 values, which the bf16 patterns hold. */
	for (uint32_t code = 0; code < nf16; code++) {
		const float below = bq_f32_from_f16((uint16_t)code);
		const float above = code + 1 < nf16 ? bq_f32_from_f16((uint16_t)(code + 1)) : 65536.0f;
		const uint32_t middle = bq_bits((float)(((double)below + above) / 2));

		for (uint32_t side = 0; side < 6; side++)
			values[code * 6 + side] = middle + side % 3 - 1 + (side / 3 << 31);
	}
	compare_rows(row, "f16 midpoints", values, nf16 * 6);

	/* E8M0, UE4M3 and the ends of ranges: all near a power of two or a quarter of it. */
	size_t count = 0;
	for (uint32_t exponent = 0; exponent < 256; exponent++)
		for (uint32_t quarter = 0; quarter < 8; quarter++)
			for (uint32_t side = 0; side < 5; side++)
				values[count++] = ((exponent << 23 | (quarter & 3) << 21) + side - 2) ^ quarter >> 2 << 31;
	compare_rows(row, "powers of two", values, count);
	free(values);
}

static void rows_decode_as_scalar_does(const struct bq_kernels *row)
{
	const size_t count = 65536;
	uint16_t *wide = test_buffer(count * 2, 0);
	uint8_t *narrow = test_buffer(count, 0);
	uint32_t *want = test_buffer(count * 4, 0), *got = test_buffer(count * 4, 0xFF);

	for (size_t i = 0; i < count; i++) {
		wide[i] = (uint16_t)i;
		narrow[i] = (uint8_t)(i + (i >> 8)); /* every code in every place of a step */
	}
	for (size_t f = 0; f < NFORMATS; f++) {
		const void *codes = formats[f].code_nbytes == 2 ? (const void *)wide : (const void *)narrow;

		bq_kernels_scalar.to_f32[formats[f].dtype](codes, count, (float *)want);
		row->to_f32[formats[f].dtype](codes, count, (float *)got);
		for (size_t i = 0; i < count; i++) {
			CHECK(got[i] == want[i], "%s code %x: %08x, scalar %08x", formats[f].name, code_at(&formats[f], codes, i),
				got[i], want[i]);
			if (got[i] != want[i])
				break;
		}
	}
	free(wide);
	free(narrow);
	free(want);
	free(got);
}

/* Buffers end where the arrays do (AddressSanitizer), begin one element late, and the element before stays. */
static void any_length_writes_its_values_only(const struct bq_kernels *row)
{
	uint32_t state = 7;

	for (size_t f = 0; f <= NFORMATS; f++) {
		const uint32_t dtype = f < NFORMATS ? formats[f].dtype : BQ_F32;
		const size_t nbytes = f < NFORMATS ? formats[f].code_nbytes : 4;

		for (size_t count = 0; count <= 40; count++) {
			float *values = test_buffer((count + 1) * 4, 0), *decoded = test_buffer((count + 1) * 4, 0xA5);
			float *want_decoded = test_buffer((count + 1) * 4, 0xA5);
			uint8_t *codes = test_buffer((count + 1) * nbytes, 0xA5), *want = test_buffer((count + 1) * nbytes, 0xA5);

			for (size_t i = 0; i <= count; i++)
				values[i] = test_normal(&state);
			bq_kernels_scalar.from_f32[dtype](values + 1, count, want + nbytes);
			row->from_f32[dtype](values + 1, count, codes + nbytes);
			CHECK(memcmp(codes, want, (count + 1) * nbytes) == 0, "encode, dtype %u, %zu values", dtype, count);
			bq_kernels_scalar.to_f32[dtype](want + nbytes, count, want_decoded + 1);
			row->to_f32[dtype](codes + nbytes, count, decoded + 1);
			CHECK(memcmp(decoded, want_decoded, (count + 1) * 4) == 0, "decode, dtype %u, %zu values", dtype, count);
			free(values);
			free(decoded);
			free(want_decoded);
			free(codes);
			free(want);
		}
	}
}

static void set_value(void *values, uint32_t dtype, size_t index, uint32_t bits)
{
	if (dtype == BQ_F32)
		((uint32_t *)values)[index] = bits;
	else
		((uint16_t *)values)[index] = (uint16_t)(dtype == BQ_F16 ? bits >> 16 & 0x8000 ? 0xFC00 : 0x7C01 : bits >> 16);
}

static void nonfinite_values_are_counted_and_the_first_is_named(const struct bq_kernels *row)
{
	static const uint32_t dtypes[] = { BQ_F32, BQ_F16, BQ_BF16 };

	for (size_t d = 0; d < 3; d++) {
		const uint32_t dtype = dtypes[d];
		const size_t nbytes = dtype == BQ_F32 ? 4 : 2;

		for (size_t count = 0; count <= 80; count++) {
			uint8_t *buffer = test_buffer((count + 1) * nbytes, 0), *values = buffer + nbytes;
			size_t first = 12345;

			set_value(buffer, dtype, 0, 0x7F800000); /* before the start: not looked at */
			for (size_t i = 0; i < count; i++) {	 /* the largest finite ones */
				const uint32_t most = dtype == BQ_F16 ? 0x7BFF : dtype == BQ_BF16 ? 0xFF7F : 0xFF7FFFFF;

				memcpy(values + i * nbytes, &most, nbytes);
			}
			CHECK(row->count_nonfinite(values, dtype, count, &first) == 0, "dtype %u, %zu values", dtype, count);
			CHECK(first == 12345, "first of none: %zu", first);
			for (size_t i = count; i-- > 0;) {
				set_value(values, dtype, i, i & 1 ? 0xFF800000 : 0x7F810000);
				const size_t found = row->count_nonfinite(values, dtype, count, &first);

				CHECK(found == count - i && first == i, "dtype %u, %zu of %zu: %zu, first %zu", dtype, count - i, count,
					found, first);
			}
			free(buffer);
		}
	}
}

static void convert_takes_float32_on_one_side(uint32_t kernels)
{
	const float values[3] = { 1.0f, -0.5f, 448.0f };
	uint8_t codes[3] = { 0 };
	float back[3] = { 0 };

	CHECK(bq_convert(kernels, BQ_F32, BQ_F8E4M3, 3, values, codes) == 0, "f32 to f8e4m3");
	CHECK(codes[0] == 0x38 && codes[1] == 0xB0 && codes[2] == 0x7E, "%02x %02x %02x", codes[0], codes[1], codes[2]);
	CHECK(bq_convert(kernels, BQ_F8E4M3, BQ_F32, 3, codes, back) == 0 && memcmp(values, back, sizeof back) == 0,
		"and back");
	memset(back, 0, sizeof back);
	CHECK(bq_convert(kernels, BQ_F32, BQ_F32, 3, values, back) == 0 && memcmp(values, back, sizeof back) == 0, "copy");
	memset(back, 0, sizeof back);
	CHECK(bq_convert(kernels, BQ_F16, BQ_BF16, 1, values, back) == 1, "neither is f32");
	CHECK(bq_convert(kernels, BQ_F32, BQ_I8, 1, values, back) == 1, "no such number");
	CHECK(bq_convert(kernels, BQ_NONE, BQ_F32, 1, values, back) == 1, "no such number");
	CHECK(bq_convert(kernels, BQ_NDTYPES, BQ_F32, 1, values, back) == 1, "no such dtype");
	CHECK(bq_convert(kernels, BQ_F32, 0xFFFFFFFF, 1, values, back) == 1, "no such dtype");
	CHECK(bq_convert(kernels, 0xFFFFFFFF, BQ_F32, 1, values, back) == 1, "no such dtype");
	CHECK(bq_convert(BQ_NKERNELS, BQ_F32, BQ_F16, 1, values, back) == 1, "no such row");
	CHECK(back[0] == 0 && back[1] == 0 && back[2] == 0, "a refusal writes nothing");
}

/* The least value that is not below: it is one, and the code below it is too small. */
static void scales_are_rounded_up(void)
{
	static const struct { uint32_t dtype, nbytes, last; } to[] = {
		{ BQ_F16, 2, 0x7BFF }, { BQ_BF16, 2, 0x7F7F }, { BQ_UE4M3, 1, 0x7E }, { BQ_F8E4M3, 1, 0x7E }, { BQ_E8M0, 1, 254 },
	};

	for (size_t t = 0; t < sizeof to / sizeof to[0]; t++) {
		for (uint32_t code = 0; code <= to[t].last; code++) {
			const uint16_t codes[2] = { (uint16_t)code, (uint16_t)(code + 1) };
			float x = 0, next = 0;

			bq_convert(BQ_SCALAR, to[t].dtype, BQ_F32, 1, &codes[0], &x);
			CHECK(bq_round_up(to[t].dtype, x) == x, "%u: code %u", to[t].dtype, code);
			if (code == to[t].last) {
				CHECK(bq_round_up(to[t].dtype, bq_float(bq_bits(x) + 1)) == x, "%u: above the last", to[t].dtype);
				CHECK(bq_round_up(to[t].dtype, INFINITY) == x, "%u: infinity", to[t].dtype);
				continue;
			}
			bq_convert(BQ_SCALAR, to[t].dtype, BQ_F32, 1, &codes[1], &next);
			CHECK(bq_round_up(to[t].dtype, bq_float(bq_bits(x) + 1)) == next, "%u: just above code %u", to[t].dtype, code);
			CHECK(bq_round_up(to[t].dtype, bq_float(bq_bits(next) - 1)) == next, "%u: just below code %u", to[t].dtype, code + 1);
		}
		CHECK(bq_bits(bq_round_up(to[t].dtype, bq_float(0xFFC12345))) == BQ_F32_NAN, "%u: NaN", to[t].dtype);
	}
	CHECK(bq_round_up(BQ_F32, 0.3f) == 0.3f && bq_round_up(BQ_E8M0, 0) == 0x1p-127f, "float32 holds all; E8M0 has no zero");
}

/* ---- golden data ---- */

static void *read_golden(const char *folder, const char *name, size_t *nbytes)
{
	static const char *const places[] = { "%s/float/%s", "%s/%s" };
	char path[1024];
	FILE *file = NULL;

	for (size_t p = 0; p < 2 && !file; p++) {
		snprintf(path, sizeof path, places[p], folder, name);
		file = fopen(path, "rb");
	}
	CHECK(file, "cannot open %s in %s", name, folder);
	if (!file)
		exit(test_done("test_number"));

	enum { MOST = 1 << 20 };
	void *bytes = test_buffer(MOST, 0);

	*nbytes = fread(bytes, 1, MOST, file);
	CHECK(*nbytes < MOST, "%s is larger than expected", path);
	fclose(file);
	return bytes;
}

static void casts_are_those_of_pytorch(const struct bq_kernels *row, const char *folder)
{
	size_t nbytes;
	uint32_t *input = read_golden(folder, "input.f32", &nbytes);
	const size_t count = nbytes / 4;
	uint16_t *got = test_buffer(count * 2, 0);

	for (size_t f = 0; f < 4; f++) {
		char name[32];

		snprintf(name, sizeof name, "%s.bin", formats[f].name);
		uint16_t *want = read_golden(folder, name, &nbytes);

		CHECK(nbytes == count * formats[f].code_nbytes, "%s: %zu bytes", name, nbytes);
		encode(row, &formats[f], input, count, got);
		for (size_t i = 0; i < count; i++) {
			const uint32_t w = code_at(&formats[f], want, i);
			const uint32_t g = code_at(&formats[f], got, i);

			/* A NaN keeps sign and payload in our bf16, as in ggml; PyTorch's CPU cast makes all of them 0x7FC0. */
			if (formats[f].dtype == BQ_BF16 && is_nan(input[i]))
				CHECK(w == 0x7FC0 && g == (input[i] >> 16 | 64), "bf16 NaN %08x: %x", input[i], g);
			else
				CHECK(g == w, "%s %08x: %x, PyTorch %x", formats[f].name, input[i], g, w);
		}
		free(want);
	}
	free(input);
	free(got);
}

static void decoded_codes_are_those_of_pytorch(const struct bq_kernels *row, const char *folder)
{
	static const uint32_t dtypes[] = { BQ_F16, BQ_F8E4M3, BQ_F8E5M2 };

	for (size_t d = 0; d < 3; d++) {
		const struct format *format = format_of(dtypes[d]);
		size_t nbytes;
		char name[32];

		snprintf(name, sizeof name, "%s_decode.f32", format->name);
		uint32_t *want = read_golden(folder, name, &nbytes);

		CHECK(nbytes == format->ncodes * 4, "%s: %zu bytes", name, nbytes);
		for (uint32_t code = 0; code < format->ncodes; code++) {
			const uint32_t got = value_of(row, format, code);

			CHECK(got == want[code], "%s %x: %08x, PyTorch %08x", format->name, code, got, want[code]);
		}
		free(want);
	}
}

int main(int argc, char **argv)
{
	rounding_to_a_working_dtype_is_a_round_trip();
	loads_and_stores_are_little_endian();
	scales_are_rounded_up();
	for (uint32_t id = 0; id < BQ_NKERNELS; id++) {
		const struct bq_kernels *row = bq_kernels(id);

		if (!row)
			continue;
		codes_decode_to_their_value(row);
		codes_survive_the_round_trip(row);
		encoding_rounds_to_nearest_even(row);
		encoding_gives_the_specs_codes(row);
		special_codes_decode_as_the_specs_say(row);
		rows_encode_as_scalar_does(row);
		rows_decode_as_scalar_does(row);
		any_length_writes_its_values_only(row);
		nonfinite_values_are_counted_and_the_first_is_named(row);
		convert_takes_float32_on_one_side(id);
		if (argc > 1) {
			casts_are_those_of_pytorch(row, argv[1]);
			decoded_codes_are_those_of_pytorch(row, argv[1]);
		}
	}
	if (argc < 2)
		printf("test_number: no folder of golden data given, that part is skipped\n");
	return test_done("test_number");
}
