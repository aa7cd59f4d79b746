"""Trains a small BART to copy its input, with gradients of two batches added up."""

import torch
from transformers import BartConfig, BartForConditionalGeneration

torch.manual_seed(0)
config = BartConfig(vocab_size=200, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                    decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128,
                    max_position_embeddings=64, pad_token_id=1, bos_token_id=0, eos_token_id=2,
                    decoder_start_token_id=2, forced_eos_token_id=2)
model = BartForConditionalGeneration(config).cuda().train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(6):
    for half in range(2):
        tokens = torch.randint(3, 200, (8, 24), device="cuda")
        loss = model(input_ids=tokens, labels=tokens).loss / 2
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
print(f"loss {2 * loss.item():.1f}")
