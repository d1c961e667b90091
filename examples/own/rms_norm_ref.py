"""A reference in plain PyTorch: ./kbx eval examples/own/rms_norm.py --reference examples/own/rms_norm_ref.py"""

import torch


# inputs: f32[256, 1024], f32[1024], eps=1e-5
# inputs: f16[64, 4000], f16[4000], eps=1e-6
def rms_norm(x, weight, eps):
    scale = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + eps)
    return (x.float() * scale).to(x.dtype) * weight
