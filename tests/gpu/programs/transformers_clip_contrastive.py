"""Trains a small CLIP with random weights on pairs of random images and texts."""

import torch
from transformers import CLIPConfig, CLIPModel

torch.manual_seed(0)
text = {"vocab_size": 300, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
        "num_attention_heads": 4, "max_position_embeddings": 16, "eos_token_id": 299, "bos_token_id": 298,
        "pad_token_id": 0}
vision = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
          "image_size": 32, "patch_size": 8}
model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=32)).cuda().train()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
images = torch.randn(16, 3, 32, 32, device="cuda")
tokens = torch.randint(1, 290, (16, 16), device="cuda")
tokens[:, -1] = 299
for step in range(10):
    loss = model(input_ids=tokens, pixel_values=images, return_loss=True).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.1f}")
