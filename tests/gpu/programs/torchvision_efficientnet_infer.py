"""Classifies images with an EfficientNet of random weights."""

import torch
import torchvision

torch.manual_seed(0)
torch.backends.cudnn.benchmark = False
model = torchvision.models.efficientnet_b0(weights=None).cuda().eval()
images = torch.randn(8, 3, 128, 128, device="cuda")
with torch.inference_mode():
    for _ in range(6):
        scores = model(images)
print("shape", tuple(scores.shape), "finite", bool(torch.isfinite(scores).all()))
