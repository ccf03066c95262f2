/* SPDX-License-Identifier: MIT
 * test_ggml_simd128.c - the fused kernels of ggml's formats: simd128 gives the bytes and floats of scalar on generated tensors
 * and blocks. Hashes of the tensors go into ggml-hashes.txt in the folder that is the second argument: tests/js/builds-ggml.test.js
 * compares those of all builds.
 */
#include "blockquant.h"
#include "test_draw.h"
#include "test_ggml.h"

#define NWEIGHTINGS 5

static float draw_weight(int kind, uint32_t *state, size_t i)
{
	switch (kind) {
	case 0:
		return (float)((test_next(state) >> 20) + 1) * 0x1p-8f;
	case 1: /* with zeros, in some places nothing else */
		return i / 64 % 3 == 0 || test_next(state) >> 31 ? 0.0f : (float)(test_next(state) >> 20);
	case 2:
		return test_of_exponents(state, -66, 66);
	case 3: /* few but zeros */
		return test_next(state) >> 27 == 0 ? (float)(test_next(state) >> 20) : 0.0f;
	default:
		return test_next(state) >> 24 == 0 ? bq_float(test_next(state) | 0x7F800000) : fabsf(test_normal(state));
	}
}

/* In blocks: 1 to 9, and up to 65 shorter ones. */
static size_t row_length(const struct format *format, size_t number)
{
	return 1 + number % 9 * (number % 5 == 4 ? 256 / layout_of(format)->block_values : 1);
}

/* A tensor by its number: 1 to 7 rows, a length, a distribution, a kind of weights, the reference's habits or right. The periods
 * (7, 9, 5, 16, 11) have no common factor, so that every pair comes. */
struct tensor {
	const struct format *format;
	uint32_t dtype, correct;
	size_t rows, cols;
	void *values;   /* of the dtype */
	float *weights; /* of the columns; null: none */
};

static struct tensor make_tensor(const struct format *format, uint32_t dtype, uint32_t weighted, size_t number)
{
	static const uint32_t nbytes_of[] = { [BQ_F32] = 4, [BQ_F16] = 2, [BQ_BF16] = 2 };
	struct tensor tensor = {
		.format = format,
		.dtype = dtype,
		.correct = number % 11 == 10,
		.rows = 1 + number % 7,
		.cols = row_length(format, number) * layout_of(format)->block_values,
	};
	const size_t count = tensor.rows * tensor.cols;
	float *values = test_buffer(count * sizeof *values, 0);
	uint32_t state = (uint32_t)(number * 8 + dtype * 2 + weighted + 1);
	float block_value = 0.0f;

	for (size_t i = 0; i < count; i++) {
		if (i % 32 == 0)
			block_value = test_normal(&state);
		values[i] = test_draw((int)(number % NDISTRIBUTIONS), &state, i, block_value);
	}
	if (weighted) {
		tensor.weights = test_buffer(tensor.cols * sizeof *tensor.weights, 0);
		for (size_t i = 0; i < tensor.cols; i++)
			tensor.weights[i] = draw_weight((int)(number / NDISTRIBUTIONS % NWEIGHTINGS), &state, i);
	}
	tensor.values = test_buffer(count * nbytes_of[dtype], 0);
	if (dtype == BQ_F32)
		memcpy(tensor.values, values, count * sizeof *values);
	else
		bq_convert(BQ_SCALAR, BQ_F32, dtype, count, values, tensor.values);
	free(values);
	return tensor;
}

/* What becomes of a tensor: its bytes, and the floats that they are decoded to, in one buffer that the caller frees. */
static uint8_t *through(
	uint32_t kernels, const struct tensor *tensor, const void *tables, size_t *stored_nbytes, size_t *nbytes)
{
	const uint64_t dims[] = { tensor->rows, tensor->cols };
	struct bq_report report = { 0 };
	struct bq_plan plan;
	struct bq_band band;
	char name[32];

	snprintf(name, sizeof name, "ggml:%s", tensor->format->name);
	if (bq_plan(&bq_preset_named(name)->scheme, NULL, tensor->dtype, kernels, 2, dims, &plan) != BQ_OK)
		abort();
	bq_band(&plan, 0, UINT32_MAX, &band);

	uint8_t *planes[] = { test_buffer(band.plane_nbytes[0], 0xA5) };
	float *values = test_buffer(plan.nvalues * sizeof *values, 0xA5);
	void *workspace = test_buffer(plan.workspace_nbytes, 0xA5);
	const enum bq_status status = bq_encode(&plan, &band, tensor->values, tensor->weights, tensor->weights != NULL, NULL, NULL,
		NULL, NULL, tensor->correct, tables, (void *const *)planes, workspace, &report);

	CHECK(status == BQ_OK && report.fused_values == plan.nvalues, "%s: status %d", name, status);
	bq_decode(&plan, &band, (const void *const *)planes, 0, values, workspace, &report);
	*stored_nbytes = band.plane_nbytes[0];
	*nbytes = *stored_nbytes + plan.nvalues * sizeof *values;

	uint8_t *result = test_buffer(*nbytes, 0);

	memcpy(result, planes[0], *stored_nbytes);
	memcpy(result + *stored_nbytes, values, plan.nvalues * sizeof *values);
	free(planes[0]);
	free(values);
	free(workspace);
	return result;
}

/* ntensors of 4 rows on average, hashed by each row of kernels. */
static void check_same(FILE *hashes, const struct format *format, uint32_t dtype, uint32_t weighted, size_t ntensors)
{
	static const char *dtype_names[] = { [BQ_F32] = "f32", [BQ_F16] = "f16", [BQ_BF16] = "bf16" };
	const void *tables = tables_of(bq_kernels(BQ_SCALAR)->fused[format->fused].grid);
	uint64_t hash[2] = { FNV1A, FNV1A };
	size_t nrows = 0;

	for (size_t number = 0; number < ntensors; number++) {
		struct tensor tensor = make_tensor(format, dtype, weighted, number);
		uint8_t *result[2];
		size_t stored_nbytes = 0, nbytes = 0, at = 0;

		for (uint32_t kernels = BQ_SCALAR; kernels <= BQ_SIMD128; kernels++) {
			result[kernels] = through(kernels, &tensor, tables, &stored_nbytes, &nbytes);
			hash[kernels] = fnv1a(hash[kernels], nbytes, result[kernels]);
		}
		while (at < nbytes && result[BQ_SCALAR][at] == result[BQ_SIMD128][at])
			at++;
		CHECK(at == nbytes, "%s %s, %s, tensor %u of %u x %u: %s differ, byte %u: got %02x, expected %02x", format->name,
			dtype_names[dtype], weighted ? "weighted" : "plain", (unsigned)number, (unsigned)tensor.rows, (unsigned)tensor.cols,
			at < stored_nbytes ? "blocks" : "decoded values",
			(unsigned)(at < stored_nbytes ? at : at - stored_nbytes), result[BQ_SIMD128][at], result[BQ_SCALAR][at]);
		nrows += tensor.rows;
		free(result[BQ_SCALAR]);
		free(result[BQ_SIMD128]);
		free(tensor.values);
		free(tensor.weights);
	}
	fprintf(hashes, "%s %s %s rows %u scalar %016llx simd128 %016llx\n", format->name, dtype_names[dtype],
		weighted ? "weighted" : "plain", (unsigned)nrows, (unsigned long long)hash[BQ_SCALAR],
		(unsigned long long)hash[BQ_SIMD128]);
}

/* More than 10,000 rows a format, in six parts; in three where there is none without weights. */
static void simd128_gives_the_bytes_and_floats_of_scalar(FILE *hashes)
{
	static const uint32_t dtypes[] = { BQ_F32, BQ_F16, BQ_BF16 };

	for (size_t f = 0; f < NFORMATS; f++)
		for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
			if (takes(bq_kernels(BQ_SCALAR), &formats[f], 0)) {
				check_same(hashes, &formats[f], dtypes[d], 0, 420);
				check_same(hashes, &formats[f], dtypes[d], 1, 420);
			} else {
				check_same(hashes, &formats[f], dtypes[d], 1, 840);
			}
}

static void simd128_decodes_the_floats_of_scalar(void)
{
	static uint8_t bytes[72 * 36]; /* of 65 blocks of 32, or 9 of 256 */
	uint32_t state = 7;

	for (size_t f = 0; f < NFORMATS; f++)
		for (size_t done = 0, row = 0; done < 20000; row++) {
			const struct bq_layout *layout = layout_of(&formats[f]);
			const size_t length = row_length(&formats[f], row), count = length * layout->block_values;

			fill_bytes(&state, length * layout->block_nbytes, bytes);
			/* NaN and infinities are one in 32 of the random f16 fields; make more of the last ones. */
			if (row % 4 == 0 && layout->halves)
				bq_store16(bytes + layout->halves_at + 2 * (layout->halves - 1), (uint16_t)(0x7C00 | (row & 0x83FF)));

			float *expected = decode_row(bq_kernels(BQ_SCALAR), &formats[f], length, bytes);
			float *got = decode_row(bq_kernels(BQ_SIMD128), &formats[f], length, bytes);

			for (size_t i = 0; i < count; i++)
				if (bq_bits(got[i]) != bq_bits(expected[i])) {
					CHECK(bq_bits(got[i]) == bq_bits(expected[i]), "%s, row %u, value %u: got %08x, expected %08x",
						formats[f].name, (unsigned)row, (unsigned)i, (unsigned)bq_bits(got[i]),
						(unsigned)bq_bits(expected[i]));
					break;
				}
			free(expected);
			free(got);
			done += length;
		}
}

int main(int argc, char **argv)
{
	char path[1024];
	FILE *hashes;

	if (argc != 3) {
		printf("usage: test_ggml_simd128 GOLDEN FOLDER\n");
		return 2;
	}
	if (!bq_kernels(BQ_SIMD128))
		return test_skipped("test_ggml_simd128", "no simd128 kernels here (SIMDe)");
	snprintf(path, sizeof path, "%s/ggml-hashes.txt", argv[2]);
	hashes = fopen(path, "w");
	CHECK(hashes, "%s cannot be written", path);
	if (hashes) {
		simd128_gives_the_bytes_and_floats_of_scalar(hashes);
		fclose(hashes);
	}
	simd128_decodes_the_floats_of_scalar();
	return test_done("test_ggml_simd128");
}
