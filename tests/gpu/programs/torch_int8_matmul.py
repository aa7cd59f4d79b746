"""Quantizes weights to 8 bits and multiplies in integers and in FP8."""

import torch

torch.manual_seed(0)
weights = torch.randn(256, 256, device="cuda")
inputs = torch.randn(64, 256, device="cuda")
w_scale, x_scale = weights.abs().max() / 127, inputs.abs().max() / 127
w_int = (weights / w_scale).round().to(torch.int8)
x_int = (inputs / x_scale).round().to(torch.int8)
for _ in range(20):
    made = torch._int_mm(x_int, w_int).float() * w_scale * x_scale
error = (made - inputs @ weights).abs().mean() / (inputs @ weights).abs().mean()
print(f"error of int8 {error.item():.2f}")
one = torch.ones((), device="cuda")
made = torch._scaled_mm(inputs.to(torch.float8_e4m3fn), weights.T.contiguous().to(torch.float8_e4m3fn).T,
                        scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
print("fp8", tuple(made.shape))
