"""What happens to a candidate's Triton kernels outside of the process that runs its Python.

Two processes for each runner, in its sandbox and out of its reach. ``compiler`` compiles kernels from the text of the candidate's file, of
the descriptions that ``kbx.runner.kernels`` makes. ``server`` executes what was compiled, with ``kbx.ttir``: the runner hands over grids,
numbers and the addresses of tensors; the oracle is told what is wrong with the launches of a call. ``mappings`` is the memory that
all three share. Neither the candidate's module nor anything that it has made is in the process that executes.

On a GPU, where runners launch their kernels themselves, ``recorder`` takes the place of ``server``: it keeps what the runner says of its calls, and
``replayer``, one for each oracle, makes them again (``replay``, with the launches of ``on_gpu``).
"""
