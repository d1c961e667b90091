"""Conch's kernels import nothing that asks for the machine."""
