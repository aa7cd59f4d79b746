"""A training step under PyTorch's own profiler.  Prints how many kernels that profiler saw."""

import torch
from torch.profiler import ProfilerActivity, profile

a = torch.rand(512, 512, device="cuda")
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
    for _ in range(20):
        a = torch.relu(a @ a / 512)
    torch.cuda.synchronize()
events = prof.events() or []
kernels = sum(event.device_type == torch.autograd.DeviceType.CUDA for event in events)
print("kernels", kernels)
