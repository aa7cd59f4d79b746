/*
 * libfirst_nvtx.c - a library whose constructor uses NVTX, once another thread has had time to attach.
 *
 * Until a constructor returns, other threads that ask the dynamic linker for anything wait.
 */
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

__attribute__((constructor)) static void use_nvtx(void)
{
	usleep(400000);
	nvtxRangePushA("constructor");
	nvtxRangePop();
}
