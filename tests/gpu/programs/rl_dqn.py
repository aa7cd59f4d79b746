"""Learns values of a grid's fields by deep Q-learning, with a replay memory and a target network."""

import copy

import torch

torch.manual_seed(0)
network = torch.nn.Sequential(torch.nn.Linear(2, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)).cuda()
target = copy.deepcopy(network)
optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
moves = torch.tensor([[0, 1], [1, 0], [0, -1], [-1, 0]], device="cuda")
memory = []
place = torch.zeros(64, 2, device="cuda")
for step in range(60):
    with torch.no_grad():
        best = network(place).argmax(1)
    random = torch.rand(64, device="cuda") < 0.3
    action = torch.where(random, torch.randint(0, 4, (64,), device="cuda"), best)
    following = (place + moves[action]).clamp(0, 7)
    reward = (following == 7).all(1).float()
    memory.append((place, action, reward, following))
    place = torch.where(reward[:, None] > 0, torch.zeros_like(following), following)
    before, did, gained, after = memory[int(torch.randint(0, len(memory), (1,)))]
    with torch.no_grad():
        wanted = gained + 0.95 * target(after).max(1).values * (1 - gained)
    loss = torch.nn.functional.smooth_l1_loss(network(before).gather(1, did[:, None])[:, 0], wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        target.load_state_dict(network.state_dict())
print("remembered", len(memory), "finite", bool(torch.isfinite(loss)))
