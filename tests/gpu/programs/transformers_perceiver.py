"""Reads bytes with a Perceiver of random weights: few latents attend to a long input."""

import torch
from transformers import PerceiverConfig, PerceiverForMaskedLM

torch.manual_seed(0)
config = PerceiverConfig(num_latents=32, d_latents=64, d_model=64, num_blocks=1,
                         num_self_attends_per_block=3, num_self_attention_heads=4,
                         num_cross_attention_heads=4, qk_channels=64, v_channels=64,
                         vocab_size=262, max_position_embeddings=512)
model = PerceiverForMaskedLM(config).cuda().eval()
tokens = torch.randint(0, 262, (4, 512), device="cuda")
with torch.no_grad():
    for _ in range(6):
        scores = model(inputs=tokens, attention_mask=torch.ones_like(tokens)).logits
print("shape", tuple(scores.shape), f"spread {scores.std().item():.2f}")
