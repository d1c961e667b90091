"""What happens to a candidate's Triton kernels outside of the process that runs its Python, on a machine without a GPU.

Two processes for each runner, in its sandbox and out of its reach. ``compiler`` compiles kernels from the text of the candidate's file, of
the descriptions that ``kbx.runner.kernels`` makes. ``server`` executes what was compiled, with ``kbx.ttir``: the runner hands over grids,
numbers and the addresses of tensors; the oracle is told what is wrong with the launches of a call. ``mappings`` is the memory that
all three share. Neither the candidate's module nor anything that it has made is in the process that executes.
"""
