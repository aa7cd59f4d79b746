"""Trains a MobileNetV3 in channels-last layout with a gradient scaler."""

import torch
import torchvision

torch.manual_seed(0)
model = torchvision.models.mobilenet_v3_small(weights=None, num_classes=10).cuda()
model = model.to(memory_format=torch.channels_last).train()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cuda")
images = torch.randn(16, 3, 96, 96, device="cuda").to(memory_format=torch.channels_last)
labels = torch.arange(16, device="cuda") % 10
for _ in range(8):
    with torch.autocast("cuda", torch.float16):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print("finite", bool(torch.isfinite(loss)))
