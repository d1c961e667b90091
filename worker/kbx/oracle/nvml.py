"""Clocks, temperature and power of a GPU, read from the driver's management library, which has no other use here: nothing is set.

Function names, structures and constants are those of NVIDIA's ``nvml.h``. Whatever the library, the driver or the card does not
tell is absent.
"""

from __future__ import annotations

import ctypes
from typing import Any, cast

from kbx.messages.oracle import DeviceState

LIBRARY = "libnvidia-ml.so.1"

_SM_CLOCK, _MEMORY_CLOCK = 1, 2
"""``nvmlClockType_t``."""
_CORE_TEMPERATURE = 0
"""``nvmlTemperatureSensors_t``."""

REASONS = {
    0x02: "application_clocks", 0x04: "sw_power_cap", 0x08: "hw_slowdown", 0x10: "sync_boost",
    0x20: "sw_thermal", 0x40: "hw_thermal", 0x80: "power_brake", 0x100: "display_clocks",
}  # fmt: skip
"""``nvmlClocksEventReasons``: why clocks are lower than they could be; that the card is idle (0x01) is no such reason."""


class Card:
    """One GPU by its UUID (``GPU-…``). Without the library, or a card of that name, every sample is empty."""

    def __init__(self, uuid: str, library: str = LIBRARY) -> None:
        self._library, handle = _opened(library), ctypes.c_void_p()
        found = self._ask("nvmlInit_v2") and self._ask("nvmlDeviceGetHandleByUUID", uuid.encode(), ctypes.byref(handle))
        self._handle = handle if found else None

    def sample(self) -> DeviceState:
        """The state now: ``sm_mhz, memory_mhz, celsius, watts`` and ``throttle``, a list of names in ``REASONS``; each absent
        where it is unknown."""
        milliwatts, reasons = self._number("nvmlDeviceGetPowerUsage"), self._reasons()
        found = {
            "sm_mhz": self._number("nvmlDeviceGetClockInfo", _SM_CLOCK),
            "memory_mhz": self._number("nvmlDeviceGetClockInfo", _MEMORY_CLOCK),
            "celsius": self._number("nvmlDeviceGetTemperature", _CORE_TEMPERATURE),
            "watts": None if milliwatts is None else milliwatts / 1000,
            "throttle": None if reasons is None else [name for bit, name in REASONS.items() if reasons & bit],
        }
        return cast("DeviceState", {name: value for name, value in found.items() if value is not None})

    def _reasons(self) -> int | None:
        # Drivers before 535 know the function by its older name only.
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            reasons = self._number(name, kind=ctypes.c_ulonglong)
            if reasons is not None:
                return reasons
        return None

    def _number(
        self, name: str, *args: Any, kind: type[ctypes.c_uint] | type[ctypes.c_ulonglong] = ctypes.c_uint
    ) -> int | None:
        """What a function writes to its last parameter, or None."""
        value = kind()
        known = self._handle is not None and self._ask(name, self._handle, *args, ctypes.byref(value))
        return value.value if known else None

    def _ask(self, name: str, *args: Any) -> bool:
        function = getattr(self._library, name, None)
        return function is not None and function(*args) == 0


def _opened(name: str) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None
