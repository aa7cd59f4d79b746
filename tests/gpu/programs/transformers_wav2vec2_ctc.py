"""Trains a small wav2vec 2.0 with CTC on random waves."""

import torch
from transformers import Wav2Vec2Config, Wav2Vec2ForCTC

torch.manual_seed(0)
config = Wav2Vec2Config(vocab_size=30, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=128, conv_dim=(32, 32, 32), conv_stride=(5, 4, 4),
                        conv_kernel=(10, 8, 4), num_feat_extract_layers=3, apply_spec_augment=False,
                        num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, ctc_zero_infinity=True)
model = Wav2Vec2ForCTC(config).cuda().train()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
waves = torch.randn(4, 8000, device="cuda")
labels = torch.randint(1, 30, (4, 12), device="cuda")
for step in range(8):
    loss = model(input_values=waves, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("finite", bool(torch.isfinite(loss)))
