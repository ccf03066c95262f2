/* SPDX-License-Identifier: MIT
 * test_definition.c - schemes of any blocks against their definition, and ranges that are given.
 */
#include "geometry.h"
#include "test_stages.h"

/* Cell of a value in the grid of a level of a tensor of dims[0..rank). */
static size_t cell_of(const struct bq_level *level, uint32_t rank, const uint64_t *dims, size_t index)
{
	size_t cell = 0, stride = 1;

	for (uint32_t axis = rank; axis-- > 0 && level->rank;) {
		const uint32_t listed = axis + level->rank;
		uint64_t edge = listed < rank ? 1 : level->edge[listed - rank];

		edge = edge ? edge : dims[axis];
		cell += index % dims[axis] / edge * stride;
		stride *= (dims[axis] + edge - 1) / edge;
		index /= dims[axis];
	}
	return cell;
}

static void ranges_of_cells(const struct bq_level *level, uint32_t rank, const uint64_t *dims, const float *x, size_t count,
	float *lo, float *hi)
{
	memset(lo, 0, count * sizeof(float));
	memset(hi, 0, count * sizeof(float));
	for (size_t i = 0; i < count; i++) {
		const size_t cell = cell_of(level, rank, dims, i);

		lo[cell] = x[i] < lo[cell] ? x[i] : lo[cell];
		hi[cell] = x[i] > hi[cell] ? x[i] : hi[cell];
	}
}

static const struct bq_level levels[] = {
	{ BQ_F32, TENSOR },
	{ BQ_F32, CHANNEL },
	{ BQ_F32, BLOCK(2, 3) },
	{ BQ_F32, BLOCK(0, 5) },
	{ BQ_F32, BLOCK(4, 0) },
	{ BQ_F32, BLOCK(1, 17) },
	{ BQ_F32, BLOCK(100, 100) },
	{ BQ_F32, .rank = 3, .edge = { 2, 3, 4 } },
	{ BQ_F32, .rank = 3, .edge = { 2, 0, 0 } },
	{ BQ_F32, .rank = 3, .edge = { 1, 2, 0 } },
	{ BQ_F32, .rank = 4, .edge = { 2, 1, 3, 40 } },
	{ BQ_F32, .rank = 5, .edge = { 0, 2, 0, 2, 3 } },
};
static const uint64_t shapes[][5] = { { 5, 37 }, { 1, 64 }, { 9, 1 }, { 3, 5, 35 }, { 2, 5, 4, 33 }, { 3, 2, 3, 2, 19 } };

static void check_definition(const struct bq_scheme *scheme, uint32_t rank, const uint64_t *dims, const struct options *options)
{
	static float x[MOST], lo[MOST], hi[MOST];
	const struct bq_level *level = &scheme->scale[0];
	const float *scales;
	struct outcome o;
	size_t count = 1;

	for (uint32_t axis = 0; axis < rank; axis++)
		count *= (size_t)dims[axis];
	fill_normal((uint32_t)count, x, count);
	ranges_of_cells(level, rank, dims, x, count, lo, hi);
	o = run_with(scheme, BQ_F32, rank, dims, x, options);
	scales = (const float *)(const void *)plane_of(&o, BQ_ROLE_SCALE0);
	for (size_t i = 0; i < count; i++) {
		const size_t cell = cell_of(level, rank, dims, i);
		const float amax = hi[cell] > -lo[cell] ? hi[cell] : -lo[cell];
		const float scale = scheme->zero ? (hi[cell] - lo[cell]) / 255 : amax / 127.5f;
		const float zero = scheme->zero ? rintf(-128 - lo[cell] / scale) : 0;
		const float code = rintf(fminf(fmaxf(x[i] / scale + zero, -128), 127));
		const int got = ((const int8_t *)plane_of(&o, BQ_ROLE_VALUES))[i];

		CHECK(scales[cell] == scale && got == (int)code && o.values[i] == (code - zero) * scale,
			"kernels %u, %ux.. block, rank %u, value %zu: scale %.9g of %.9g, code %d of %g, value %.9g", kernels, level->edge[0],
			rank, i, scales[cell], scale, got, code, o.values[i]);
		if (scheme->zero)
			CHECK(((const int8_t *)plane_of(&o, BQ_ROLE_ZERO))[cell] == (int)zero, "kernels %u: zero of cell %zu", kernels, cell);
		if (test_failures > 50)
			break;
	}
	discard(&o);
}

static void blocks_of_any_axes_share_their_cells_parameters(void)
{
	static const struct options bandings[] = { { 0 }, { .band_nbytes = 1 }, { .band_nbytes = 700, .backwards = 1 } };

	for (size_t l = 0; l < sizeof levels / sizeof *levels; l++)
		for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
			for (int asymmetric = 0; asymmetric < 2; asymmetric++) {
				const struct bq_scheme scheme = {
					.value = BQ_I8, .nscales = 1, .scale = { levels[l] }, .zero = asymmetric ? BQ_I8 : BQ_NONE
				};
				uint32_t rank = 0;

				while (rank < 5 && shapes[s][rank])
					rank++;
				if (levels[l].rank > rank)
					continue;
				for (size_t b = 0; b < sizeof bandings / sizeof *bandings; b++)
					check_definition(&scheme, rank, shapes[s], &bandings[b]);
			}
}

/* 1 to 70 rows, so that words end within, at and after the 32 rows of a step. */
static void zero_points_down_the_rows_are_a_bit_stream_a_column(void)
{
	static float x[3 * 70 * 6];
	static const uint32_t band_sizes[2] = { 0, 1 };

	fill_normal(5, x, sizeof x / sizeof *x);
	for (uint32_t bits = 1; bits <= 8; bits++)
		for (uint64_t rows = 1; rows <= 70; rows += 1 + rows % 3) {
			const struct bq_scheme scheme = {
				.value = BQ_I1 + bits - 1, .nscales = 1, .scale = { { BQ_F32, GROUP(3) } }, .zero = BQ_I1 + bits - 1,
				.layout = BQ_LAYOUT_PACK_QUANTIZED
			};
			struct bq_scheme plain = scheme;
			const uint64_t dims[3] = { 3, rows, 6 };
			const size_t words = (size_t)(rows * bits + 31) / 32;

			plain.layout = BQ_LAYOUT_INT_QUANTIZED;
			for (int b = 0; b < 2; b++) {
				const struct options options = { .band_nbytes = band_sizes[b], .backwards = b };
				struct outcome o = run_with(&scheme, BQ_F32, 3, dims, x, &options);
				struct outcome bytes = run_with(&plain, BQ_F32, 3, dims, x, &options);

				for (size_t at = 0; at < 3 * words * 2 * 32; at++) {
					const size_t item = at / (words * 64), column = at / 32 % 2, bit = at / 64 % words * 32 + at % 32;
					const size_t row = bit / bits, i = (item * rows + row) * 2 + column;
					const uint32_t word = bq_load32(plane_of(&o, BQ_ROLE_ZERO) + at / 32 * 4);
					unsigned expected = 0;

					if (row < rows)
						expected = (unsigned)(((int8_t *)plane_of(&bytes, BQ_ROLE_ZERO))[i] + (1 << (bits - 1))) >> bit % bits & 1;
					CHECK((word >> at % 32 & 1) == expected, "kernels %u, %u bits, %u rows, item %zu, column %zu, row %zu", kernels,
						bits, (unsigned)rows, item, column, row);
				}
				CHECK(!memcmp(o.values, bytes.values, (size_t)o.plan.nvalues * 4), "kernels %u, %u bits, %u rows: values", kernels,
					bits, (unsigned)rows);
				discard(&o);
				discard(&bytes);
			}
		}
}

static void given_ranges_are_as_good_as_measured_ones(void)
{
	static float x[MOST], lo[MOST], hi[MOST];
	static const char *const names[] = { "ggml:q8_0", "ggml:q5_0", "ggml:q4_0", "ct:w4a16", "ct:w4a16_asym", "ct:fp8_dynamic",
		"ct:nvfp4a16", "ct:mxfp4a16" };
	static const uint32_t inputs[] = { BQ_F32, BQ_F16, BQ_BF16 };
	static const uint64_t dims[3] = { 2, 5, 256 };

	for (size_t n = 0; n < sizeof names / sizeof *names + 2; n++)
		for (int i = 0; i < 3; i++) {
			const struct bq_scheme blocks = { .value = BQ_I8, .nscales = 1, .scale = { { BQ_INPUT, BLOCK(2, 100) } } };
			const struct bq_scheme tensor = { .value = BQ_I8, .nscales = 1, .scale = { { BQ_INPUT, TENSOR } }, .zero = BQ_I8 };
			const struct bq_scheme scheme = n < 8 ? named(names[n]) : n == 8 ? blocks : tensor;
			const struct options measured = { .band_nbytes = 3000 };
			const struct options given = { .lo = lo, .hi = hi, .band_nbytes = 3000, .backwards = 1 };
			struct outcome expected, got;
			uint8_t *weights;

			fill_normal(9, x, 2560);
			weights = convert(inputs[i], x, 2560);
			bq_kernels(BQ_SCALAR)->to_f32[inputs[i]](weights, 2560, x);
			free(weights);
			ranges_of_cells(&scheme.scale[0], 3, dims, x, 2560, lo, hi);
			expected = run_with(&scheme, inputs[i], 3, dims, x, &measured);
			got = run_with(&scheme, inputs[i], 3, dims, x, &given);
			check_same(n < 8 ? names[n] : "blocks", &got, &expected);
			CHECK(got.encoded.generic_values == 2560 && got.encoded.fused_values == 0, "kernels %u, scheme %zu", kernels, n);
			discard(&expected);
			discard(&got);
		}
}

/* A range has 0 in it, whatever is given. A NaN is no range: as from a block with a NaN, its scale is NaN. */
static void given_ranges_are_widened_to_zero(void)
{
	static const struct bq_scheme scheme = { .value = BQ_I4, .nscales = 1, .scale = { { BQ_F32, CHANNEL } }, .zero = BQ_I4 };
	static const struct bq_scheme symmetric = { .value = BQ_I4, .nscales = 1, .scale = { { BQ_F32, CHANNEL } } };
	static const struct bq_scheme signed_scheme = {
		.value = BQ_I4, .nscales = 1, .scale = { { BQ_F32, CHANNEL } }, .rules = BQ_RULES_GGML_SIGNED
	};
	static const float x[4] = { 1, 1, 1, 1 }, lo[4] = { 3, -5, NAN, -2 }, hi[4] = { 15, -1, 7, 2 };
	static const float affine[2] = { 1, 5.0f / 15 }, halves[2] = { 2, 5 / 7.5f }, extremes[4] = { 15.0f / -8, -5.0f / -8, 0, 2.0f / -8 };
	const struct options options = { .lo = lo, .hi = hi };
	struct outcome o = run(&scheme, BQ_F32, 4, 1, x, &options);
	float scales[4];

	scales_of(&o, scales, 4);
	check_floats("affine", scales, affine, 2);
	CHECK(scales[2] != scales[2] && o.encoded.overflow_blocks == 0, "kernels %u: %.9g, %llu", kernels, scales[2],
		(unsigned long long)o.encoded.overflow_blocks);
	discard(&o);
	o = run(&symmetric, BQ_F32, 4, 1, x, &options);
	scales_of(&o, scales, 4);
	check_floats("symmetric", scales, halves, 2);
	CHECK(scales[2] != scales[2] && o.encoded.overflow_blocks == 0, "kernels %u: %.9g", kernels, scales[2]);
	discard(&o);
	o = run(&signed_scheme, BQ_F32, 4, 1, x, &options);
	scales_of(&o, scales, 4);
	check_floats("extremes", scales, extremes, 2);
	CHECK(scales[2] != scales[2] && scales[3] == extremes[3], "kernels %u: %.9g, %.9g", kernels, scales[2], scales[3]);
	discard(&o);
}

/* Partial blocks at the edges: of the 5 cells of a row, the last is alone in its parent. */
static void cells_are_told_together_with_all_that_share_their_parent(void)
{
	const struct bq_scheme scheme = { .value = BQ_I8, .nscales = 2,
		.scale = { { BQ_U8, .rank = 2, .edge = { 1, 4 } }, { BQ_F32, .rank = 2, .edge = { 2, 8 } } }, .rules = BQ_RULES_PLAIN };
	static const uint32_t parents[10] = { 0, 0, 1, 1, 2, 0, 0, 1, 1, 2 }, ends[10] = { 2, 2, 4, 4, 5, 7, 7, 9, 9, 10 };
	const uint64_t dims[2] = { 6, 20 };
	struct bq_plan plan;

	CHECK(bq_plan(&scheme, NULL, BQ_F32, kernels, 2, dims, &plan) == BQ_OK && plan.cells_per_unit == 10, "%u cells", plan.cells_per_unit);
	for (uint32_t cell = 0; cell < 10; cell++) {
		uint32_t end;
		const uint64_t parent = bq_outer_cell(&plan, &plan.scheme.scale[0], &plan.scheme.scale[1], cell, 10, &end);

		CHECK(parent == parents[cell] && end == ends[cell], "cell %u: in %u, up to %u", cell, (unsigned)parent, end);
	}
}

int main(void)
{
	EACH_ROW_OF_KERNELS {
		cells_are_told_together_with_all_that_share_their_parent();
		blocks_of_any_axes_share_their_cells_parameters();
		zero_points_down_the_rows_are_a_bit_stream_a_column();
		given_ranges_are_as_good_as_measured_ones();
		given_ranges_are_widened_to_zero();
	}
	return test_done("test_definition");
}
