"""Embeds texts by a Mamba without its own kernels: the scan is a loop over the words."""

import steps
import torch
from transformers import MambaConfig, MambaModel

WORDS = 48


def build(variant):
    """Return a step: a text to the GPU, its embedding back."""
    torch.manual_seed(0)
    config = MambaConfig(vocab_size=16000, hidden_size=512, num_hidden_layers=4, use_cache=False)
    model = MambaModel(config).cuda().eval()
    texts = [torch.randint(0, 16000, (2, WORDS)) for _ in range(8)]

    @torch.inference_mode()
    def embed(text):
        return model(text, use_cache=False).last_hidden_state.mean(1)

    if variant == "graph":
        held = texts[0].cuda()
        replay = steps.captured(lambda: embed(held))

        def step(number):
            held.copy_(texts[number % 8])
            return replay().cpu()

        return step
    return lambda number: embed(texts[number % 8].cuda()).cpu()


steps.run(build, "eager", "graph")
