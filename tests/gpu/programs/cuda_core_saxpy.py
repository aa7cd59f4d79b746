"""Compiles a kernel at run time and launches it by cuda.core."""

import numpy
import torch

try:
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
except ImportError:
    from cuda.core.experimental import Device, LaunchConfig, Program, ProgramOptions, launch

CODE = """
template <typename T> __global__ void saxpy(T a, const T *x, const T *y, T *out, size_t size)
{
    size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    for (; at < size; at += gridDim.x * (size_t)blockDim.x)
        out[at] = a * x[at] + y[at];
}
"""
device = Device(0)
device.set_current()
stream = device.create_stream()
capability = "".join(map(str, device.compute_capability))
program = Program(CODE, "c++", ProgramOptions(std="c++17", arch=f"sm_{capability}"))
kernel = program.compile("cubin", name_expressions=("saxpy<float>",)).get_kernel("saxpy<float>")
x = torch.arange(100000, device="cuda", dtype=torch.float32)
y, out = torch.ones_like(x), torch.empty_like(x)
torch.cuda.synchronize()
for _ in range(10):
    launch(stream, LaunchConfig(grid=64, block=256), kernel, numpy.float32(2), x.data_ptr(), y.data_ptr(),
           out.data_ptr(), numpy.uint64(x.numel()))
stream.sync()
print("same", torch.equal(out, 2 * x + y))
