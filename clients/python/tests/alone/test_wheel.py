"""The package as it is installed: built, put into an environment of its own, and used there."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

from fault_server import FaultServer

PROJECT = Path(__file__).parents[2]
USE = """
import importlib.metadata, pathlib, sys
import kbx
assert pathlib.Path(kbx.__file__).is_relative_to(sys.prefix), kbx.__file__
assert (pathlib.Path(kbx.__file__).parent / "py.typed").exists()
packages = {file.parent.name for file in importlib.metadata.files("kbx-client") if file.name == "__init__.py"}
assert {"kbx_verifiers", "kbx_sessions"} <= packages
print(kbx.judge("x", task="relu").status, kbx.reward("x", task="relu"))
"""


def run(*command: str | Path, **variables: str) -> str:
    done = subprocess.run(
        [str(word) for word in command], env={**os.environ, **variables}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_judges(server: FaultServer, tmp_path: Path) -> None:
    wheels, environment = tmp_path / "wheels", tmp_path / "environment"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
    build = ("--no-deps", "--no-index", "--no-build-isolation", "--no-cache-dir", "-w", wheels)
    run(*pip, "wheel", *build, PROJECT)
    (wheel,) = wheels.glob("kbx_client-*.whl")
    venv.create(environment, with_pip=False)
    python = environment / "bin/python"
    run(*pip, "--python", python, "install", "--no-deps", "--no-index", wheel, PYTHONPATH="")

    # What the package depends on comes from the environment of these tests.
    used = run(python, "-c", USE, KBX_URL=server.url)

    assert used.split()[0] == "correct"
