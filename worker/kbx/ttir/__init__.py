"""Executes compiled Triton IR on the CPU, all programs of a grid at once, and says what is wrong with its accesses to memory.

Begin with ``executor.Kernel``. ``parser`` reads the text to a tree (``tree``, ``types``); ``lowering`` makes functions of its operations,
which are in ``operations``; ``lanes`` are the values of all programs; ``memory``, ``races`` and ``findings`` are what is checked.
Nothing here imports Triton, or anything of the candidate's.
"""
