"""Trains a policy by PPO on 1024 pendulums that are simulated on the GPU."""

import steps
import torch

PENDULUMS, MOVES, UPDATES, DISCOUNT, FADING = 1024, 16, 4, 0.99, 0.95


def network(outputs):
    """Return a perceptron of what is seen of a pendulum."""
    linear, tanh = torch.nn.Linear, torch.nn.Tanh
    return torch.nn.Sequential(linear(3, 64), tanh(), linear(64, 64), tanh(), linear(64, outputs))


class Pendulums:
    """Angles and speeds of all pendulums, which a torque moves."""

    def __init__(self):
        self.angle = (torch.rand(PENDULUMS, 1, device="cuda") - 0.5) * 6
        self.speed = torch.rand(PENDULUMS, 1, device="cuda") - 0.5

    def seen(self):
        """Return what the policy sees."""
        return torch.cat([self.angle.cos(), self.angle.sin(), self.speed], 1)

    def move(self, torque):
        """Move all pendulums once; return the rewards."""
        torque = torque.clamp(-2, 2)
        angle = torch.remainder(self.angle + torch.pi, 2 * torch.pi) - torch.pi
        reward = -(angle**2 + 0.1 * self.speed**2 + 0.001 * torque**2)
        self.speed.add_((15 * self.angle.sin() + 3 * torque) * 0.05).clamp_(-8, 8)
        self.angle.add_(self.speed * 0.05)
        return reward


class Policy(torch.nn.Module):
    """A Gaussian policy and the values of states."""

    def __init__(self):
        super().__init__()
        self.actor, self.critic = network(1), network(1)
        self.log_deviation = torch.nn.Parameter(torch.zeros(1))

    def log_likelihood(self, mean, action):
        """Return how likely actions are."""
        return -(((action - mean) / self.log_deviation.exp()) ** 2) / 2 - self.log_deviation

    def act(self, seen):
        """Return drawn actions, how likely they are, and the values."""
        mean = self.actor(seen)
        action = mean + self.log_deviation.exp() * torch.randn_like(mean)
        return action, self.log_likelihood(mean, action), self.critic(seen)


def build(variant):
    """Return a step: 16 moves of all pendulums, then four updates; the mean reward is read."""
    torch.manual_seed(0)
    graph = variant == "graph"
    pendulums, policy = Pendulums(), Policy().cuda()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4, capturable=graph)

    def played():
        rows = []
        for _ in range(MOVES):
            seen = pendulums.seen()
            action, likely, value = policy.act(seen)
            rows.append((seen, action, likely, value, pendulums.move(action)))
        advantage, advantages = 0, []
        following = policy.critic(pendulums.seen())
        for _, _, _, value, reward in reversed(rows):
            advantage = reward + DISCOUNT * following - value + DISCOUNT * FADING * advantage
            following = value
            advantages.insert(0, advantage)
        return [torch.cat(column) for column in zip(*rows)], torch.cat(advantages)

    def iteration():
        with torch.no_grad():
            (seen, action, likely, value, reward), advantage = played()
        for part in torch.rand(len(seen), device="cuda").argsort().chunk(UPDATES):
            gain = advantage[part]
            wanted = gain + value[part]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            now = policy.log_likelihood(policy.actor(seen[part]), action[part])
            ratio = (now - likely[part]).exp()
            loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
            loss = loss + 0.5 * (policy.critic(seen[part]) - wanted).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimizer.step()
        return reward.mean()

    iteration = steps.captured(iteration) if graph else iteration
    return lambda number: iteration().item()


steps.run(build, "eager", "graph")
