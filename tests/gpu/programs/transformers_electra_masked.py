"""Fills masked tokens with an ELECTRA generator, and has its discriminator judge them."""

import torch
from transformers import ElectraConfig, ElectraForMaskedLM, ElectraForPreTraining

torch.manual_seed(0)
config = ElectraConfig(vocab_size=600, embedding_size=64, hidden_size=128, num_hidden_layers=2,
                       num_attention_heads=4, intermediate_size=256, max_position_embeddings=64)
generator = ElectraForMaskedLM(config).cuda().eval()
judge = ElectraForPreTraining(config).cuda().eval()
tokens = torch.randint(5, 600, (8, 48), device="cuda")
masked = tokens.clone()
masked[:, ::6] = 4
with torch.inference_mode():
    for _ in range(10):
        filled = torch.where(masked == 4, generator(input_ids=masked).logits.argmax(-1), tokens)
        verdict = judge(input_ids=filled).logits
print("masked", int((masked == 4).sum()), "verdicts", tuple(verdict.shape))
