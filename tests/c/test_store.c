/* SPDX-License-Identifier: MIT
 * test_store.c - codes and parameters into the bytes of a layout and out again: every packing along every axis, bit by bit
 * where a definition says them; whole and in bands.
 */
#include "dtype.h"
#include "test.h"

#define MAX_VALUES 1024

struct tensor {
	struct bq_plan plan;
	uint8_t codes[MAX_VALUES], scales[2 * MAX_VALUES], global[4];
};

static uint32_t random_state = 1;

static uint32_t next_random(void)
{
	return test_next(&random_state) >> 8;
}

/* A code of a value's dtype, as it stands one a byte. */
static uint8_t random_code(uint32_t value)
{
	const struct bq_dtype_info *info = bq_dtype(value);
	const uint32_t field = next_random() & ((1u << info->bits) - 1), half = 1u << (info->bits - 1);

	return (uint8_t)(info->kind == BQ_KIND_SIGNED ? (field ^ half) - half : field);
}

static uint64_t product(const uint64_t *dims, uint32_t count)
{
	uint64_t all = 1;

	for (uint32_t i = 0; i < count; i++)
		all *= dims[i];
	return all;
}

/* Where number i of something row-major is stored, by the layout's definition: with an axis and the last one exchanged. */
static uint64_t stored_index(const uint64_t *dims, uint32_t rank, uint32_t exchanged, uint64_t i)
{
	uint64_t at[BQ_MAX_RANK] = { 0 }, index = 0;

	for (uint32_t axis = rank; axis-- > 0; i /= dims[axis])
		at[axis] = i % dims[axis];
	for (uint32_t axis = 0; axis < rank; axis++) {
		const uint32_t from = axis == exchanged ? rank - 1 : axis == rank - 1 ? exchanged : axis;

		index = index * dims[from] + at[from];
	}
	return index;
}

static void check_bits(const struct tensor *tensor, const uint8_t *values, const char *what)
{
	const struct bq_plan *plan = &tensor->plan;
	const int shared = plan->scheme.pack_into == BQ_INTO_WORDS || (plan->scheme.pack_into == BQ_INTO_NATIVE && plan->scheme.value == BQ_F4E2M1);
	const uint32_t bits = shared ? plan->value_bits : 8;
	const uint32_t mask = plan->scheme.pack_into == BQ_INTO_BYTES ? 255 : (1u << plan->value_bits) - 1;

	for (uint64_t i = 0; i < plan->nvalues; i++) {
		const uint64_t length = plan->dims[plan->packed_axis], index = stored_index(plan->dims, plan->rank, plan->packed_axis, i);
		const uint64_t line = index / length, place = index % length;
		uint32_t field;

		field = values[line * plan->line_nbytes + place * bits / 8] >> place * bits % 8;
		field &= bits == 8 ? 255u : (1u << bits) - 1;
		CHECK(field == (tensor->codes[i] & mask), "%s: value %llu is %02x, not %02x", what, (unsigned long long)i, field, tensor->codes[i]);
	}
}

static void check_scales(const struct tensor *tensor, const uint8_t *scales, const char *what)
{
	const struct bq_plan *plan = &tensor->plan;
	const struct bq_level *level = &plan->scheme.scale[0];
	uint64_t cells[BQ_MAX_RANK];

	for (uint32_t axis = 0; axis < plan->rank; axis++) {
		const uint64_t edge = axis + level->rank < plan->rank ? 1 : level->edge[axis + level->rank - plan->rank];

		cells[axis] = level->rank ? (plan->dims[axis] + edge - 1) / edge : 1;
	}
	for (uint64_t i = 0; i < product(cells, plan->rank); i++)
		CHECK(!memcmp(tensor->scales + 2 * i, scales + 2 * stored_index(cells, plan->rank, plan->packed_axis, i), 2), "%s: scale %llu", what,
			(unsigned long long)i);
}

/* Packs all bands, the last one first; unpacks them; and compares. */
static void go_around(struct tensor *tensor, uint32_t band_nbytes, const char *what)
{
	const struct bq_plan *plan = &tensor->plan;
	uint8_t *planes[3] = { 0 }, *workspace = test_buffer(plan->workspace_nbytes, 0);
	struct tensor back = { .plan = *plan };
	struct bq_band band[64];
	uint32_t nbands = 0;

	for (uint32_t p = 0; p < plan->nplanes; p++) {
		planes[p] = test_buffer((size_t)plan->plane[p].nbytes, 0);
		memset(planes[p], 0xA5, (size_t)plan->plane[p].nbytes);
	}
	for (uint64_t step = 0; step < plan->nitems * plan->steps_per_item; step += band[nbands++].nsteps)
		bq_band(plan, step, band_nbytes, &band[nbands]);
	for (uint32_t back_to_front = 0; back_to_front < 2; back_to_front++)
		for (uint32_t b = nbands; b-- > 0;) {
			struct tensor *side = back_to_front ? &back : tensor;
			const uint32_t nbytes = bq_dtype(plan->scheme.scale[0].dtype)->nbytes;
			void *parts[BQ_ROLE_BLOCKS + 1] = {
				[BQ_ROLE_VALUES] = side->codes + band[b].value_offset,
				[BQ_ROLE_SCALE0] = side->scales + band[b].cell_offset[0] * nbytes,
				[BQ_ROLE_SCALE1] = side->global,
			};
			void *bytes[3];

			for (uint32_t p = 0; p < plan->nplanes; p++)
				bytes[p] = planes[p] + band[b].plane_offset[p];
			if (back_to_front)
				bq_unpack(plan, &band[b], (const void *const *)bytes, parts, workspace);
			else
				CHECK(bq_pack(plan, &band[b], (const void *const *)parts, bytes, workspace) == BQ_OK, "%s", what);
		}
	check_bits(tensor, planes[0], what);
	check_scales(tensor, planes[1], what);
	CHECK(!memcmp(tensor->codes, back.codes, sizeof(back.codes)), "%s: codes", what);
	CHECK(!memcmp(tensor->scales, back.scales, sizeof(back.scales)), "%s: scales", what);
	CHECK(!memcmp(tensor->global, back.global, sizeof(back.global)), "%s: tensor-wide scale", what);
	for (uint32_t p = 0; p < plan->nplanes; p++)
		free(planes[p]);
	free(workspace);
}

static void every_packing_goes_around(uint32_t kernels)
{
	static const uint32_t values[] = { BQ_I8, BQ_I4, BQ_I2, BQ_F8E4M3, BQ_F4E2M1 };
	static const struct { uint32_t rank; uint64_t dims[4]; } shapes[] = { { 1, { 5 } }, { 2, { 3, 7 } }, { 3, { 4, 3, 5 } }, { 4, { 3, 4, 2, 9 } } };
	static const struct bq_level blocks[] = { { BQ_F16, 0, { 0 } }, { BQ_F16, 1, { 4 } }, { BQ_F16, 2, { 2, 3 } }, { BQ_F16, 3, { 3, 1, 2 } } };
	uint32_t tried = 0;

	for (size_t n = 0; n < 5 * 4 * 4 * 3 * 4; n++) {
		struct bq_scheme scheme = {
			.value = values[n % 5], .nscales = 1, .scale = { blocks[n / 5 % 4] }, .rules = BQ_RULES_PLAIN,
			.layout = BQ_LAYOUT_BURN_QUANTIZED_BYTES, .pack_into = n / 80 % 3, .pack_axis = n / 240 % 4,
		};
		const uint32_t rank = shapes[n / 20 % 4].rank;
		const uint64_t *dims = shapes[n / 20 % 4].dims;
		struct tensor tensor = { 0 };
		char what[96];

		snprintf(what, sizeof what, "kernels %u: value %u, rank %u, block %u, into %u, axis %u", kernels, scheme.value, rank,
			scheme.scale[0].rank, scheme.pack_into, scheme.pack_axis);
		if (n % 2 && scheme.scale[0].rank) {
			scheme.nscales = 2;
			scheme.scale[1].dtype = BQ_F32;
		}
		if (bq_plan(&scheme, NULL, BQ_F32, kernels, rank, dims, &tensor.plan) != BQ_OK)
			continue;
		tried++;
		for (uint64_t i = 0; i < product(dims, rank); i++)
			tensor.codes[i] = random_code(scheme.value);
		for (uint64_t i = 0; i < tensor.plan.plane[1].nbytes; i++)
			tensor.scales[i] = (uint8_t)next_random();
		for (uint32_t i = 0; i < 4 && scheme.nscales == 2; i++)
			tensor.global[i] = (uint8_t)next_random();
		go_around(&tensor, 1u << 20, what);
		go_around(&tensor, 1, what);
	}
	CHECK(tried > 250, "%u", tried);
}

int main(void)
{
	for (uint32_t kernels = 0; kernels < BQ_NKERNELS; kernels++)
		if (bq_kernel_rows() >> kernels & 1)
			every_packing_goes_around(kernels);
	return test_done("test_store");
}
