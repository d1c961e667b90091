"""Largest eigenvalue of a square matrix by size (its spectral radius), or of each matrix of a batch.

`spectral_norm_eig(A, *, out=None)` returns `max |λ|` over the eigenvalues `λ` of `A`, which are complex in general. For matrices
that are not normal this is smaller than the largest singular value: it is the eigenvalues that count here. `A` is a float32
or float64 tensor of shape `(…, n, n)`, `n ≥ 1`, diagonalizable; the result is real, of `A`'s dtype and batch shape `(…)`
(0-dimensional for one matrix).

`out`: if given, a contiguous tensor of the result's shape and dtype; it is filled and returned.

The result may differ from the exact one `ρ` as far as rounding `A` changes that: for every matrix

    |r - ρ| ≤ 10 √n ε κ ‖A‖,

Frobenius norm, `κ` the largest condition number of an eigenvalue of `A` (`‖v‖ ‖w‖ / |w · v|` for its right and left eigenvectors;
1 for normal matrices), `ε` the machine epsilon of `A`'s dtype. Pairs of complex conjugate eigenvalues, and eigenvalues of
opposite sign and nearly equal size, are common: plain power iteration does not converge. `A` may be non-contiguous and the
batch may be 0.
"""

import torch

from kbx.suite import Property, call

DIFFICULTY = 4
DTYPE = "float32"
TAGS = ("linear-algebra", "reduction")
MAGNITUDES = (-104, 120)
DISTRIBUTIONS = ("standard", "uniform", "outliers", "small")

CASES = [
    dict(n=13),
    dict(n=2, batch=(7,), rotation=True),
    dict(n=3, batch=(5,)),
    dict(n=37),
    dict(n=9, batch=(2,), symmetric=True),
    dict(n=1),
    dict(n=6, batch=(2,), strided=True),
    dict(n=6, batch=(2, 3)),
    dict(n=8, batch=(3,), out=True),
    dict(n=7, dtype=torch.float64),
    dict(n=4, batch=(0,)),
]

SIZES = [
    dict(n=4),
    dict(n=32),
    dict(n=16, batch=(32,)),
    dict(n=128),
]


def spectral_norm_eig(A, *, out=None):
    # On a GPU this needs MAGMA or a recent cuSOLVER, which not every build of PyTorch has.
    result = torch.linalg.eigvals(A.cpu()).abs().amax(-1).to(A.device)
    return result if out is None else out.copy_(result)


def inputs(make, n, batch=(), symmetric=False, rotation=False, dtype=None, strided=False, out=False):
    a = make.floats(*batch, n, n, dtype=dtype)
    if symmetric:
        a = a + a.mT
    if rotation:
        # Scaled rotations: a complex pair each.
        x, y = a[..., 0, 0], a[..., 0, 1]
        a = torch.stack((x, -y, y, x), -1).view(*batch, 2, 2)
    target = make.plain(*batch, dtype=dtype) if out else None
    return call(make.strided(a) if strided else a, out=target)


def check(args, kwargs, result, expected):
    a = args[0].double().cpu()
    values, right = torch.linalg.eig(a)
    # The rows of the inverse are left eigenvectors with w · v = 1; the columns of V are unit vectors.
    left = torch.linalg.inv(right) if a.numel() else right
    condition = left.abs().square().sum(-1).sqrt().amax(-1)
    truth = values.abs().amax(-1)
    unit = 10 * a.shape[-1] ** 0.5 * torch.finfo(args[0].dtype).eps
    error = (result.double().cpu() - truth).abs()
    allowed = unit * condition * a.square().sum((-2, -1)).sqrt()
    if (error <= allowed).all():
        return []
    worst = (error - allowed).argmax()
    found, right = result.flatten()[worst], truth.flatten()[worst]
    return [f"max |λ| is {right:.9g}, got {found:.9g}, allowed error {allowed.flatten()[worst]:.3g}"]


CONTRACT = Property(check)


def _given(result, out):
    return result if out is None else out.copy_(result)


def positive_of_the_transpose(A, *, out=None):
    values = torch.linalg.eigvals(A.mT.contiguous().cpu())
    return _given(torch.hypot(values.real, values.imag).amax(-1).to(A.device), out)


def positive_squarings(A, *, out=None):
    """`‖A^(2^k)‖^(1 / 2^k)` tends to the spectral radius; in float64, scaled at each step. Too coarse for float64 itself."""
    if A.dtype == torch.float64:
        return positive_of_the_transpose(A, out=out)
    power, exponent = A.double(), torch.zeros(A.shape[:-2], dtype=torch.float64, device=A.device)
    for step in range(40):
        size = power.square().sum((-2, -1)).sqrt()
        exponent = exponent + size.log() / 2.0**step
        power = power / size[..., None, None]
        power = power @ power
    return _given(exponent.exp().to(A.dtype), out)


def negative_largest_singular_value(A, *, out=None):
    return _given(torch.linalg.svdvals(A)[..., 0], out)


def negative_largest_real_part(A, *, out=None):
    return _given(torch.linalg.eigvals(A.cpu()).real.abs().amax(-1).to(A.device), out)


def negative_largest_signed(A, *, out=None):
    """Forgets that the largest one may be negative."""
    return _given(torch.linalg.eigvals(A.cpu()).real.amax(-1).to(A.device), out)


def negative_power_iteration(A, *, out=None):
    """Thirty steps from a fixed vector, then the Rayleigh quotient."""
    v = torch.ones(A.shape[:-1], dtype=A.dtype, device=A.device).unsqueeze(-1)
    for _ in range(30):
        v = A @ (v / v.square().sum(-2, keepdim=True).sqrt())
    v = v / v.square().sum(-2, keepdim=True).sqrt()
    return _given((v * (A @ v)).sum((-2, -1)).abs(), out)


def negative_ignores_out(A, *, out=None):
    return spectral_norm_eig(A)
