"""Labels images that come one at a time from the host, by a Swin transformer."""

import steps
import torch
from torchvision.models import swin_t


def build(variant):
    """Return a step: an image to the GPU, the label back."""
    torch.manual_seed(0)
    model = swin_t(weights=None).cuda().eval()
    images = [torch.rand(1, 3, 224, 224) for _ in range(8)]
    image = torch.zeros(1, 3, 224, 224, device="cuda")

    def forward():
        with torch.inference_mode():
            return model(image).argmax(1)

    replay = steps.captured(forward) if variant == "graph" else forward

    def step(number):
        image.copy_(images[number % 8])
        return replay().item()

    return step


steps.run(build, "eager", "graph")
