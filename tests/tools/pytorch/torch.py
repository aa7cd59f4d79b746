"""A stand-in for PyTorch: as much of torch.cuda as workloads/workload.py uses, and no GPU.

TORCH_LACKS says what is missing: module (PyTorch), library (one that it needs), device, driver.
TORCH_PHASES names a file that gets the NVTX ranges, one a line, indented by depth.
"""

import contextlib
import os
import types

lacks = os.environ.get("TORCH_LACKS")
if lacks == "module":
    raise ModuleNotFoundError("No module named 'torch'", name="torch")
if lacks == "library":
    raise ImportError("libcudart.so.13: cannot open shared object file\nmore advice")

cuda = types.ModuleType("torch.cuda")
depth = 0


def init():
    if lacks == "device":
        raise RuntimeError("No CUDA GPUs are available")
    if lacks == "driver":
        raise RuntimeError("Found no NVIDIA driver on your system.\nPlease check that you have one")


@contextlib.contextmanager
def nvtx_range(name):
    global depth
    with open(os.environ.get("TORCH_PHASES", os.devnull), "a", encoding="utf-8") as phases:
        print("  " * depth + name, file=phases)
    depth += 1
    try:
        yield
    finally:
        depth -= 1


class ones:
    def __init__(self, *_, **__):
        pass

    def item(self):
        return 1.0


cuda.init = init
cuda.device_count = lambda: 2
cuda.set_device = lambda index: None
cuda.get_device_name = lambda: "Imagined GPU"
cuda.synchronize = lambda: None
cuda.mem_get_info = lambda: (3 << 29, 80 << 30)
cuda.nvtx = types.SimpleNamespace(range=nvtx_range)
