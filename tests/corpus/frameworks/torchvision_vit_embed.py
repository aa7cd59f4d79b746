"""Embeds batches of 64 images by a ViT-B/16 in single precision."""

import steps
import torch
from torchvision.models import vit_b_16


def build(variant):
    """Return a step: a pinned batch to the GPU, forward; the embeddings go back to pinned memory."""
    torch.manual_seed(0)
    if variant == "tf32":
        torch.set_float32_matmul_precision("high")
    model = vit_b_16(weights=None)
    model.heads = torch.nn.LayerNorm(768)
    model = model.cuda().eval()
    batches = [torch.rand(64, 3, 224, 224).pin_memory() for _ in range(4)]
    embeddings = torch.empty(64, 768, pin_memory=True)

    @torch.inference_mode()
    def step(number):
        result = model(batches[number % 4].cuda(non_blocking=True))
        embeddings.copy_(result, non_blocking=True)
        torch.cuda.current_stream().synchronize()
        return embeddings.abs()

    return step


steps.run(build, "eager", "tf32")
