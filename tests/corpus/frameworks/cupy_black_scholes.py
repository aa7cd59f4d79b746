"""Prices ten million options by the formula of Black and Scholes, written in arrays of CuPy."""

import cupy
import steps
from cupyx.scipy.special import ndtr

OPTIONS = 10_000_000
RATE = 0.03

price_fused = cupy.ElementwiseKernel(
    "float32 spot, float32 strike, float32 years, float32 volatility, float32 rate",
    "float32 call, float32 put",
    """
    float spread = volatility * sqrtf(years);
    float d1 = (logf(spot / strike) + (rate + 0.5f * volatility * volatility) * years) / spread;
    float d2 = d1 - spread;
    float discounted = strike * expf(-rate * years);
    call = spot * normcdff(d1) - discounted * normcdff(d2);
    put = discounted * normcdff(-d2) - spot * normcdff(-d1);
    """,
    "price_options",
)


def price(spot, strike, years, volatility, rate):
    """Return the prices of calls and puts."""
    spread = volatility * cupy.sqrt(years)
    d1 = (cupy.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    d2 = d1 - spread
    discounted = strike * cupy.exp(-rate * years)
    call = spot * ndtr(d1) - discounted * ndtr(d2)
    put = discounted * ndtr(-d2) - spot * ndtr(-d1)
    return call, put


def build(variant):
    """Return a step: the prices at ten volatilities, and the mean of each."""
    random = cupy.random.RandomState(0)
    spot = random.uniform(10, 100, OPTIONS).astype(cupy.float32)
    strike = random.uniform(10, 100, OPTIONS).astype(cupy.float32)
    years = random.uniform(0.2, 2, OPTIONS).astype(cupy.float32)
    function = price_fused if variant == "fused" else price

    def step(_):
        total = 0.0
        for percent in range(10, 60, 5):
            call, put = function(spot, strike, years, percent / 100, RATE)
            total += float(call.mean() + put.mean())
        return total

    return step


steps.run(build, "eager", "fused", synchronize=cupy.cuda.runtime.deviceSynchronize)
