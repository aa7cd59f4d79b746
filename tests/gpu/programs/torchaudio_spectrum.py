"""Computes spectrograms, mel features and resampled sound by torchaudio's transforms."""

import torch
import torchaudio

torch.manual_seed(0)
pitches = torch.tensor([[0.05], [0.1], [0.2], [0.4]], device="cuda")
waves = torch.sin(torch.arange(16000, device="cuda") * pitches)
mel = torchaudio.transforms.MelSpectrogram(16000, n_fft=400, n_mels=40).cuda()
resample = torchaudio.transforms.Resample(16000, 8000).cuda()
loud = torchaudio.transforms.AmplitudeToDB().cuda()
for _ in range(10):
    features = loud(mel(waves))
    lower = resample(waves)
print("features", tuple(features.shape), "lower", tuple(lower.shape), f"mean {features.mean().item():.0f}")
