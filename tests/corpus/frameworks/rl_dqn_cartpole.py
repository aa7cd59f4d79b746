"""Learns to balance a pole by deep Q-learning; environment and replay memory are Python on the host."""

import math
import random

import steps
import torch
from torch.nn import functional

BATCH, MOVES, MEMORY = 64, 10, 10_000


def moved(state, action):
    """Return the next state of cart and pole, the reward, and whether the pole has fallen."""
    x, v, angle, spin = state
    push = (10.0 if action else -10.0) + 0.05 * spin * spin * math.sin(angle)
    turn = (9.8 * math.sin(angle) - math.cos(angle) * push / 1.1) / (
        0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1)
    )
    speed_up = push / 1.1 - 0.05 * turn * math.cos(angle) / 1.1
    state = (x + 0.02 * v, v + 0.02 * speed_up, angle + 0.02 * spin, spin + 0.02 * turn)
    return state, 1.0, abs(state[0]) > 2.4 or abs(state[2]) > 0.21


def perceptron():
    """Return the network of the values of both actions."""
    linear, relu = torch.nn.Linear, torch.nn.ReLU
    return torch.nn.Sequential(linear(4, 128), relu(), linear(128, 128), relu(), linear(128, 2)).cuda()


def build(variant):
    """Return a step: ten moves, after each of which a batch of the memory is trained on."""
    random.seed(0)
    torch.manual_seed(0)
    graph = variant == "graph"
    model, target = perceptron(), perceptron()
    target.load_state_dict(model.state_dict())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, amsgrad=True, capturable=graph)
    memory, state = [], (0.0, 0.0, 0.02, 0.0)

    def best(seen):
        with torch.no_grad():
            return model(seen).argmax(1)

    def train(states, actions, rewards, coming, ended):
        values = model(states).gather(1, actions).squeeze(1)
        with torch.no_grad():
            wanted = rewards + 0.99 * (1 - ended) * target(coming).amax(1)
        loss = functional.smooth_l1_loss(values, wanted)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(target.parameters(), model.parameters()):
                slow.lerp_(fast, 0.005)
        return loss.detach()

    zeros = [torch.zeros(BATCH, *shape, device="cuda") for shape in ((4,), (1,), (), (4,), ())]
    zeros[1] = zeros[1].long()
    if graph:
        seen = torch.zeros(1, 4, device="cuda")
        replay_best, replay_train = steps.captured(lambda: best(seen)), steps.captured(lambda: train(*zeros))
    else:
        for _ in range(3):
            train(*zeros)

    def act():
        now = torch.tensor([state])
        if graph:
            seen.copy_(now)
            return replay_best().item()
        return best(now.cuda()).item()

    def learn():
        states, actions, rewards, coming, ended = zip(*random.sample(memory, BATCH))
        batch = [torch.tensor(part, dtype=torch.float32) for part in (states, rewards, coming, ended)]
        batch.insert(1, torch.tensor(actions)[:, None])
        if not graph:
            return train(*(part.cuda() for part in batch))
        for place, part in zip(zeros, batch):
            place.copy_(part)
        return replay_train()

    def step(_):
        nonlocal state
        for _ in range(MOVES):
            action = random.randrange(2) if random.random() < 0.1 else act()
            following, reward, ended = moved(state, action)
            memory.append((state, action, reward, following, float(ended)))
            del memory[:-MEMORY]
            state = (0.0, 0.0, random.uniform(-0.05, 0.05), 0.0) if ended else following
            loss = learn() if len(memory) >= BATCH else None
        return loss

    return step


steps.run(build, "eager", "graph")
