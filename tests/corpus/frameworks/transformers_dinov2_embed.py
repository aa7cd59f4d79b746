"""Compares images with known ones by a small DINOv2 in half precision, in batches of pageable memory."""

import steps
import torch
from transformers import Dinov2Config, Dinov2Model

IMAGES, KNOWN = 64, 100


def build(variant):
    """Return a step: a batch of images to the GPU, how near each is to the known ones back."""
    torch.manual_seed(0)
    config = Dinov2Config(
        hidden_size=384, num_hidden_layers=12, num_attention_heads=6, image_size=224, patch_size=16
    )
    model = Dinov2Model(config).half().cuda().eval()
    data = [torch.rand(IMAGES, 3, 224, 224) for _ in range(6)]
    known = torch.rand(config.hidden_size, KNOWN, device="cuda").half()
    if variant == "pinned":
        data = [images.pin_memory() for images in data]

    @torch.inference_mode()
    def step(number):
        images = data[number % 6].to("cuda", non_blocking=variant == "pinned")
        return (model(images.half()).last_hidden_state[:, 0] @ known).float().cpu()

    return step


steps.run(build, "eager", "pinned")
