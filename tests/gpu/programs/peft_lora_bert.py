"""Fine-tunes a frozen BERT by low-rank adapters."""

import torch
from peft import LoraConfig, get_peft_model
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
config = BertConfig(vocab_size=500, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, num_labels=2)
base = BertForSequenceClassification(config)
model = get_peft_model(base, LoraConfig(r=4, target_modules=["query", "value"], task_type="SEQ_CLS")).cuda()
trained = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-3)
tokens = torch.randint(0, 500, (16, 32), device="cuda")
labels = tokens[:, 0] % 2
for _ in range(8):
    loss = model(input_ids=tokens, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("trained", sum(p.numel() for p in trained), f"loss {loss.item():.1f}")
