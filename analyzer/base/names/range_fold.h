/*
 * range_fold.h - which operator of PyTorch a range is, by its name.
 *
 * torch.autograd.profiler.emit_nvtx makes a range of each operator and adds what it was called with:
 * "aten::add_, seq = 12, sizes = [[64, 64], []]"; the profiler's own ranges are "aten::add_".
 */
#ifndef ROOFLINE_RANGE_FOLD_H
#define ROOFLINE_RANGE_FOLD_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes of a range's name are the operator's; all of them where nothing was added. */
size_t range_operator_length(const char *name);

/* aten::mm, AddmmBackward0, nccl:all_reduce: an operator by its name, not a part of the program that its author named. */
bool range_is_operator(const char *name);

#endif
