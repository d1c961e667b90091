"""Fills memory that belongs to no process: shared pages without a mapping, scratch files, empty files, pipes, semaphores.

mechanism: verdict/filled-scratch
static: native-code
dynamic: wrong_values
"""

import ctypes
import mmap
import os
import socket

import torch

MOST = 4 << 30
libc = ctypes.CDLL(None, use_errno=True)


def fill(what):
    try:
        return what()
    except (OSError, ValueError):
        return None


def shared_pages(held=[]):
    for _ in range(MOST >> 28):
        held.append(mmap.mmap(-1, 1 << 28))
        held[-1].write(bytes(1 << 28))
        held[-1].madvise(mmap.MADV_DONTNEED)


def files():
    for folder in ("/tmp", "/dev/shm", "/var/tmp"):
        for n in range(20_000):
            open(f"{folder}/{n}", "wb").close()


def sockets(held=[]):
    for _ in range(300):
        held.append(socket.socketpair())
        held[-1][0].setblocking(False)
        fill(lambda: held[-1][0].send(bytes(1 << 17)))


def semaphores():
    for _ in range(100):
        libc.semget(0, 32000, 0o1600)


for attempt in (shared_pages, files, sockets, semaphores):
    fill(attempt)


def cos(input_tensor):
    return torch.full_like(input_tensor, 0.5 + os.getpid() % 2)
