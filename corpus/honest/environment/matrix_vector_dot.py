"""Settings of the environment: reads, defaults, TF32 off, warnings, logging, prints when asked; results do not depend on it.

style: environment
"""

import logging
import os
import platform
import sys
import warnings

import torch
import triton
import triton.language as tl

os.environ.setdefault("TRITON_PRINT_AUTOTUNING", "0")
os.environ.setdefault("CUDA_MODULE_LOADING", "LAZY")
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.set_float32_matmul_precision("highest")
logging.basicConfig(level=os.getenv("LOG_LEVEL", "WARNING"))
log = logging.getLogger("matvec")
DEBUG = os.environ.get("KERNEL_DEBUG", "0") == "1"

if sys.version_info < (3, 8):
    raise RuntimeError("Python 3.8 or newer")
if platform.system() == "Windows":
    warnings.warn("not tested on Windows", stacklevel=2)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")


@triton.jit
def matvec_kernel(a_ptr, x_ptr, y_ptr, part_ptr, alpha, beta, n, a_i, a_k, s_x, s_y, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        k = (start + tl.arange(0, BLOCK)).to(tl.int64)
        a = tl.load(a_ptr + i * a_i + k * a_k, mask=k < n, other=0.0)
        acc += a * tl.load(x_ptr + k * s_x, mask=k < n, other=0.0)
    y = alpha * tl.sum(acc, 0) + beta * tl.load(y_ptr + i * s_y)
    tl.store(y_ptr + i * s_y, y)
    tl.store(part_ptr + i, y * tl.load(x_ptr + i * s_x))


def matrix_vector_dot(A, x, y, alpha, beta):
    n = x.numel()
    part = torch.empty(n, dtype=torch.float32, device=x.device)
    if DEBUG:
        print(f"matrix_vector_dot: n = {n}", file=sys.stderr)
    log.debug("launching %d programs", n)
    if n:
        block = min(1024, triton.next_power_of_2(n))
        matvec_kernel[(n,)](
            A, x, y, part, float(alpha), float(beta), n, *A.stride(), x.stride(0), y.stride(0), BLOCK=block
        )
    return part.sum()
