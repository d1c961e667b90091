"""What tests share: one thread before any test forks, as in the zygote, random numbers, and a real oracle."""

import contextlib
import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import pytest  # noqa: E402
import sandbox_harness as harness  # noqa: E402
import soak  # noqa: E402
import torch  # noqa: E402
from oracle_process import OracleProcess  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "sampled(step): some cases run in mvn verify, the others in a soak test")
    config.addinivalue_line("markers", "more: runs in a soak test too, which does more of it")
    config.addinivalue_line("markers", "later: takes long, and runs in a soak test alone")


def pytest_collection_modifyitems(config, items):
    if any("::" in argument for argument in config.args):
        return
    items[:], left = soak.split(items)
    config.hook.pytest_deselected(items=left)


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left():
    """Fails the last test where a process that a test started has outlived all of them."""
    yield
    left = [child for child in os.listdir("/proc") if child.isdigit() and _is_ours(child)]
    assert left == [], "processes left"


def _is_ours(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as stat:
        state, parent = stat.read().rpartition(")")[2].split()[:2]
        return int(parent) == os.getpid() and state != "Z"
    return False


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
