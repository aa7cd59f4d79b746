/*
 * nvtx_range.cuh - an NVTX range of this thread, which ends with its block.
 */
#ifndef ROOFLINE_NVTX_RANGE_CUH
#define ROOFLINE_NVTX_RANGE_CUH

#include <nvtx3/nvToolsExt.h>

struct nvtx_range {
	explicit nvtx_range(const char *name)
	{
		nvtxRangePushA(name);
	}
	~nvtx_range()
	{
		nvtxRangePop();
	}
	nvtx_range(const nvtx_range &) = delete;
	nvtx_range &operator=(const nvtx_range &) = delete;
};

#endif
