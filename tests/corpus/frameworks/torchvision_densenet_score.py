"""Scores batches of 128 images by a DenseNet in bfloat16, channels last."""

import steps
import torch
from torchvision.models import densenet121


def build(variant):
    """Return a step: bytes to the GPU, scaled there, forward; every tenth step reads the mean score."""
    torch.manual_seed(0)
    model = densenet121(weights=None).to("cuda", torch.bfloat16, memory_format=torch.channels_last).eval()
    if variant == "compiled":
        model = torch.compile(model)
    batches = [torch.randint(256, (128, 3, 224, 224), dtype=torch.uint8).pin_memory() for _ in range(4)]
    scores = []

    @torch.no_grad()
    def step(number):
        images = batches[number % 4].cuda(non_blocking=True)
        images = images.to(torch.bfloat16, memory_format=torch.channels_last).div_(255)
        score = model(images).float().softmax(1).amax(1).mean()
        if number % 10 == 9:
            scores.append(score.item())
        return score

    return step


steps.run(build, "eager", "compiled")
