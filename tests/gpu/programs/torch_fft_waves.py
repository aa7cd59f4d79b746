"""Solves the wave equation by Fourier transforms, forward and back each step."""

import torch

torch.manual_seed(0)
size = 256
k = torch.fft.fftfreq(size, device="cuda")
speed = (k[:, None] ** 2 + k[None, :] ** 2).sqrt() * 6.2832
axis = torch.linspace(-4, 4, size, device="cuda")
height = torch.exp(-(axis[:, None] ** 2 + axis[None, :] ** 2))
spectrum = torch.fft.fft2(height)
for step in range(100):
    moved = torch.fft.ifft2(spectrum * torch.cos(speed * (step + 1))).real
back = torch.fft.irfft(torch.fft.rfft(height, dim=1), n=size, dim=1)
print("kept", torch.allclose(back, height, atol=1e-4),
      f"sums {height.sum().item():.1f} {moved.sum().item():.1f}")
