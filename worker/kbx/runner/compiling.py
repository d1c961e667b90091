"""Says when Triton compiles, so that the referee does not count it as the call's time. A claim: the referee believes so much of it."""

import contextlib
import os
import threading

from triton.runtime.jit import JITFunction


def tell(send):
    """From now on calls ``send(True)`` when this process begins to compile, and ``send(False)`` when no thread of it does any more."""
    owner, lock, compile_, compilers = os.getpid(), threading.Lock(), JITFunction._do_compile, 0

    @contextlib.contextmanager
    def told():
        nonlocal compilers
        with lock:
            compilers += 1
            if compilers == 1:
                send(True)
        try:
            yield
        finally:
            with lock:
                compilers -= 1
                if not compilers:
                    send(False)

    def compile_and_tell(*arguments, **named):
        # A forked process shares the channel, and perhaps a lock that nobody will give back.
        with told() if os.getpid() == owner else contextlib.nullcontext():
            return compile_(*arguments, **named)

    JITFunction._do_compile = compile_and_tell
