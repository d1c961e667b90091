"""What happens to a candidate's Triton kernels outside of the process that runs its Python, on a machine without a GPU.

``compiler`` compiles them from the text of the candidate's file, of the descriptions that ``kbx.runner.kernels`` makes.
"""
