"""Finds objects in frames that come one at a time, by a Faster R-CNN on a MobileNetV3."""

import steps
import torch
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn


class Replayed(torch.nn.Module):
    """A module without data-dependent shapes, as a CUDA graph."""

    def __init__(self, module, example):
        super().__init__()
        self.static = torch.zeros_like(example)
        self.replay = steps.captured(lambda: module(self.static))

    def forward(self, values):
        """Return the results of the replay; they stay in place."""
        self.static.copy_(values)
        return self.replay()


def build(variant):
    """Return a step: a frame to the GPU, its boxes, labels and scores back."""
    torch.manual_seed(0)
    model = fasterrcnn_mobilenet_v3_large_320_fpn(weights=None, weights_backbone=None).cuda().eval()
    frames = [torch.rand(3, 480, 640) for _ in range(8)]
    with torch.no_grad():
        # Scores as of a trained model: most boxes are background, some are of three classes.
        model.roi_heads.box_predictor.cls_score.bias[0] = 5
        model.roi_heads.box_predictor.cls_score.bias[1:4] = 3
    with torch.inference_mode():
        if variant == "graph":
            images, _ = model.transform([frames[0].cuda()])
            model.backbone = Replayed(model.backbone, images.tensors)

    @torch.inference_mode()
    def step(number):
        found = model([frames[number % 8].cuda()])[0]
        boxes, _, scores = (found[key].cpu() for key in ("boxes", "labels", "scores"))
        return scores.sum() + boxes.mean()

    return step


steps.run(build, "eager", "graph")
