"""The driver's management library, played by a small one of the same functions."""

import subprocess

import pytest

from kbx.oracle.nvml import Card

UUID = "GPU-01234567-89ab-cdef-0123-456789abcdef"

LIBRARY = """
#include <string.h>
#define REASONS(name) int name(void *card, unsigned long long *out) { *out = 0x45; return card != &the_card; }
static int the_card;
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByUUID(const char *uuid, void **card) { *card = &the_card; return strcmp(uuid, "%s") ? 6 : 0; }
int nvmlDeviceGetClockInfo(void *card, int type, unsigned *mhz) {
    *mhz = type == 1 ? 1755 : type == 2 ? 2619 : 0;
    return card != &the_card;
}
int nvmlDeviceGetTemperature(void *card, int sensor, unsigned *out) { *out = 41 + sensor; return card != &the_card; }
#ifdef NEW
int nvmlDeviceGetPowerUsage(void *card, unsigned *out) { *out = 312750; return card != &the_card; }
REASONS(nvmlDeviceGetCurrentClocksEventReasons)
#else
int nvmlDeviceGetPowerUsage(void *card, unsigned *out) { *out = 1; return 3; /* not supported */ }
REASONS(nvmlDeviceGetCurrentClocksThrottleReasons)
#endif
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nvml")
    (folder / "nvml.c").write_text(LIBRARY.replace("%s", UUID))

    def build(*options):
        path = folder / f"lib{len(options)}.so"
        subprocess.run(["gcc", "-shared", "-fPIC", *options, "-o", path, folder / "nvml.c"], check=True)
        return str(path)

    return build


def test_the_state_of_a_card(build):
    assert Card(UUID, build("-DNEW")).sample() == {
        "sm_mhz": 1755, "memory_mhz": 2619, "celsius": 41, "watts": 312.75, "throttle": ["sw_power_cap", "hw_thermal"],
    }  # fmt: skip


def test_unsupported_figures_of_a_card_are_absent(build):
    assert Card(UUID, build()).sample() == {
        "sm_mhz": 1755, "memory_mhz": 2619, "celsius": 41, "throttle": ["sw_power_cap", "hw_thermal"],
    }  # fmt: skip


def test_state_without_card_or_library_is_absent(build):
    assert Card("GPU-another", build("-DNEW")).sample() == {}
    assert Card(UUID, "libthere-is-none.so").sample() == {}
    assert Card(UUID, "libm.so.6").sample() == {}
