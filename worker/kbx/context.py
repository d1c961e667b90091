"""Orders all work that this process submits to a device, on every stream: torch's, a candidate's, or ones created later."""

import ctypes
from typing import Any

import torch

_CAPTURING = 900
"""CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED."""


class Context:
    """The CUDA context that is current, by the driver's ``cuCtxWaitEvent`` and ``cuCtxRecordEvent``, which came with CUDA 12.5.

    This object has its own functions and argument types: assignments of a candidate to ``ctypes``, or to functions of another
    ``CDLL``, have no effect here.
    """

    def __init__(self) -> None:
        self._library, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
        self._check("cuCtxGetCurrent", self._library.cuCtxGetCurrent(ctypes.byref(context)))
        self._context = context
        self._reset = self._library.cuCtxResetPersistingL2Cache
        self._wait, self._record = (self._function(name) for name in ("cuCtxWaitEvent", "cuCtxRecordEvent"))

    def _function(self, name: str) -> Any:
        """None where the driver lacks it."""
        function = getattr(self._library, name, None)
        if function is not None:
            function.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        return function

    @property
    def lacks(self) -> str | None:
        """Why this machine cannot time anything, as a message for the user; None if it can."""
        return None if self._wait and self._record else "timing needs version 555 or newer of NVIDIA's driver"

    def forget(self) -> None:
        """Nothing in L2 is pinned any more; where nothing can be, this does nothing."""
        self._reset()

    def wait(self, event: torch._C._CudaEventBase) -> None:
        """All work submitted from now on waits for ``event``, a C event of torch."""
        self._check("cuCtxWaitEvent", self._wait(self._context, event.cuda_event))

    def record(self, event: torch._C._CudaEventBase) -> None:
        """Records ``event`` after all work submitted so far; it must have been recorded before."""
        self._check("cuCtxRecordEvent", self._record(self._context, event.cuda_event))

    def _check(self, name: str, code: int) -> None:
        if not code:
            return
        if code == _CAPTURING:
            raise RuntimeError(f"{name}: a CUDA graph is still being recorded on a stream")
        text = ctypes.c_char_p()
        self._library.cuGetErrorString(code, ctypes.byref(text))
        # As torch words it: whose fault it is, only the text tells.
        raise RuntimeError(f"CUDA driver error: {(text.value or b'unknown').decode()} ({name}, {code})")
