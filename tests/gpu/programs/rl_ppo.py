"""Improves a policy by clipped updates (PPO): a batch of walks is used for several epochs."""

import torch

torch.manual_seed(0)
actor = torch.nn.Sequential(torch.nn.Linear(3, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)).cuda()
critic = torch.nn.Sequential(torch.nn.Linear(3, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)).cuda()
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-4)
for _ in range(2):
    angle, spin = torch.rand(128, device="cuda") * 6 - 3, torch.zeros(128, device="cuda")
    seen, did, gained, likely = [], [], [], []
    with torch.no_grad():
        for _ in range(25):
            state = torch.stack([angle.cos(), angle.sin(), spin], 1)
            choice = torch.distributions.Normal(actor(state)[:, 0], 0.5)
            action = choice.sample()
            spin = (spin + 0.05 * (15 * angle.sin() + 3 * action.clamp(-2, 2))).clamp(-8, 8)
            angle = angle + 0.05 * spin
            seen.append(state), did.append(action), likely.append(choice.log_prob(action))
            gained.append(-(angle.sin() ** 2 + 0.1 * spin**2))
    states, actions, before = torch.cat(seen), torch.cat(did), torch.cat(likely)
    returns = torch.stack(gained).flip(0).cumsum(0).flip(0).reshape(-1)
    for _ in range(4):
        for part in torch.randperm(len(states), device="cuda").chunk(4):
            ratio = (torch.distributions.Normal(actor(states[part])[:, 0], 0.5).log_prob(actions[part])
                     - before[part]).exp()
            value = critic(states[part])[:, 0]
            gain = returns[part] - value.detach()
            loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
            loss = loss + (value - returns[part]).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
print("states", len(states), "finite", bool(torch.isfinite(loss)))
