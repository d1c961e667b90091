#!/usr/bin/env python
"""A module
with a long

docstring."""
import os; import sys


class_size = {
    "a": 1,  # one

    "b": 2,
}
text = """several
lines"""
long = 1 + \
    2

def f(x): return x + 1
def g(x):
    "one line"
    # a comment

    if x: return 2
    return (x +
            # within
            1)
