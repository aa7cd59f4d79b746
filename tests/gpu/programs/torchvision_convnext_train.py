"""Trains a small ConvNeXt with gradient checkpoints: its forward pass runs twice."""

import torch
import torchvision
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
model = torchvision.models.convnext_tiny(weights=None, num_classes=10).cuda().train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
images = torch.randn(8, 3, 64, 64, device="cuda")
labels = torch.arange(8, device="cuda")
for _ in range(5):
    features = checkpoint(model.features, images, use_reentrant=False)
    loss = torch.nn.functional.cross_entropy(model.classifier(model.avgpool(features)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("finite", bool(torch.isfinite(loss)))
