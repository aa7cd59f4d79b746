"""Calls NVRTC and the driver API through cuda.bindings: module, events, memory from a pool."""

import ctypes

import numpy
from cuda.bindings import driver, nvrtc


def checked(result):
    """Return what a call gave, or end with its error."""
    code, *values = result
    if int(code):
        raise SystemExit(f"{code}")
    return values[0] if len(values) == 1 else values


CODE = b"""
extern "C" __global__ void square(float *values, int size)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < size)
        values[at] = values[at] * values[at];
}
"""
checked(driver.cuInit(0))
device = checked(driver.cuDeviceGet(0))
context = checked(driver.cuDevicePrimaryCtxRetain(device))
checked(driver.cuCtxSetCurrent(context))
program = checked(nvrtc.nvrtcCreateProgram(CODE, b"square.cu", 0, [], []))
checked(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_90"]))
ptx = b" " * checked(nvrtc.nvrtcGetPTXSize(program))
checked(nvrtc.nvrtcGetPTX(program, ptx))
module = checked(driver.cuModuleLoadData(numpy.char.array(ptx).ctypes.data))
square = checked(driver.cuModuleGetFunction(module, b"square"))
stream = checked(driver.cuStreamCreate(0))
values = numpy.arange(4096, dtype=numpy.float32)
memory = checked(driver.cuMemAllocAsync(values.nbytes, stream))
checked(driver.cuMemcpyHtoDAsync(memory, values.ctypes.data, values.nbytes, stream))
begin, end = checked(driver.cuEventCreate(0)), checked(driver.cuEventCreate(0))
checked(driver.cuEventRecord(begin, stream))
arguments = ((memory, 4096), (ctypes.c_void_p, ctypes.c_int))
checked(driver.cuLaunchKernel(square, 16, 1, 1, 256, 1, 1, 0, stream, arguments, 0))
checked(driver.cuEventRecord(end, stream))
made = numpy.empty_like(values)
checked(driver.cuMemcpyDtoHAsync(made.ctypes.data, memory, values.nbytes, stream))
checked(driver.cuMemFreeAsync(memory, stream))
checked(driver.cuStreamSynchronize(stream))
later = checked(driver.cuEventElapsedTime(begin, end)) >= 0
print("same", bool((made == values * values).all()), "later", later)
checked(driver.cuModuleUnload(module))
checked(driver.cuDevicePrimaryCtxRelease(device))
