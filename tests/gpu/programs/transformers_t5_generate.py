"""Generates tokens with an encoder and decoder of the T5 kind, random weights, greedily."""

import torch
from transformers import T5Config, T5ForConditionalGeneration

torch.manual_seed(0)
config = T5Config(vocab_size=512, d_model=128, d_kv=32, d_ff=256, num_layers=2, num_decoder_layers=2,
                  num_heads=4, decoder_start_token_id=0, eos_token_id=1, pad_token_id=0)
model = T5ForConditionalGeneration(config).cuda().eval()
tokens = torch.randint(2, 512, (4, 32), device="cuda")
with torch.no_grad():
    made = model.generate(tokens, max_new_tokens=24, min_new_tokens=24, do_sample=False)
    scores = model(input_ids=tokens, decoder_input_ids=tokens[:, :8]).logits
print("generated", tuple(made.shape))
print(f"mean of scores {scores.float().mean().item():.2f}")
