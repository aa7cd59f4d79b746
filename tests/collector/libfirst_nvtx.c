/* libfirst_nvtx.c - a library whose constructor uses real NVTX, as long as another thread has had time to attach. */
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

__attribute__((constructor)) static void use_nvtx(void)
{
	usleep(200000);
	nvtxRangePushA("constructor");
	nvtxRangePop();
}
