"""Segments images with a SegFormer of random weights."""

import torch
from transformers import SegformerConfig, SegformerForSemanticSegmentation

torch.manual_seed(0)
config = SegformerConfig(num_encoder_blocks=3, depths=[1, 1, 1], sr_ratios=[4, 2, 1],
                         hidden_sizes=[16, 32, 64], patch_sizes=[7, 3, 3], strides=[4, 2, 2],
                         num_attention_heads=[1, 2, 4], mlp_ratios=[2, 2, 2], decoder_hidden_size=64,
                         num_labels=8)
model = SegformerForSemanticSegmentation(config).cuda().train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
images = torch.randn(4, 3, 128, 128, device="cuda")
labels = torch.randint(0, 8, (4, 128, 128), device="cuda")
for _ in range(8):
    loss = model(pixel_values=images, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.1f}")
