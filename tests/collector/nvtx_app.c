/* nvtx_app.c - a program with real NVTX calls and no CUDA.  Prints ok and ends with 5. */
#include <stdio.h>

#include <nvtx3/nvToolsExt.h>

int main(void)
{
	nvtxRangePushA("before");
	nvtxMarkA("a mark");
	nvtxRangePop();
	nvtxNameOsThreadA(1, "a thread");
	puts("ok");
	return 5;
}
