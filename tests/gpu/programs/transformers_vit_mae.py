"""Pretrains a masked autoencoder: a quarter of the patches is encoded, the others are reconstructed."""

import torch
from transformers import ViTMAEConfig, ViTMAEForPreTraining

torch.manual_seed(0)
config = ViTMAEConfig(hidden_size=96, num_hidden_layers=3, num_attention_heads=3, intermediate_size=192,
                      image_size=64, patch_size=8, decoder_hidden_size=64, decoder_num_hidden_layers=2,
                      decoder_num_attention_heads=4, decoder_intermediate_size=128)
model = ViTMAEForPreTraining(config).cuda().train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
images = torch.randn(16, 3, 64, 64, device="cuda")
noise = torch.rand(16, 64, device="cuda")
for _ in range(10):
    loss = model(pixel_values=images, noise=noise).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.1f}")
