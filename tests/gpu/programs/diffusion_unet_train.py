"""Trains a denoising U-Net: noise is added to images by a schedule, and the network predicts it."""

import torch
from torch import nn

torch.manual_seed(0)


class UNet(nn.Module):
    """Two levels with a skip connection and an embedding of time."""

    def __init__(self, width=32):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(1, width), nn.SiLU(), nn.Linear(width, width))
        self.enter = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.Sequential(nn.GroupNorm(8, width), nn.SiLU(), nn.Conv2d(width, 2 * width, 3, 2, 1))
        self.middle = nn.Sequential(nn.GroupNorm(8, 2 * width), nn.SiLU(),
                                    nn.Conv2d(2 * width, 2 * width, 3, 1, 1))
        self.up = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.leave = nn.Conv2d(2 * width, 3, 3, padding=1)

    def forward(self, images, time):
        first = self.enter(images) + self.time(time[:, None])[:, :, None, None]
        return self.leave(torch.cat([self.up(self.middle(self.down(first))), first], 1))


model = UNet().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
kept = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 100, device="cuda"), 0)
images = torch.randn(16, 3, 32, 32, device="cuda").tanh()
for _ in range(20):
    at = torch.randint(0, 100, (16,), device="cuda")
    share = kept[at][:, None, None, None]
    noise = torch.randn_like(images)
    loss = (model(share.sqrt() * images + (1 - share).sqrt() * noise, at / 100) - noise).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.1f}")
with torch.no_grad():
    made = torch.randn_like(images)
    for at in range(99, -1, -4):
        share = kept[at]
        guess = model(made, torch.full((16,), at / 100, device="cuda"))
        clean = ((made - (1 - share).sqrt() * guess) / share.sqrt()).clamp(-1, 1)
        before = kept[at - 4] if at >= 4 else torch.ones((), device="cuda")
        made = before.sqrt() * clean + (1 - before).sqrt() * guess
print("made", tuple(made.shape), "finite", bool(torch.isfinite(made).all()))
