"""Order among all that this process gives a device, whichever streams it is on: torch's, a candidate's own, or ones made later."""

import ctypes

_CAPTURING = 900
"""CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED."""


class Context:
    """The CUDA context that is current, by the driver's ``cuCtxWaitEvent`` and ``cuCtxRecordEvent``, which came with CUDA 12.5.

    The functions are this object's own: what a candidate assigns to those of another ``ctypes.CDLL`` changes nothing here.
    """

    def __init__(self):
        library, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
        _check("cuCtxGetCurrent", library.cuCtxGetCurrent(ctypes.byref(context)))
        self._context = context
        self._reset = library.cuCtxResetPersistingL2Cache
        self._wait, self._record = (getattr(library, name, None) for name in ("cuCtxWaitEvent", "cuCtxRecordEvent"))

    @property
    def lacks(self):
        """What stands in the way of timing anything, for the user; None if nothing does."""
        return None if self._wait and self._record else "timing needs NVIDIA's driver 555 or newer"

    def forget(self):
        """Nothing in L2 is pinned any more; where nothing can be, this does nothing."""
        self._reset()

    def wait(self, event):
        """All that the device is given from now on begins when it has passed ``event``, a C event of torch's."""
        _check("cuCtxWaitEvent", self._wait(self._context, ctypes.c_void_p(event.cuda_event)))

    def record(self, event):
        """The device passes ``event``, recorded before, when it has done all that it was given so far."""
        _check("cuCtxRecordEvent", self._record(self._context, ctypes.c_void_p(event.cuda_event)))


def _check(name, code):
    if code:
        why = "a stream is still being recorded" if code == _CAPTURING else f"CUDA error {code}"
        raise RuntimeError(f"{name}: {why}")
