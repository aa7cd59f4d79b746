"""Trains an LSTM of cuDNN on packed sequences of different lengths."""

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.manual_seed(0)
network = torch.nn.LSTM(16, 64, num_layers=2, batch_first=True, bidirectional=True).cuda()
judge = torch.nn.Linear(128, 1).cuda()
optimizer = torch.optim.RMSprop([*network.parameters(), *judge.parameters()], lr=1e-3)
lengths = torch.randint(5, 40, (32,)).sort(descending=True).values
inputs = torch.randn(32, int(lengths[0]), 16, device="cuda")
for _ in range(15):
    made, _ = pad_packed_sequence(network(pack_padded_sequence(inputs, lengths, batch_first=True))[0],
                                  batch_first=True)
    loss = (judge(made)[..., 0] - inputs.sum(2)[:, :made.size(1)]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("longest", int(lengths[0]), f"loss {loss.item():.0f}")
