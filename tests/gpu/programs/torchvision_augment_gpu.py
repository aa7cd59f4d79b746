"""Augments images on the GPU by the second version of torchvision's transforms."""

import torch
from torchvision.transforms import v2

torch.manual_seed(0)
augment = v2.Compose([v2.RandomResizedCrop(64, antialias=True), v2.RandomHorizontalFlip(),
                      v2.ColorJitter(0.3, 0.3, 0.3), v2.GaussianBlur(5),
                      v2.ToDtype(torch.float32, scale=True),
                      v2.Normalize([0.5] * 3, [0.2] * 3)])
images = torch.randint(0, 256, (16, 3, 96, 96), dtype=torch.uint8, device="cuda")
total = 0.0
for _ in range(10):
    total += augment(images).mean().item()
print(f"mean {total / 10:.1f}")
