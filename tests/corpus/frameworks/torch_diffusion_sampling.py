"""Draws images by 50 denoising steps of a small U-Net, with coefficients that Python computes."""

import math

import steps
import torch
from torch.nn import functional

IMAGES, SIZE, WIDTH, DENOISINGS = 4, 16, 64, 50


class Block(torch.nn.Module):
    """A residual block that is shifted by the embedded time."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.GroupNorm(8, width) for width in (inputs, outputs))
        self.first = torch.nn.Conv2d(inputs, outputs, 3, padding=1)
        self.second = torch.nn.Conv2d(outputs, outputs, 3, padding=1)
        self.shift = torch.nn.Linear(WIDTH, outputs)
        self.past = torch.nn.Conv2d(inputs, outputs, 1)

    def forward(self, x, time):
        """Return the block's features."""
        hidden = self.first(functional.silu(self.norms[0](x))) + self.shift(time)[:, :, None, None]
        return self.past(x) + self.second(functional.silu(self.norms[1](hidden)))


class UNet(torch.nn.Module):
    """Two blocks at full size, two at half, one in the middle with what was before."""

    def __init__(self):
        super().__init__()
        self.enter = torch.nn.Conv2d(4, WIDTH, 3, padding=1)
        self.leave = torch.nn.Conv2d(WIDTH, 4, 3, padding=1)
        self.time = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.SiLU())
        self.down, self.middle = Block(WIDTH, WIDTH), Block(WIDTH, 2 * WIDTH)
        self.bottom, self.up = Block(2 * WIDTH, 2 * WIDTH), Block(3 * WIDTH, WIDTH)

    def forward(self, x, time):
        """Return the noise in x at times from 0 to 1."""
        waves = time[:, None] * torch.arange(1, WIDTH // 2 + 1, device=x.device)
        time = self.time(torch.cat([waves.sin(), waves.cos()], 1))
        full = self.down(self.enter(x), time)
        half = self.bottom(self.middle(functional.avg_pool2d(full, 2), time), time)
        up = functional.interpolate(half, scale_factor=2.0, mode="nearest")
        return self.leave(functional.silu(self.up(torch.cat([up, full], 1), time)))


def build(variant):
    """Return a step: four images, copied to the host."""
    torch.manual_seed(0)
    model = UNet().cuda().eval()
    kept = [math.cos(0.5 * math.pi * i / (DENOISINGS + 1)) ** 2 for i in range(DENOISINGS + 1)]

    @torch.inference_mode()
    def sampled():
        x = torch.randn(IMAGES, 4, SIZE, SIZE, device="cuda")
        for i in range(DENOISINGS, 0, -1):
            noise = model(x, torch.full((IMAGES,), i / DENOISINGS, device="cuda"))
            clean = ((x - math.sqrt(1 - kept[i]) * noise) / math.sqrt(kept[i])).clamp(-1, 1)
            x = math.sqrt(kept[i - 1]) * clean + math.sqrt(1 - kept[i - 1]) * noise
        return x

    sampled = steps.captured(sampled) if variant == "graph" else sampled
    return lambda number: sampled().cpu().abs()


steps.run(build, "eager", "graph")
