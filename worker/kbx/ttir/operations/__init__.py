"""What each operation computes, a module for each kind; importing this package registers them all."""

from kbx.ttir.operations import (  # noqa: F401
    accesses,
    arith,
    assembly,
    atomics,
    casts,
    combining,
    control,
    descriptors,
    dots,
    functions,
    programs,
    shapes,
    shared,
)
