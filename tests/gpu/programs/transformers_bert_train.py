"""Trains a small BERT with random weights to classify token sequences."""

import torch
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
config = BertConfig(vocab_size=1000, hidden_size=128, num_hidden_layers=4, num_attention_heads=4,
                    intermediate_size=512, max_position_embeddings=128, num_labels=4)
model = BertForSequenceClassification(config).cuda().train()
model.config.problem_type = "single_label_classification"
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
tokens = torch.randint(0, 1000, (16, 64), device="cuda")
mask = torch.ones_like(tokens)
labels = tokens[:, 0] % 4
for step in range(10):
    loss = model(input_ids=tokens, attention_mask=mask, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.2f}")
print("parameters", sum(p.numel() for p in model.parameters()))
