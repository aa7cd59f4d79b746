"""Transcribes random sound with a tiny Whisper of random weights."""

import torch
from transformers import WhisperConfig, WhisperForConditionalGeneration

torch.manual_seed(0)
config = WhisperConfig(vocab_size=400, num_mel_bins=40, d_model=96, encoder_layers=2, decoder_layers=2,
                       encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=192,
                       decoder_ffn_dim=192, max_source_positions=200, max_target_positions=64,
                       pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=3)
model = WhisperForConditionalGeneration(config).cuda().eval()
sound = torch.randn(2, 40, 400, device="cuda")
with torch.no_grad():
    encoded = model.model.encoder(sound).last_hidden_state
    tokens = torch.full((2, 1), 3, device="cuda")
    for _ in range(20):
        scores = model(encoder_outputs=(encoded,), decoder_input_ids=tokens).logits[:, -1]
        tokens = torch.cat([tokens, scores.argmax(-1, keepdim=True)], 1)
print("tokens", tuple(tokens.shape))
print(f"encoded {encoded.abs().mean().item():.2f}")
