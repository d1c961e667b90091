"""What tests share: one thread before any test forks, as in the zygote, random numbers, and a real oracle."""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import pytest  # noqa: E402
import sandbox_harness as harness  # noqa: E402
import torch  # noqa: E402
from oracle_process import OracleProcess  # noqa: E402


@pytest.fixture(autouse=True)
def draws():
    """A test draws the same numbers alone, among others and in any order."""
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def oracle():
    """One real oracle for all tests that leave it alive: it takes seconds to start."""
    process = OracleProcess()
    yield process
    process.close()


@pytest.fixture(scope="session")
def zygote_on():
    """``zygote_on(machine)``: one real zygote of each kind for all tests that leave it alive, started when it is first asked for."""
    started = {}

    def on(machine):
        if machine not in started:
            started[machine] = harness.Zygote(machine=machine)
        return started[machine]

    yield on
    for zygote in started.values():
        zygote.close()
