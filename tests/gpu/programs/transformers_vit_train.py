"""Trains a small vision transformer in bfloat16 on random images."""

import torch
from transformers import ViTConfig, ViTForImageClassification

torch.manual_seed(0)
config = ViTConfig(hidden_size=192, num_hidden_layers=4, num_attention_heads=3, intermediate_size=768,
                   image_size=64, patch_size=8, num_labels=10)
model = ViTForImageClassification(config).cuda().train()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
images = torch.randn(32, 3, 64, 64, device="cuda")
labels = torch.arange(32, device="cuda") % 10
for step in range(12):
    with torch.autocast("cuda", torch.bfloat16):
        loss = torch.nn.functional.cross_entropy(model(pixel_values=images).logits, labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.1f}")
