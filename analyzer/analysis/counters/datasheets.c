#include "analysis/counters/datasheets.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Columns: name, DRAM, FP64, FP32, FP16, tensor FP64, TF32, BF16 and FP16, FP8, NVLink, document.
 *
 * NVLink is of one direction, half of what datasheets print, of GPUs that always have it; others need a bridge.
 *
 * Where a datasheet prints only the rate with sparsity, half of it is listed.  FP64 of chips that
 * are not made for it and FP16 where the document is silent follow from the throughput table of the
 * CUDA C++ Programming Guide, "Arithmetic Instructions", results per clock and multiprocessor:
 *
 *   compute capability   7.0   8.0   8.6   8.9   9.0
 *   FP32                  64    64   128   128   128
 *   FP16 (half2)         128   256   128   128   256
 *   FP64                  32    32     2     2    64
 *
 * Datasheets round (67 for 66.9); the architecture whitepapers have one digit more, and are used
 * for the chips that they describe.
 */
/* clang-format off */
static const struct datasheet datasheets[] = {
	/* Rates are those of the H100 SXM5, the same chip at the same clock. */
	{"NVIDIA H200", 4.8, 33.5, 66.9, 133.8, 66.9, 495, 989, 1979, 450,
	 "NVIDIA H200 Tensor Core GPU Datasheet; NVIDIA H100 Tensor Core GPU Architecture"},
	{"NVIDIA H200 NVL", 4.8, 30, 60, 120, 60, 417.5, 835.5, 1670.5, 0,
	 "NVIDIA H200 Tensor Core GPU Datasheet"},
	{"NVIDIA H100 80GB HBM3", 3.35, 33.5, 66.9, 133.8, 66.9, 494.7, 989.4, 1978.9, 450,
	 "NVIDIA H100 Tensor Core GPU Datasheet; NVIDIA H100 Tensor Core GPU Architecture"},
	{"NVIDIA H100 PCIe", 2.0, 25.6, 51.2, 102.4, 51.2, 378, 756, 1513, 0,
	 "NVIDIA H100 Tensor Core GPU Datasheet; NVIDIA H100 Tensor Core GPU Architecture"},
	{"NVIDIA H100 NVL", 3.9, 30, 60, 120, 60, 417.5, 835.5, 1670.5, 0,
	 "NVIDIA H100 NVL GPU Datasheet"},
	{"NVIDIA GH200 480GB", 4.0, 34, 67, 134, 67, 494, 990, 1979, 0,
	 "NVIDIA GH200 Grace Hopper Superchip Datasheet, 96 GB HBM3"},
	{"NVIDIA GH200 144G HBM3e", 4.9, 34, 67, 134, 67, 494, 990, 1979, 0,
	 "NVIDIA GH200 Grace Hopper Superchip Datasheet, 144 GB HBM3e"},
	/* Individual GPU of an HGX B200; FP16 outside tensor cores is not in it. */
	{"NVIDIA B200", 7.7, 37, 75, 0, 37, 1100, 2250, 4500, 900,
	 "NVIDIA Blackwell Architecture Datasheet, HGX B200"},
	{"A100-SXM4-40GB", 1.555, 9.7, 19.5, 78, 19.5, 156, 312, 0, 300,
	 "NVIDIA A100 Tensor Core GPU Datasheet; NVIDIA A100 Tensor Core GPU Architecture"},
	{"A100-PCIE-40GB", 1.555, 9.7, 19.5, 78, 19.5, 156, 312, 0, 0,
	 "NVIDIA A100 Tensor Core GPU Datasheet; NVIDIA A100 Tensor Core GPU Architecture"},
	{"A100-SXM4-80GB", 2.039, 9.7, 19.5, 78, 19.5, 156, 312, 0, 300,
	 "NVIDIA A100 Tensor Core GPU Datasheet; NVIDIA A100 Tensor Core GPU Architecture"},
	{"A100 80GB PCIe", 1.935, 9.7, 19.5, 78, 19.5, 156, 312, 0, 0,
	 "NVIDIA A100 Tensor Core GPU Datasheet; NVIDIA A100 Tensor Core GPU Architecture"},
	{"A30", 0.933, 5.2, 10.3, 41.2, 10.3, 82, 165, 0, 0,
	 "NVIDIA A30 Tensor Core GPU Datasheet"},
	{"A10", 0.6, 0.4875, 31.2, 31.2, 0, 62.5, 125, 0, 0,
	 "NVIDIA A10 Tensor Core GPU Datasheet"},
	{"L4", 0.3, 0.473, 30.3, 30.3, 0, 60, 121, 242.5, 0,
	 "NVIDIA L4 Tensor Core GPU Datasheet"},
	{"L40S", 0.864, 1.431, 91.6, 91.6, 0, 183, 362.05, 733, 0,
	 "NVIDIA L40S GPU Datasheet"},
	{"GeForce RTX 4090", 1.008, 1.29, 82.6, 82.6, 0, 82.6, 165.2, 330.3, 0,
	 "NVIDIA Ada GPU Architecture, appendix A"},
	{"GeForce RTX 3090", 0.936, 0.556, 35.6, 35.6, 0, 35.6, 71, 0, 0,
	 "NVIDIA Ampere GA102 GPU Architecture, appendix A"},
	/* Volta's tensor cores take FP16 only. */
	{"V100-SXM2", 0.9, 7.8, 15.7, 31.4, 0, 0, 125, 0, 150,
	 "NVIDIA V100 Tensor Core GPU Datasheet"},
	{"V100-PCIE", 0.9, 7, 14, 28, 0, 0, 112, 0, 0,
	 "NVIDIA V100 Tensor Core GPU Datasheet"},
};
/* clang-format on */

enum { DATASHEET_COUNT = sizeof(datasheets) / sizeof(datasheets[0]) };

/* Words behind a card's name that make another card of it, or a part of one. */
static const char *const variants[] = {"MIG", "Laptop", "Max-Q", "Mobile", "Ti", "D", "SUPER"};

/* Where text contains the words as whole words (V100-SXM2 may be followed by -16GB), or NULL. */
static const char *find_words(const char *text, const char *words)
{
	size_t length = strlen(words);
	const char *found = text;

	while ((found = strstr(found, words))) {
		if ((found == text || !isalnum((unsigned char)found[-1])) &&
		    !isalnum((unsigned char)found[length]))
			return found;
		found++;
	}
	return NULL;
}

static bool is_variant(const char *gpu)
{
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		if (find_words(gpu, variants[i]))
			return true;
	return false;
}

const struct datasheet *datasheet_find(const char *gpu)
{
	const struct datasheet *best = NULL;

	if (is_variant(gpu))
		return NULL;
	for (int i = 0; i < DATASHEET_COUNT; i++)
		if (find_words(gpu, datasheets[i].gpu) &&
		    (!best || strlen(datasheets[i].gpu) > strlen(best->gpu)))
			best = &datasheets[i];
	return best;
}

/* Volta has no BF16; every later chip runs it as fast as FP16. */
static double tensor_bf16(const struct datasheet *sheet)
{
	return sheet->tensor_tf32_tflop_per_s > 0 ? sheet->tensor_half_tflop_per_s : 0;
}

double datasheet_value(const struct datasheet *sheet, enum ceiling_id id)
{
	if (!sheet)
		return 0;
	switch (id) {
	case CEILING_dram_read:
	case CEILING_dram_write:
	case CEILING_dram_copy:
	case CEILING_dram_triad:
		return sheet->dram_tb_per_s * 1e12;
	case CEILING_peer_copy:
		return sheet->nvlink_gb_per_s * 1e9;
	case CEILING_fp64_fma:
		return sheet->fp64_tflop_per_s * 1e12;
	case CEILING_fp32_fma:
		return sheet->fp32_tflop_per_s * 1e12;
	case CEILING_fp16_fma:
		return sheet->fp16_tflop_per_s * 1e12;
	case CEILING_tensor_fp64:
		return sheet->tensor_fp64_tflop_per_s * 1e12;
	case CEILING_tensor_tf32:
		return sheet->tensor_tf32_tflop_per_s * 1e12;
	case CEILING_tensor_bf16:
		return tensor_bf16(sheet) * 1e12;
	case CEILING_tensor_fp16:
		return sheet->tensor_half_tflop_per_s * 1e12;
	case CEILING_tensor_fp8:
		return sheet->tensor_fp8_tflop_per_s * 1e12;
	default:
		return 0;
	}
}
