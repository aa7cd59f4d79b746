"""Recognizes actions in batches of 16 clips by a 3D ResNet in bfloat16, channels last."""

import steps
import torch
from torchvision.models.video import r3d_18


def build(_):
    """Return a step: clips of bytes to the GPU, scaled there, forward, the labels back."""
    torch.manual_seed(0)
    model = r3d_18(weights=None).to("cuda", torch.bfloat16, memory_format=torch.channels_last_3d).eval()
    clips = [torch.randint(256, (16, 3, 16, 112, 112), dtype=torch.uint8).pin_memory() for _ in range(4)]

    @torch.inference_mode()
    def step(number):
        batch = clips[number % 4].cuda(non_blocking=True)
        batch = batch.to(torch.bfloat16, memory_format=torch.channels_last_3d).div_(255).sub_(0.45).div_(0.22)
        return model(batch).argmax(1).cpu()

    return step


steps.run(build, "eager")
