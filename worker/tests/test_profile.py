"""Profiles: the program that is profiled, on the emulated device, and what is made of ncu's output."""

import json
import os
import pathlib
import re
import subprocess
import sys

import fake_ncu
import patience
import pytest
import sandbox_harness as harness
import torch
from bench_client import PRELUDE, bench
from patience import eventually, has_ended

import kbx
from kbx.messages import runner as messages
from kbx.runner import mounts, ncu, profiled

SCALE = (
    PRELUDE
    + """
@triton.jit
def kernel(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

def run(x, index=None):
    out = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), B=64)
    return out
"""
)


def leaf(*shape, dtype="float32", stride=None):
    return {"t": "tensor", "shape": list(shape), "stride": stride or [1], "dtype": dtype}


CALL = {"args": [leaf(100)], "kwargs": {"index": leaf(7, dtype="int64")}}


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Puts a fake ncu that behaves as told on the PATH."""

    def install(behaviour):
        fake_ncu.install(tmp_path, behaviour)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return install


def profile(source=SCALE, call=CALL, seconds=patience.LONG_SECONDS):
    with bench() as client:
        return client.ask(messages.Profile(1, source, ["run"], {}, call, seconds))


def test_longest_launch_of_each_kernel_is_listed_by_time(installed):
    installed("page")
    reply = profile()
    assert reply.failure is None
    add, first = reply.kernels
    assert add == {
        "kernel": "add_kernel", "launches": 1, "duration_ms": pytest.approx(0.098304), "registers": 32,
        "achieved_occupancy_pct": 88.75, "theoretical_occupancy_pct": 100, "dram_pct": 91.25, "sm_pct": 12.5,
        "stall": "long_scoreboard", "stall_pct": 60,
    }  # fmt: skip
    assert (first["kernel"], first["launches"], first["dram_pct"]) == ("first_kernel", 2, 20)
    assert first["duration_ms"] == pytest.approx(0.0025005)
    assert (first["stall"], first["stall_pct"]) == ("long_scoreboard", 50)


@pytest.mark.parametrize("behaviour, said", [("denied", "ERR_NVGPUCTRPERM"), ("unloaded", "LibraryNotLoaded")])
def test_counters_that_may_not_be_read_are_a_failure(installed, behaviour, said):
    installed(behaviour)
    reply = profile()
    assert reply.kernels is None
    assert reply.failure.startswith("ncu (exit code 0): ") and said in reply.failure


def test_missing_ncu_is_a_failure(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ncu, "_PLACES", ())
    assert "not installed" in profile().failure


def test_newest_ncu_of_the_usual_folders_is_used(monkeypatch, tmp_path):
    for version in ("2024.1.0", "2025.10.1", "2025.3.1"):
        (tmp_path / version).mkdir()
        fake_ncu.install(tmp_path / version, "page")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(ncu, "_PLACES", (f"{tmp_path}/*/ncu",))
    assert ncu.find() == f"{tmp_path}/2025.10.1/ncu"


def test_hanging_ncu_is_killed_with_its_children(installed, monkeypatch):
    installed("hang")
    wait = subprocess.Popen.wait

    def time_is_up_when_it_hangs(process, timeout=None):
        if timeout is not None:
            assert eventually(lambda: "Connected" in pathlib.Path("profile.out").read_text())
            raise subprocess.TimeoutExpired(process.args, timeout)
        return wait(process)

    monkeypatch.setattr(subprocess.Popen, "wait", time_is_up_when_it_hangs)
    failure = profile(seconds=5.0).failure
    assert failure.startswith(
        "ncu took longer than 5 s; the last line that it printed is: ==PROF== Connected to process "
    )
    assert eventually(lambda: has_ended(re.search("process ([0-9]+)", failure)[1]))


def test_silent_ncu_failure_has_its_exit_code(installed):
    installed("mute")
    assert profile().failure == "ncu (exit code 255): it printed nothing"


def profiled_in_fork(folder, job):
    """Exit code and last line of what the program says, in a fork: it has imported torch before."""
    (folder / "job.json").write_text(json.dumps(job))
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        with open("said", "w") as sys.stderr:
            code = profiled.main("job.json")
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, ((folder / "said").read_text().splitlines() or [""])[-1]


def job(source, call, *entries):
    return {
        "modules": sys.path,
        "device": "cpu",
        "arch": "sm_90",
        "source": str(source),
        "entries": entries,
        "call": call,
    }


@pytest.mark.parametrize(
    "source, said", [("def run(", "SyntaxError: "), ("ran = 3", "NoEntry: none of run is defined")]
)
def test_failure_of_the_candidate_is_the_last_line(tmp_path, source, said):
    (tmp_path / "candidate.py").write_text(source)
    code, last = profiled_in_fork(tmp_path, job(tmp_path / "candidate.py", CALL, "run"))
    assert code == 1 and last.startswith(said)


@pytest.mark.later
@pytest.mark.parametrize(
    "source, said",
    [
        (SCALE.replace("out = torch", "raise ValueError('no\\nhundreds'); out = torch"), "ValueError: no hundreds"),
        ("import os\ndef run(*a, **k): os._exit(3)", "exit code 3"),
    ],
)
def test_candidate_failure_under_ncu_is_named(installed, source, said):
    installed("page")
    reply = profile(source)
    assert reply.kernels is None and said in reply.failure


@pytest.mark.later
def test_binaries_compiled_ahead_are_used(installed, tmp_path):
    installed("page")
    with bench() as client:
        client.ask(messages.Attach(1, []))
        client.load(SCALE)
        files = client.ask(messages.Precompile(2, [CALL], patience.LONG_SECONDS)).files
    seen = tmp_path / "seen.json"
    source = f"import json, os\nseen = sorted(os.listdir(os.environ['TRITON_CACHE_DIR']))\n{SCALE}"
    source += f"\nopen({str(seen)!r}, 'w').write(json.dumps(seen))\n"
    with bench() as client:
        assert client.ask(messages.Profile(1, source, ["run"], files, CALL, patience.LONG_SECONDS)).failure is None
    assert json.loads(seen.read_text()) == sorted({name.split("/")[1] for name in files})


ARGUMENTS = """
import json
def run(*args, **kwargs):
    def told(t):
        return [str(t.dtype), list(t.shape), list(t.stride()), float(t.float().min()) >= 0, float(t.float().max()) <= 1]
    with open("told.json", "w") as file:
        json.dump([told(t) if hasattr(t, "dtype") else t for t in (*args, *kwargs.values())], file)
"""


@pytest.mark.later
def test_arguments_are_what_any_task_takes(tmp_path):
    dtypes = ["float32", "float64", "bfloat16", "float16", "float8_e4m3fn", "int64", "uint8", "bool"]
    tensors = [leaf(3, 5, dtype=d, stride=[1, 4]) for d in dtypes]
    plain = [{"t": "int", "v": 7}, {"t": "list", "v": [leaf(0)]}, {"t": "float", "v": "inf"}]
    (tmp_path / "candidate.py").write_text(ARGUMENTS)
    call = {"args": tensors, "kwargs": {"n": plain[0]}}
    assert profiled_in_fork(tmp_path, job(tmp_path / "candidate.py", call, "missing", "run")) == (0, "")
    *told, number = json.loads((tmp_path / "told.json").read_text())
    assert told == [[f"torch.{d}", [3, 5], [1, 4], True, True] for d in dtypes] and number == 7


OWN_FILES = """
import json, sys
def run():
    parts = [name.split(".") for name in sys.modules if name.split(".")[0] == "kbx"]
    with open("told.json", "w") as file:
        json.dump(sorted({name[1] for name in parts if len(name) > 1}), file)
"""


def test_profiled_process_uses_exactly_the_runner_modules(tmp_path):
    package = tmp_path / "modules" / "kbx"
    package.mkdir(parents=True)
    for name in mounts._WORKER_FILES:
        (package / name).symlink_to(pathlib.Path(kbx.__file__).parent / name)
    elsewhere = [path for path in sys.path if not os.path.exists(os.path.join(path, "kbx"))]
    (tmp_path / "candidate.py").write_text(OWN_FILES)
    given = job(tmp_path / "candidate.py", {"args": [], "kwargs": {}}, "run")
    (tmp_path / "job.json").write_text(json.dumps(given | {"modules": [str(package.parent), *elsewhere]}))
    subprocess.run([sys.executable, "-I", profiled.__file__, "job.json"], cwd=tmp_path, check=True)
    told = json.loads((tmp_path / "told.json").read_text())
    assert ["__init__", *told] == [name.removesuffix(".py") for name in mounts._WORKER_FILES]


MODULE = """
import torch

class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 2)

    def forward(self, x):
        with open("told.txt", "w") as file:
            file.write(f"{self.linear.weight[0, 0].item():.6f} {torch.is_grad_enabled()}")
        return self.linear(x)
"""


@pytest.mark.later
def test_a_module_is_constructed_first(tmp_path):
    (tmp_path / "candidate.py").write_text(MODULE)
    call = {"args": [leaf(5)], "kwargs": {}, "module": {"init": [{"t": "int", "v": 5}], "seed": 3}}
    assert profiled_in_fork(tmp_path, job(tmp_path / "candidate.py", call, "ModelNew")) == (0, "")
    torch.manual_seed(3)
    weight = torch.nn.Linear(5, 2).weight[0, 0].item()
    assert (tmp_path / "told.txt").read_text() == f"{weight:.6f} False"


def test_unrelated_output_is_left_out():
    log = """==ERROR== An error was reported by the driver
==ERROR== Cuda is initialized before the tool
==ERROR== An error was reported by the driver
==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, profiling results may be inconsistent.
==ERROR== The application returned an error code (1).
==WARNING== No kernels were profiled.
==WARNING== Profiling kernels launched by child processes requires the --target-processes all option.
"""
    both = "ncu (exit code 1): An error was reported by the driver; Cuda is initialized before the tool"
    assert ncu.complaint(log, "", 1) == both
    quiet = "".join(line for line in log.splitlines(keepends=True) if "==ERROR==" not in line)
    assert ncu.complaint(quiet, "", 0) == "ncu (exit code 0): No kernels were profiled."
    assert ncu.complaint(quiet, "trace\nValueError: no\n", 1) == "ncu (exit code 1): ValueError: no"


LONG = """==PROF== Connected to process 1
"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","1","kernel","launch__registers_per_thread","register/thread","72"
"0","1","kernel","gpu__time_duration.sum","usecond","3,080"
"1","1","other","gpu__time_duration.sum","parsec","1"
"2","1","kernel","gpu__time_duration.sum","usecond","1"
"""


def test_csv_with_a_row_for_each_metric_is_read():
    assert ncu.kernels(LONG) == [
        {"kernel": "kernel", "launches": 2, "duration_ms": pytest.approx(3.08), "registers": 72}
    ]


def test_number_of_kernels_and_length_of_names_are_limited():
    rows = [(*fake_ncu.LAUNCHES[0][:4], "k" * 300 + str(i), *fake_ncu.LAUNCHES[0][5:11], str(i + 1)) for i in range(9)]
    rows = [row + ("n/a",) * (len(fake_ncu.COLUMNS) - len(row)) for row in rows]
    (kernel,) = ncu.kernels(fake_ncu.page(rows))
    assert kernel == {"kernel": "k" * 200, "launches": 9, "duration_ms": pytest.approx(9e-6)}
    rows = [(*row[:4], f"k{i}", *row[5:]) for i, row in enumerate(rows)]
    assert [k["kernel"] for k in ncu.kernels(fake_ncu.page(rows))] == ["k8", "k7", "k6", "k5", "k4"]


@pytest.mark.parametrize(
    "text", ["", "==WARNING== No kernels were profiled.", '"a","b"\n"1","2"', fake_ncu.page(()), '"ID']
)
def test_output_that_is_not_csv_has_no_kernels(text):
    assert ncu.kernels(text) is None


PROFILE_IN_SANDBOX = """
import os
from kbx.messages import runner as messages
from kbx.runner import profile
os.environ["PATH"] = FOLDER + ":" + os.environ["PATH"]
answer = profile.run(messages.Profile(1, SOURCE, ["run"], {}, CALL, 60.0), spawn)
"""


@pytest.fixture(scope="module")
def sandboxed(tmp_path_factory):
    """A zygote whose runners see a folder with a fake ncu; and that folder."""
    folder = tmp_path_factory.mktemp("sandboxed")
    fake_ncu.install(folder, "page")
    for shown in (folder, folder.parent, folder.parent.parent):
        shown.chmod(0o755)  # the runner is another user
    zygote = harness.Zygote(path=str(folder))
    yield zygote, folder
    zygote.close()


@pytest.mark.parametrize("loopback", [True, False])
def test_ncu_runs_in_a_sandbox_with_loopback(sandboxed, loopback):
    zygote, folder = sandboxed
    runner = zygote.spawn(loopback=loopback)
    if not runner.protections["files"] or not runner.protections["network"]:
        pytest.skip("a runner here has no files or network of its own")
    given = f"FOLDER, SOURCE, CALL = {str(folder)!r}, {SCALE!r}, {CALL!r}\n"
    kernels, failure = runner(given + PROFILE_IN_SANDBOX)
    if loopback:
        assert failure is None and kernels[0]["kernel"] == "add_kernel"
    else:
        assert kernels is None and "no loopback" in failure
    runner.kill()
