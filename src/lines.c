/* SPDX-License-Identifier: MIT
 * lines.c - codes of a line to bits and back; a unit stored with two axes exchanged.
 */
#include "lines.h"

#include <string.h>

#include "dtype.h"
#include "geometry.h"

uint32_t bq_packing(const struct bq_scheme *scheme, const struct bq_layout *layout)
{
	/* A device's own type of 4-bit floats holds two; of all else, one. */
	if (!layout->open_packing || scheme->pack_into == BQ_INTO_BYTES)
		return layout->packing;
	if (scheme->pack_into == BQ_INTO_WORDS)
		return BQ_FIELDS;
	return scheme->value == BQ_F4E2M1 ? BQ_NIBBLES : BQ_ALONE;
}

uint32_t bq_line_bits_each(uint32_t packing, uint32_t bits)
{
	/* Tables of fewer entries fit, too. */
	if (packing == BQ_NIBBLES || packing == BQ_SIXES)
		return packing == BQ_NIBBLES ? 4 : 6;
	return packing == BQ_BYTES || packing == BQ_ALONE ? 8 : bits;
}

uint64_t bq_line_nbytes(uint32_t packing, uint32_t bits, uint64_t count)
{
	const uint64_t together = count * bq_line_bits_each(packing, bits);

	return packing == BQ_WORDS || packing == BQ_FIELDS ? bq_ceil_div(together, 32) * 4 : bq_ceil_div(together, 8);
}

static uint32_t packing_of(const struct bq_plan *plan)
{
	return bq_packing(&plan->scheme, bq_layout(plan->scheme.layout));
}

/* What is added to a code in offset binary. */
static unsigned offset_of(const struct bq_plan *plan, uint32_t packing)
{
	return packing == BQ_WORDS && bq_is_integer(plan->scheme.value) ? (unsigned)-bq_dtype(plan->scheme.value)->min : 0;
}

/* The bits of codes above their own are zero. */
static void cut(unsigned bits, const uint8_t *codes, size_t count, uint8_t *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = codes[i] & (uint8_t)((1u << bits) - 1);
}

static void extend_signs(uint32_t value, uint8_t *codes, size_t count)
{
	const unsigned half = 1u << (bq_dtype(value)->bits - 1);

	for (size_t i = 0; i < count && bq_dtype(value)->kind == BQ_KIND_SIGNED; i++)
		codes[i] = (uint8_t)((codes[i] ^ half) - half);
}

void bq_pack_line(const struct bq_plan *plan, const uint8_t *codes, size_t count, uint8_t *out)
{
	const struct bq_kernels *kernels = bq_kernels(plan->kernels);
	const uint32_t packing = packing_of(plan);

	switch (packing) {
	case BQ_WORDS:
	case BQ_FIELDS:
		kernels->pack_words(codes, count, plan->value_bits, offset_of(plan, packing), out);
		break;
	case BQ_NIBBLES:
		kernels->pack_nibbles(codes, count & ~(size_t)1, out);
		if (count & 1)
			out[count / 2] = codes[count - 1] & 15;
		break;
	case BQ_SIXES:
		kernels->pack_sixes(codes, count, out);
		break;
	case BQ_ALONE:
		cut(plan->value_bits, codes, count, out);
		break;
	default:
		memcpy(out, codes, count);
	}
}

void bq_unpack_line(const struct bq_plan *plan, const uint8_t *in, size_t count, uint8_t *codes)
{
	const struct bq_kernels *kernels = bq_kernels(plan->kernels);
	const uint32_t packing = packing_of(plan);

	switch (packing) {
	case BQ_WORDS:
	case BQ_FIELDS:
		kernels->unpack_words(in, count, plan->value_bits, offset_of(plan, packing), codes);
		break;
	case BQ_NIBBLES:
		kernels->unpack_nibbles(in, count & ~(size_t)1, codes);
		if (count & 1)
			codes[count - 1] = in[count / 2] & 15;
		break;
	case BQ_SIXES:
		kernels->unpack_sixes(in, count, codes);
		break;
	case BQ_ALONE:
		cut(plan->value_bits, in, count, codes);
		break;
	default:
		memcpy(codes, in, count);
	}
	if (packing == BQ_FIELDS || packing == BQ_ALONE)
		extend_signs(plan->scheme.value, codes, count);
}

/* Something with axes (outer, a, between, b), row-major: outer does not matter, a and b are exchanged. */
struct exchange {
	uint64_t a, between, b;
};

/* Where the element that is number i after the exchange was before it; its neighbours along the last axis, which was a, lay
 * stride(exchange) apart. */
static uint64_t before(const struct exchange *exchange, uint64_t i)
{
	const uint64_t at_a = i % exchange->a, rest = i / exchange->a;
	const uint64_t at_between = rest % exchange->between, at_b = rest / exchange->between % exchange->b;
	const uint64_t outer = rest / exchange->between / exchange->b;

	return ((outer * exchange->a + at_a) * exchange->between + at_between) * exchange->b + at_b;
}

static uint64_t stride(const struct exchange *exchange)
{
	return exchange->between * exchange->b;
}

/* The axes of a unit's values. */
static struct exchange of_values(const struct bq_plan *plan)
{
	struct exchange exchange = { plan->dims[plan->packed_axis], 1, plan->cols };

	for (uint32_t axis = plan->packed_axis + 1; axis < plan->rank - 1; axis++)
		exchange.between *= plan->dims[axis];
	return exchange;
}

void bq_pack_unit(const struct bq_plan *plan, const uint8_t *codes, uint32_t nrows, uint8_t *line, uint8_t *out)
{
	const struct exchange exchange = of_values(plan);
	const uint64_t count = (uint64_t)nrows * plan->cols;

	for (uint64_t at = 0; at < count; at += exchange.a, out += plan->line_nbytes) {
		const uint8_t *first = codes + before(&exchange, at);

		for (uint64_t i = 0; i < exchange.a; i++)
			line[i] = first[i * stride(&exchange)];
		bq_pack_line(plan, line, exchange.a, out);
	}
}

void bq_unpack_unit(const struct bq_plan *plan, const uint8_t *in, uint32_t nrows, uint8_t *line, uint8_t *codes)
{
	const struct exchange exchange = of_values(plan);
	const uint64_t count = (uint64_t)nrows * plan->cols;

	for (uint64_t at = 0; at < count; at += exchange.a, in += plan->line_nbytes) {
		uint8_t *first = codes + before(&exchange, at);

		bq_unpack_line(plan, in, exchange.a, line);
		for (uint64_t i = 0; i < exchange.a; i++)
			first[i * stride(&exchange)] = line[i];
	}
}

void bq_exchange_cells(const struct bq_plan *plan, const struct bq_level *level, uint32_t ncells, uint32_t nbytes, const uint8_t *in,
	uint8_t *out, int back)
{
	uint64_t cells[BQ_MAX_RANK];
	struct exchange exchange;

	for (uint32_t axis = plan->packed_axis; axis < plan->rank; axis++)
		cells[axis] = bq_ceil_div(plan->dims[axis], bq_edge(plan, level, axis));
	exchange = (struct exchange){ cells[plan->packed_axis], 1, cells[plan->rank - 1] };
	for (uint32_t axis = plan->packed_axis + 1; axis < plan->rank - 1; axis++)
		exchange.between *= cells[axis];
	for (uint32_t c = 0; c < ncells; c++) {
		const uint64_t grid = before(&exchange, c);

		memcpy(out + (back ? grid : c) * nbytes, in + (back ? c : grid) * nbytes, nbytes);
	}
}
