"""Maps the tones of two 8K frames by ten elementwise operations, or by what torch.compile makes of them."""

import steps
import torch


def mapped(frames, exposure):
    """Return frames exposed, compressed, with contrast and gamma; white is 1."""
    exposed = frames * exposure
    bright = exposed * (1 + exposed / 16)
    compressed = bright / (1 + exposed)
    contrast = (compressed - 0.5) * 1.1 + 0.5
    return contrast.clamp(0.001, 1).pow(1 / 2.2)


def build(variant):
    """Return a step: two frames mapped; every 16th sets the exposure by their mean."""
    torch.manual_seed(0)
    frames = torch.rand(2, 3, 4320, 7680, device="cuda") * 4
    exposure = torch.ones(1, device="cuda")
    function = torch.compile(mapped) if variant == "compiled" else mapped

    def step(number):
        shown = function(frames, exposure)
        if number % 16 == 15:
            exposure.mul_(0.9 + 0.1 * (0.6 / shown.mean()))
        return shown[0, 0, 0]

    return step


steps.run(build, "eager", "compiled")
