"""Moves 64 bodies by the classical Runge-Kutta method; the energy is read every 20 time steps."""

import steps
import torch

BODIES, TIME_STEPS, DT = 64, 20, 1e-3


def build(variant):
    """Return a step: 20 time steps and the kinetic energy."""
    torch.manual_seed(0)
    masses = torch.rand(BODIES, 1, device="cuda") / BODIES
    places = torch.randn(BODIES, 3, device="cuda")
    speeds = torch.randn(BODIES, 3, device="cuda") * 0.1

    def pull(where):
        apart = where[None] - where[:, None]
        distance = (apart.square().sum(-1, keepdim=True) + 0.01).pow(-1.5)
        return (apart * distance * masses).sum(1)

    def moved():
        for _ in range(TIME_STEPS):
            speed1, pull1 = speeds, pull(places)
            speed2, pull2 = speeds + DT / 2 * pull1, pull(places + DT / 2 * speed1)
            speed3, pull3 = speeds + DT / 2 * pull2, pull(places + DT / 2 * speed2)
            speed4, pull4 = speeds + DT * pull3, pull(places + DT * speed3)
            places.add_(DT / 6 * (speed1 + 2 * speed2 + 2 * speed3 + speed4))
            speeds.add_(DT / 6 * (pull1 + 2 * pull2 + 2 * pull3 + pull4))
        return 0.5 * (masses * speeds.square()).sum()

    if variant == "graph":
        moved = steps.captured(moved)
    else:
        for _ in range(3):
            moved()
    return lambda number: moved().item()


steps.run(build, "eager", "graph")
