"""Makes mel spectrograms of recordings; the allocator's memory is given back after each batch, or kept."""

import steps
import torch

RECORDINGS, SAMPLES, WINDOW, HOP, BANDS = 32, 480_000, 1024, 256, 80


def build(variant):
    """Return a step: a batch of spectrograms, normalized, and their mean."""
    torch.manual_seed(0)
    sounds = torch.randn(2, RECORDINGS, SAMPLES, device="cuda")
    window = torch.hann_window(WINDOW, device="cuda")
    bands = torch.rand(BANDS, WINDOW // 2 + 1, device="cuda")

    def spectrograms(sound):
        waves = torch.stft(sound, WINDOW, HOP, window=window, return_complex=True)
        mel = (bands @ waves.abs().square()).clamp(min=1e-5).log10()
        mel = torch.maximum(mel, mel.amax((1, 2), keepdim=True) - 8)
        return (mel + 4) / 4

    def step(number):
        result = spectrograms(sounds[number % 2]).mean().item()
        if variant == "emptied":
            torch.cuda.empty_cache()
        return result

    return step


steps.run(build, "emptied", "kept")
