"""Classifies images with a Swin transformer of random weights, shifted windows and all, in half precision."""

import torch
from transformers import SwinConfig, SwinForImageClassification

torch.manual_seed(0)
config = SwinConfig(image_size=128, patch_size=4, embed_dim=48, depths=[2, 2, 2], num_heads=[2, 4, 8],
                    window_size=4, num_labels=20)
model = SwinForImageClassification(config).cuda().half().eval()
images = torch.randn(16, 3, 128, 128, device="cuda", dtype=torch.half)
with torch.inference_mode():
    for _ in range(8):
        scores = model(pixel_values=images).logits
print("shape", tuple(scores.shape), "finite", bool(torch.isfinite(scores).all()))
