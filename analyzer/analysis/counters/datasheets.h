/*
 * datasheets.h - what NVIDIA's datasheets promise for GPUs, by the name that the driver prints.
 *
 * To add a GPU: one row in datasheets.c, with the document that it is from.
 */
#ifndef ROOFLINE_DATASHEETS_H
#define ROOFLINE_DATASHEETS_H

#include "roofline/ceilings.h"

/* Peaks without sparsity, in TB/s and TFLOP/s as datasheets print them; 0 is unknown. */
struct datasheet {
	const char *gpu; /* words of the driver's name */
	double dram_tb_per_s;
	double fp64_tflop_per_s, fp32_tflop_per_s, fp16_tflop_per_s; /* without tensor cores */
	double tensor_fp64_tflop_per_s, tensor_tf32_tflop_per_s;
	double tensor_half_tflop_per_s; /* BF16 and FP16, FP32 accumulation */
	double tensor_fp8_tflop_per_s;	/* FP32 accumulation */
	double nvlink_gb_per_s;		/* in one direction; 0: none, or with a bridge only */
	const char *source;
};

/* The row that shares most words with the driver's name ("NVIDIA H200 NVL" is not an H200), or
 * NULL.  Parts of a GPU (MIG) and mobile or other variants of a card have none. */
const struct datasheet *datasheet_find(const char *gpu);

/* Its figure for a ceiling in B/s or FLOP/s, 0 when it has none; sheet may be NULL. */
double datasheet_value(const struct datasheet *sheet, enum ceiling_id id);

#endif
