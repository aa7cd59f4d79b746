"""Runs a Mamba state space model with random weights, by the plain scan."""

import torch
from transformers import MambaConfig, MambaForCausalLM

torch.manual_seed(0)
config = MambaConfig(vocab_size=500, hidden_size=64, num_hidden_layers=2, state_size=8, use_mambapy=False)
model = MambaForCausalLM(config).cuda().eval()
tokens = torch.randint(0, 500, (4, 48), device="cuda")
with torch.no_grad():
    for _ in range(2):
        scores = model(input_ids=tokens).logits
print("shape", tuple(scores.shape))
print(f"spread {scores.std().item():.2f}")
