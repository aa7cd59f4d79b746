"""Trains DeepLabV3 on a MobileNet, with dilated convolutions and upsampling, in bfloat16."""

import torch
import torchvision

torch.manual_seed(0)
build = torchvision.models.segmentation.deeplabv3_mobilenet_v3_large
model = build(weights=None, weights_backbone=None, num_classes=6)
model = model.cuda().train()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
images = torch.randn(4, 3, 96, 96, device="cuda")
labels = torch.randint(0, 6, (4, 96, 96), device="cuda")
for _ in range(5):
    with torch.autocast("cuda", torch.bfloat16):
        made = model(images)["out"]
        loss = torch.nn.functional.cross_entropy(made.float(), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("shape", tuple(made.shape), f"loss {loss.item():.0f}")
