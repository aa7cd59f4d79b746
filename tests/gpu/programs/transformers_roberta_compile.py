"""Runs the encoder of a RoBERTa with random weights through torch.compile."""

import torch
from transformers import RobertaConfig, RobertaModel

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
config = RobertaConfig(vocab_size=400, hidden_size=64, num_hidden_layers=1, num_attention_heads=4,
                       intermediate_size=128, max_position_embeddings=80)
model = RobertaModel(config).cuda().eval()
encode = torch.compile(model.encoder.layer[0].intermediate)
hidden = torch.randn(8, 64, 64, device="cuda")
with torch.no_grad():
    for _ in range(5):
        made = encode(hidden)
print("shape", tuple(made.shape), f"mean {made.mean().item():.2f}")
