"""Detects objects with an SSD of random weights: boxes of every image differ in number."""

import torch
import torchvision

torch.manual_seed(0)
build = torchvision.models.detection.ssdlite320_mobilenet_v3_large
model = build(weights=None, weights_backbone=None, num_classes=5)
model = model.cuda().eval()
images = [torch.rand(3, 200 + 40 * i, 240, device="cuda") for i in range(3)]
with torch.inference_mode():
    for _ in range(3):
        found = model(images)
print("images", len(found), "columns", found[0]["boxes"].shape[1])
boxes = torch.rand(2000, 4, device="cuda") * 50
boxes[:, 2:] += boxes[:, :2] + 1
kept = torchvision.ops.nms(boxes, torch.rand(2000, device="cuda"), 0.5)
print("kept some", 0 < len(kept) < 2000)
