"""Runs the tests of ``autograd_kernels.py`` in a process of its own: PyTorch refuses to compute gradients in a child of a process that has
computed some, as other tests do, and a bench is such a child."""

import os
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).with_name("autograd_kernels.py")


@pytest.mark.more
def test_candidates_that_compute_gradients():
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(TESTS)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
