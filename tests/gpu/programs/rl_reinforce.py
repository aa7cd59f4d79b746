"""Learns to balance a pole by REINFORCE, in many simulations on the GPU at once."""

import torch

torch.manual_seed(0)
count = 256
policy = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2)).cuda()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def advance(state, action):
    """One step of 20 ms of cart and pole."""
    x, v, angle, spin = state.unbind(1)
    force = torch.where(action == 1, 10.0, -10.0)
    push = (force + 0.05 * spin**2 * angle.sin()) / 1.1
    turn = (9.8 * angle.sin() - angle.cos() * push) / (0.5 * (4 / 3 - 0.1 * angle.cos() ** 2 / 1.1))
    pull = push - 0.05 * turn * angle.cos() / 1.1
    return torch.stack([x + 0.02 * v, v + 0.02 * pull, angle + 0.02 * spin, spin + 0.02 * turn], 1)


for episode in range(4):
    state = (torch.rand(count, 4, device="cuda") - 0.5) / 10
    alive = torch.ones(count, device="cuda")
    chosen, rewards = [], []
    for _ in range(40):
        choice = torch.distributions.Categorical(logits=policy(state))
        action = choice.sample()
        chosen.append(choice.log_prob(action) * alive)
        state = advance(state, action)
        alive = alive * (state[:, 2].abs() < 0.2)
        rewards.append(alive)
    returns = torch.stack(rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.stack(chosen) * (returns - returns.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("episodes", episode + 1, "steps", len(rewards))
