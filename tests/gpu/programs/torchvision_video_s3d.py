"""Classifies clips with a 3D network of separated convolutions."""

import torch
import torchvision

torch.manual_seed(0)
model = torchvision.models.video.s3d(weights=None, num_classes=12).cuda().eval()
clips = torch.randn(1, 3, 16, 224, 224, device="cuda")
with torch.inference_mode():
    for _ in range(4):
        scores = model(clips)
print("shape", tuple(scores.shape), "finite", bool(torch.isfinite(scores).all()))
