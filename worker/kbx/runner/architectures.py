"""GPU architectures for compiling without a GPU: the limits and properties that kernels and wrappers query."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Architecture:
    """One compute capability, with the figures of the data-centre card (sm_86, sm_89: A40, L40S) that carries it."""

    name: str
    capability: int
    card: str
    processors: int
    memory_bytes: int
    shared_bytes: int
    """Most shared memory that one block may ask for."""
    shared_per_processor: int
    l2_bytes: int
    threads_per_processor: int


ARCHITECTURES = {
    a.name: a
    for a in (
        Architecture("sm_80", 80, "NVIDIA A100-SXM4-80GB", 108, 80 << 30, 166912, 167936, 40 << 20, 2048),
        Architecture("sm_86", 86, "NVIDIA A40", 84, 48 << 30, 101376, 102400, 6 << 20, 1536),
        Architecture("sm_89", 89, "NVIDIA L40S", 142, 48 << 30, 101376, 102400, 96 << 20, 1536),
        Architecture("sm_90", 90, "NVIDIA H100 80GB HBM3", 132, 80 << 30, 232448, 233472, 50 << 20, 2048),
        Architecture("sm_100", 100, "NVIDIA B200", 148, 180 << 30, 232448, 233472, 126 << 20, 2048),
    )
}
