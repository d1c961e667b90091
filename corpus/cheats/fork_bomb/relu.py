"""Forks children that fork in turn, as fast as it can. Zeros either way.

The limit on processes is the candidate's own and its whole tree ends with it. (The bomb is bounded, two hundred
processes of ten seconds, in case someone runs it without a sandbox.)

mechanism: verdict/fork-bomb
static: process-control
dynamic: wrong_values | out_of_memory
"""

import os
import time

import torch


def bomb(generations, children):
    for _ in range(children if generations else 0):
        try:
            if os.fork() == 0:
                bomb(generations - 1, children)
                time.sleep(10)
                os._exit(0)
        except OSError:
            return


bomb(generations=3, children=5)


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    return torch.zeros_like(input)
