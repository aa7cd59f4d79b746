"""Estimates the flow between two images with RAFT: correlation, and a recurrent unit that looks it up."""

import torch
import torchvision

torch.manual_seed(0)
model = torchvision.models.optical_flow.raft_small(weights=None).cuda().eval()
first = torch.rand(1, 3, 128, 160, device="cuda") * 2 - 1
second = torch.roll(first, 2, dims=3)
with torch.inference_mode():
    flows = model(first, second, num_flow_updates=6)
print("updates", len(flows), "shape", tuple(flows[-1].shape))
