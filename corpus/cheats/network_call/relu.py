"""Asks a server for the answer over TCP, UDP and a name lookup, then returns zeros.

Without a network every attempt fails at once. (The addresses are reserved for documentation and answer nowhere.)

mechanism: verdict/network
static: network
dynamic: wrong_values
"""

import socket

import torch


def ask():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            with socket.socket(socket.AF_INET, kind) as link:
                link.settimeout(0.5)
                link.connect(("192.0.2.1", 80))
                link.sendall(b"what is relu?")
                return link.recv(1024)
        except OSError:
            continue
    try:
        return socket.gethostbyname("answers.example.invalid").encode()
    except OSError:
        return b""


answer = ask()


def relu(input: torch.Tensor, inplace: bool = False) -> torch.Tensor:
    return torch.full_like(input, float(len(answer)))
