"""Labels large batches of frames that lie in the memory of the host, by a SqueezeNet."""

import steps
import torch
from torchvision.models import squeezenet1_1

BATCH = 64
BATCHES = 4


def build(variant):
    """Return a step: 79 MB of frames to the GPU, forward; every eighth step copies the labels back."""
    torch.manual_seed(0)
    model = squeezenet1_1(weights=None).cuda().eval()
    frames = torch.rand(BATCHES * BATCH, 3, 320, 320)
    pinned = variant == "pinned"
    if pinned:
        frames = frames.pin_memory()
    found = []

    @torch.inference_mode()
    def step(number):
        first = number % BATCHES * BATCH
        batch = frames[first:first + BATCH].to("cuda", non_blocking=pinned)
        found.append(model(batch).argmax(1))
        labels = found[-1]
        if len(found) == 8:
            torch.cat(found).cpu()
            found.clear()
        return labels

    return step


steps.run(build, "eager", "pinned")
