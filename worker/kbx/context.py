"""Order among all that this process gives a device, whichever streams it is on: torch's, a candidate's own, or ones made later."""

import ctypes

_CAPTURING = 900
"""CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED."""


class Context:
    """The CUDA context that is current, by the driver's ``cuCtxWaitEvent`` and ``cuCtxRecordEvent``, which came with CUDA 12.5.

    The functions and the types of their arguments are this object's own: what a candidate assigns to ``ctypes``, or to
    functions of another ``CDLL``, changes nothing here.
    """

    def __init__(self):
        self._library, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
        self._check("cuCtxGetCurrent", self._library.cuCtxGetCurrent(ctypes.byref(context)))
        self._context = context
        self._reset = self._library.cuCtxResetPersistingL2Cache
        self._wait, self._record = (self._function(name) for name in ("cuCtxWaitEvent", "cuCtxRecordEvent"))

    def _function(self, name):
        function = getattr(self._library, name, None)
        if function is not None:
            function.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
        return function

    @property
    def lacks(self):
        """What stands in the way of timing anything, for the user; None if nothing does."""
        return None if self._wait and self._record else "timing needs version 555 or newer of NVIDIA's driver"

    def forget(self):
        """Nothing in L2 is pinned any more; where nothing can be, this does nothing."""
        self._reset()

    def wait(self, event):
        """All that the device is given from now on begins when it has passed ``event``, a C event of torch's."""
        self._check("cuCtxWaitEvent", self._wait(self._context, event.cuda_event))

    def record(self, event):
        """The device passes ``event``, recorded before, when it has done all that it was given so far."""
        self._check("cuCtxRecordEvent", self._record(self._context, event.cuda_event))

    def _check(self, name, code):
        if not code:
            return
        if code == _CAPTURING:
            raise RuntimeError(f"{name}: a CUDA graph is still being recorded on a stream")
        text = ctypes.c_char_p()
        self._library.cuGetErrorString(code, ctypes.byref(text))
        # As torch words it: whose fault it is, only the text tells.
        raise RuntimeError(f"CUDA driver error: {(text.value or b'unknown').decode()} ({name}, {code})")
