"""A real oracle over pipes against a stand-in runner: right answers, wrong answers and everything around them."""

import errno
import itertools
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

import patience
import pytest
import torch
import torch.nn.functional as F
from oracle_process import SEED, TASKS, OracleProcess

from kbx import PROTOCOL, tensors
from kbx.messages import oracle as messages
from kbx.oracle import arenas
from kbx.protocol import encode, read_frame, write_frame

GELU = TASKS / "Activation" / "gelu.py"
SUM = TASKS / "Reduce" / "sum.py"
ADAMW = TASKS / "Optimizer" / "AdamW.py"
RELU = TASKS / "Activation" / "relu.py"
LARGEST = ["shape=(4099,), approximate='tanh'", "shape=(33, 65), approximate='none'"]

runners = itertools.count(1)


def gelu(input, approximate="none"):
    return F.gelu(input, approximate=approximate)


def call_of(opened, text, distribution="standard"):
    """Index of the first call of a case under a distribution, or under any."""
    calls = [c["index"] for c in opened.calls if text in c["case"] and distribution in (None, c["distribution"])]
    return calls[0]


@pytest.fixture
def opened_gelu(oracle):
    yield oracle.open(GELU, next(runners))
    oracle.ask(messages.Close)


def test_hello_names_protocol_device_and_socket(oracle):
    hello = oracle.hello
    assert (hello.protocol, hello.role, hello.device["kind"]) == (PROTOCOL, "oracle", "cpu")
    assert hello.pid == oracle.process.pid
    assert hello.versions["torch"] == torch.__version__
    assert len(hello.data_address) >= 32


def test_a_right_kernel_is_correct_in_every_call(opened_gelu):
    opened, runner = opened_gelu
    assert opened.entries == ["gelu", "kernel_function"]
    assert [a["name"] for a in opened.arenas] == ["in", "out"]
    for call in opened.calls:
        checked = runner.judge(call["index"], gelu)
        assert (checked.status, checked.flags) == ("correct", []), checked


def test_the_plan_mixes_cases_and_distributions_and_repeats_the_largest(opened_gelu):
    calls = opened_gelu[0].calls
    assert [c["index"] for c in calls] == list(range(len(calls)))
    assert {"standard", "uniform", "outliers", "special"} < {c["distribution"] for c in calls}
    repeats = [c for c in calls if c.get("repeats") is not None]
    assert {c["case"] for c in repeats} == set(LARGEST)
    assert len(repeats) == 2 * len(LARGEST)  # in another order of programs as well
    fresh = [(c["case"], c["distribution"]) for c in calls if c.get("repeats") is None]
    assert len(set(fresh)) == len(fresh)
    assert all(calls[c["repeats"]]["case"] == c["case"] for c in repeats)


@pytest.mark.parametrize(
    ("status", "entry"),
    [
        ("wrong_values", lambda x, approximate="none": gelu(x, approximate) + 1e-3),
        (
            "wrong_values",
            lambda x, approximate="none": gelu(x, approximate).masked_fill(x == x.flatten()[0], float("nan")),
        ),
        ("wrong_values", lambda x, approximate="none": gelu(x.half(), approximate).float()),
        ("wrong_shape", lambda x, approximate="none": gelu(x, approximate)[None]),
        ("wrong_shape", lambda x, approximate="none": gelu(x, approximate).flatten()),
        ("wrong_dtype", lambda x, approximate="none": gelu(x, approximate).double()),
        ("wrong_structure", lambda x, approximate="none": (gelu(x, approximate),)),
        ("wrong_structure", lambda x, approximate="none": None),
        ("wrong_structure", lambda x, approximate="none": 3.0),
        ("wrong_structure", lambda x, approximate="none": {"y": gelu(x, approximate)}),
        ("wrong_structure", lambda x, approximate="none": object()),
        ("wrong_structure", lambda x, approximate="none": x),
        ("input_mutated", lambda x, approximate="none": x.copy_(gelu(x, approximate)).clone()),
        ("input_mutated", lambda x, approximate="none": x.copy_(gelu(x, approximate))),
    ],
)
def test_wrong_results_are_named(opened_gelu, status, entry):
    opened, runner = opened_gelu
    checked = runner.judge(call_of(opened, "shape=(33, 65)", None), entry)
    assert checked.status == status, checked
    assert checked.message


def test_mismatches_name_places_and_values(opened_gelu):
    opened, runner = opened_gelu

    def entry(x, approximate="none"):
        y = gelu(x, approximate)
        y[2, 3], y[32, 64] = 7, float("inf")
        return y

    checked = runner.judge(call_of(opened, "shape=(33, 65)", None), entry)
    assert [(m["output"], m["index"], m["got"]) for m in checked.mismatches] == [
        ("output", [2, 3], "7"), ("output", [32, 64], "inf"),
    ]  # fmt: skip
    assert checked.message.startswith("2 wrong elements of 2145, first output[2, 3]: expected ")
    assert checked.metrics["error_ratio"] > 1


def test_message_says_what_wrong_elements_have_in_common(opened_gelu):
    opened, runner = opened_gelu

    def entry(x, approximate="none"):
        y = gelu(x, approximate)
        y[:, 64:] = 0
        return y

    checked = runner.judge(call_of(opened, "shape=(33, 65)", None), entry)
    assert checked.message.startswith("33 wrong elements of 2145, first output[0, 64]: expected ")
    assert checked.message.endswith("; all at index 64 of dimension 1, the last; they are 0")


def test_message_says_that_a_result_is_that_of_another_call(opened_gelu):
    opened, runner = opened_gelu
    case, kept = "shape=(33, 65), approximate='none'", []

    def entry(x, approximate="none"):
        kept.append(gelu(x, approximate))
        return kept[0].clone()

    assert runner.judge(call_of(opened, case, "standard"), entry).status == "correct"
    checked = runner.judge(call_of(opened, case, "uniform"), entry)
    assert checked.status == "wrong_values"
    assert checked.message.endswith("; this is the result of another call")


def test_message_says_that_an_earlier_call_was_right(opened_gelu):
    opened, runner = opened_gelu
    case, kept = "shape=(33, 65), approximate='none'", []

    def entry(x, approximate="none"):
        kept.append(gelu(x, approximate))
        return sum(kept[:-1], kept[-1]) if kept[0].shape == x.shape else x

    assert runner.judge(call_of(opened, case, "standard"), entry).status == "correct"
    checked = runner.judge(call_of(opened, case, "uniform"), entry)
    assert checked.status == "wrong_values"
    assert checked.message.endswith("; the first call with these shapes was right, this is call 2")
    assert "the first call" not in runner.judge(call_of(opened, "shape=(1000,)", None), entry).message


def test_unwritten_results_are_poison(opened_gelu):
    opened, runner = opened_gelu
    index = call_of(opened, "shape=(1000,)", None)
    seen = set()
    for _ in range(3):
        prepared = runner.oracle.ask(messages.Prepare, call=index)
        place = runner.arenas["out"].typed(0, 4000, torch.uint8)
        seen.add(bytes(place.tolist()))
        leaf = {"t": "tensor", "arena": "out", "offset": 0, "shape": [1000], "stride": [1], "own_stride": [1],
                "dtype": "float32", "device": "cuda"}  # fmt: skip
        assert prepared.args
        assert runner.oracle.ask(messages.Check, call=index, value=leaf).status == "wrong_values"
    assert len(seen) == 3


def test_a_wrong_device_is_named(opened_gelu):
    opened, runner = opened_gelu
    checked = runner.judge(call_of(opened, "(37,)", None), gelu, lambda tree, out: tree | {"device": "cpu"})
    assert (checked.status, checked.message) == ("wrong_device", "output is on cpu, expected cuda")


def deep(levels):
    tree = {"t": "none"}
    for _ in range(levels):
        tree = {"t": "list", "v": [tree]}
    return tree


@pytest.mark.parametrize(
    "change",
    [
        {"offset": -512}, {"offset": 1 << 30}, {"offset": 10**30}, {"offset": 3},
        {"offset": 1.5}, {"offset": "0"}, {"offset": None}, {"offset": True}, {"arena": "in"}, {"arena": ["out"]},
        {"shape": [1 << 62]}, {"shape": [1 << 40, 1 << 40]}, {"shape": [-37]}, {"shape": [37.0]}, {"shape": "37"},
        {"shape": [1] * 100_000}, {"shape": {}}, {"shape": None}, {"stride": [0]}, {"stride": [2]}, {"stride": []},
        {"stride": [-1]}, {"own_stride": [1, 1]}, {"own_stride": ["a"]}, {"dtype": "float31"}, {"dtype": ["float32"]},
        {"dtype": {}}, {"dtype": None}, {"device": None}, {"device": 7}, {"aliases": -1}, {"aliases": "x"},
        {"t": "tensors"}, {"t": []}, {"t": None}, {"v": None}, {"more": [[]] * 1000},
    ],
)  # fmt: skip
def test_forged_claims_end_as_verdicts(opened_gelu, change):
    opened, runner = opened_gelu
    checked = runner.judge(call_of(opened, "(37,)", None), gelu, lambda tree, out: {**tree, **change})
    assert isinstance(checked, messages.Checked), checked
    assert checked.status in ("wrong_structure", "wrong_shape"), checked
    assert len(checked.message) < 300


@pytest.mark.parametrize(("told", "flags"), [(True, ["reused_output"]), (False, []), ("yes", [])])
def test_a_result_in_the_memory_of_the_last_one_is_a_flag(opened_gelu, told, flags):
    opened, runner = opened_gelu
    checked = runner.judge(call_of(opened, "(37,)", None), gelu, lambda tree, out: {**tree, "reused": told})
    assert (checked.status, checked.flags) == ("correct", flags)


@pytest.mark.parametrize(
    "tree",
    [
        {}, {"t": "list"}, {"t": "list", "v": 3}, {"t": "dict", "v": []}, {"t": "tensor"}, {"t": "float", "v": "x"},
        {"t": "float", "v": 1}, {"t": "complex", "v": []}, {"t": "int", "v": 10**900}, {"t": "size", "v": [{}]},
        {"t": "tuple", "v": [{"t": "none"}] * 100_000}, {"t": "opaque", "v": "\x1b[31m" * 10_000}, {"t": "int", "v": True},
        {"t": "dtype", "v": "rm"}, {"t": "str", "v": "a" * 1_000_000}, deep(100), deep(900),
        {"t": "none", "more": 1}, {"t": "list", "v": [], "shape": []}, {"t": "lacking", "v": ["x"]}, {"t": "lacking", "v": 3},
        {"t": "list", "v": [{"t": "lacking", "v": []}]},
    ],
)  # fmt: skip
def test_unreadable_results_end_as_verdicts(opened_gelu, tree):
    opened, runner = opened_gelu
    checked = runner.judge(0, gelu, lambda honest, out: tree)
    assert isinstance(checked, messages.Checked), checked
    assert checked.status == "wrong_structure"
    assert checked.message.isprintable()
    assert len(checked.message) < 300


def repeated(opened_gelu, which, entry):
    """What comes of the first call that is repeated: its repeat number ``which`` is computed by ``entry``. Where launches are executed, the
    first repeat goes in the same order and the second one in another."""
    opened, runner = opened_gelu
    first = next(c["repeats"] for c in opened.calls if c.get("repeats") is not None)
    repeat = [c for c in opened.calls if c.get("repeats") == first][which]
    assert runner.judge(first, gelu).status == "correct"
    return runner.judge(repeat["index"], entry)


@pytest.mark.parametrize(
    "which, status, flags, why",
    [(0, "nondeterministic", ["nondeterministic"], "it was repeated"), (1, "order_dependent", [], "order")],
)
def test_a_repeat_that_differs_and_is_wrong_depends_on_chance_or_order(opened_gelu, which, status, flags, why):
    checked = repeated(opened_gelu, which, lambda x, approximate="none": gelu(x, approximate) + 1)
    assert (checked.status, checked.flags) == (status, flags)
    assert why in checked.message


@pytest.mark.parametrize("which, flags", [(0, ["nondeterministic"]), (1, [])])
def test_a_repeat_that_differs_and_is_right_is_flagged_unless_programs_go_in_another_order(opened_gelu, which, flags):
    checked = repeated(opened_gelu, which, lambda x, approximate="none": gelu(x, approximate) * (1 + 2**-22))
    assert (checked.status, checked.flags) == ("correct", flags)


def test_equal_seeds_give_equal_bytes(oracle):
    def verdicts(runner_number):
        opened, runner = oracle.open(GELU, runner_number)
        seen = [(opened.calls, opened.sizes)]
        for index in (0, 4, 8):
            prepared = oracle.ask(messages.Prepare, call=index)
            checked = runner.judge(index, lambda x, approximate="none": gelu(x, approximate) * 1.01)
            seen.append(
                (prepared.args, prepared.kwargs, bytes(runner.arenas["in"].memory[:9000]), vars(checked) | {"id": 0})
            )
        oracle.ask(messages.Close)
        return seen

    assert verdicts(next(runners)) == verdicts(next(runners))


def test_updated_arguments_are_results(oracle):
    opened, runner = oracle.open(ADAMW, next(runners))
    assert opened.entries == ["adamw_step", "kernel_function"]

    def step(param, grad, exp_avg, exp_avg_sq, step, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
        param.mul_(1 - lr * weight_decay)
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).add_(grad * grad * (1 - beta2))
        param.sub_(lr / (1 - beta1**step) * exp_avg / (exp_avg_sq.sqrt() / (1 - beta2**step) ** 0.5 + eps))
        return param, exp_avg, exp_avg_sq

    def copies(param, grad, exp_avg, exp_avg_sq, *args, **kwargs):
        return step(param.clone(), grad, exp_avg.clone(), exp_avg_sq.clone(), *args, **kwargs)

    def spoils_gradient(param, grad, *args, **kwargs):
        result = step(param, grad, *args, **kwargs)
        grad.zero_()
        return result

    index = call_of(opened, "shape=(33, 65)", None)
    assert runner.judge(index, step).status == "correct"
    checked = runner.judge(index, copies)
    assert checked.status == "wrong_values"
    assert checked.message == (
        "output[0] was returned, and argument 'param', which must be updated to the same values, holds others"
    )
    checked = runner.judge(index, spoils_gradient)
    assert (checked.status, checked.message) == ("input_mutated", "the call changed its argument 'grad'")
    oracle.ask(messages.Close)


@pytest.mark.parametrize(("spoils", "status"), [(False, "correct"), (True, "input_mutated")])
def test_what_lies_between_the_elements_of_an_updated_argument_must_stay(oracle, spoils, status):
    opened, runner = oracle.open(RELU, next(runners))

    def entry(input, inplace=False):
        result = input.relu()
        if spoils:
            input.as_strided((tensors.span(input.shape, input.stride()),), (1,)).zero_()
        return input.copy_(result)

    index = next(c["index"] for c in opened.calls if "strided=True, inplace=True" in c["case"])
    checked = runner.judge(index, entry)
    assert checked.status == status, checked.message
    oracle.ask(messages.Close)


def test_strided_inputs_arrive_strided(oracle):
    opened, runner = oracle.open(SUM, next(runners))
    strides = []

    def entry(input, dim, keepdim=False, dtype=None):
        strides.append(input.stride())
        return torch.sum(input, dim, keepdim=keepdim, dtype=dtype)

    for call in opened.calls:
        assert runner.judge(call["index"], entry).status == "correct"
    assert (1054, 2, 34) in strides
    oracle.ask(messages.Close)


def test_requests_out_of_order_are_refused_and_harmless(oracle):
    assert oracle.ask(messages.Prepare, call=0).reason == "internal"
    opened, runner = oracle.open(GELU, next(runners))
    assert oracle.ask(messages.Prepare, call=10_000).reason == "internal"
    assert oracle.ask(messages.Prepare, call=-1).reason == "internal"
    assert oracle.ask(messages.Check, call=0, value={}).message == "call 0 is not the one last prepared"
    assert oracle.ask(messages.Baseline, lead=1).reason == "internal"
    assert oracle.ask(messages.PrepareSize, size=0, sets=1, phase="launched", round=0).reason == "unsupported"
    assert oracle.ask(messages.MeasurePeaks).reason == "unsupported"
    assert runner.judge(1, gelu).status == "correct"
    oracle.ask(messages.Close)


def test_frames_that_are_no_requests_are_refused(oracle):
    for payload in (
        b"",
        b"{}",
        b"[1]",
        b'{"type":"open"}',
        b'{"type":"hello"}',
        b"\xff",
        b'{"type":["open"]}',
        b"[" * 50_000,
    ):
        write_frame(oracle.process.stdin, payload)
        answer = oracle.receive()
        assert (answer.id, answer.reason) == (-1, "internal")


def test_runners_get_only_their_own_arenas_in_any_order(oracle):
    early, number = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), next(runners)
    early.connect("\0" + oracle.hello.data_address)
    early.sendall(struct.pack(">I", number))
    early.settimeout(0.1)
    with pytest.raises(TimeoutError):
        early.recv(1)
    opened = oracle.ask(messages.Open, task=str(GELU), seed=SEED, runner=number)
    early.settimeout(patience.SECONDS)
    body, descriptors, _, _ = socket.recv_fds(early, 65536, 2)
    assert json.loads(body) == opened.arenas
    for descriptor in descriptors:
        with pytest.raises(OSError):
            os.ftruncate(descriptor, 0)
        os.close(descriptor)
    with pytest.raises(TimeoutError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as second:
        second.connect("\0" + oracle.hello.data_address)
        second.sendall(struct.pack(">I", number))
        second.settimeout(0.1)
        second.recv(1)
    early.close()
    oracle.ask(messages.Close)


def descriptors(oracle):
    return len(os.listdir(f"/proc/{oracle.process.pid}/fd"))


def waiting(oracle, number):
    """A runner that waits for its arenas."""
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    peer.settimeout(patience.SECONDS)
    peer.connect("\0" + oracle.hello.data_address)
    peer.sendall(struct.pack(">I", number))
    return peer


def test_unopenable_task_refuses_its_runner(oracle):
    number = next(runners)
    with waiting(oracle, number) as peer:
        peer.settimeout(0.1)
        with pytest.raises(TimeoutError):
            peer.recv(1)
        peer.settimeout(patience.SECONDS)
        assert oracle.ask(messages.Open, task="/nowhere/gelu.py", seed=SEED, runner=number).reason == "invalid_task"
        assert peer.recv(1) == b""


def test_runners_ended_before_an_offer_are_dropped(oracle):
    before = descriptors(oracle)
    for _ in range(20):
        waiting(oracle, next(runners)).close()
    # Connections are served in order.
    _, runner = oracle.open(GELU, next(runners))
    oracle.ask(messages.Close)
    assert descriptors(oracle) <= before + 1


def test_arenas_are_handed_out_again_after_descriptors_had_run_out(monkeypatch):
    accept, failed = socket.socket.accept, threading.Event()

    def exhausted(listener):
        if failed.is_set():
            return accept(listener)
        failed.set()
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(socket.socket, "accept", exhausted)
    handing, number = arenas.DataSocket(), next(runners)
    pair = arenas.MemoryArena("in"), arenas.MemoryArena("out")
    handing.offer(number, pair)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(patience.SECONDS)
        peer.connect("\0" + handing.address)
        peer.sendall(struct.pack(">I", number))
        _, handed, _, _ = socket.recv_fds(peer, 65536, 2)
    assert failed.is_set() and len(handed) == 2
    for descriptor in handed:
        os.close(descriptor)
    for arena in pair:
        arena.close()


def test_closed_candidates_leave_no_open_descriptor(oracle):
    oracle.open(GELU, next(runners))
    oracle.ask(messages.Close)
    before = descriptors(oracle)
    for _ in range(3):
        oracle.open(GELU, next(runners))
        oracle.ask(messages.Close)
    assert descriptors(oracle) == before


def test_oracle_ends_with_the_referee_during_a_reference(tmp_path):
    slow = tmp_path / "gelu.py"
    slow.write_text(
        GELU.read_text().replace(
            "    return F.gelu(input, approx", "    while True: pass\n    return F.gelu(input, approx"
        )
    )
    process = OracleProcess()
    process.open(slow, 1)
    write_frame(process.process.stdin, encode(messages.Prepare(id=9, call=0)))
    process.process.stdin.close()
    assert process.process.wait(patience.SECONDS) == 0
    process.process.stdout.close()


KEEPS = """
    import os, pathlib, triton
    from torch.utils import cpp_extension
    home = pathlib.Path.home()
    extension = cpp_extension._get_build_directory("mine", False)
    for folder in home, pathlib.Path(extension), pathlib.Path(triton.knobs.cache.dir):
        assert home in (folder, *folder.parents), folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kept").write_text("")
    assert (home.stat().st_uid, home.stat().st_mode & 0o777) == (os.getuid(), 0o700)
"""


def is_anybody(uid):
    """Whether that user may use this Python."""
    command = [sys.executable, "-c", "import torch"]
    try:
        return subprocess.run(command, user=uid, group=uid, capture_output=True).returncode == 0
    except PermissionError:
        return False


@pytest.mark.skipif(os.geteuid() != 0, reason="an oracle that an ordinary user starts stays in that user's home")
@pytest.mark.parametrize("uid", [0, 61000])
def test_an_oracle_that_is_told_a_user_has_a_home_where_compilers_keep_what_they_make(monkeypatch, uid):
    if not is_anybody(uid):
        pytest.skip("this Python lies where other users than root cannot read it")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o1777)  # as the referee makes it
        monkeypatch.setenv("TMPDIR", folder)
        task = pathlib.Path(folder) / "gelu.py"
        text = GELU.read_text().replace("    return F.gelu(input, approx", KEEPS + "    return F.gelu(input, approx")
        task.write_text(text)
        oracle = OracleProcess("--uid", str(uid))
        _, runner = oracle.open(task, next(runners))
        judged = runner.judge(0, gelu)
        oracle.close()
        assert judged.status == "correct"
        assert [p.stat().st_mode & 0o777 for p in pathlib.Path(folder).glob("home-*")] == [0o711]


def test_what_a_task_prints_does_not_touch_the_protocol(tmp_path, oracle):
    chatty = tmp_path / "gelu.py"
    chatty.write_text(GELU.read_text() + "\nimport os\nprint('hello')\nos.write(1, b'hello')\n")
    opened, runner = oracle.open(chatty, next(runners))
    assert runner.judge(0, gelu).status == "correct"
    oracle.ask(messages.Close)


def test_truncated_frame_ends_the_oracle_with_an_error():
    process = OracleProcess()
    process.process.stdin.write(b"\0\0\0\x09\0\0\0\0abc")
    process.process.stdin.close()
    assert process.process.wait(patience.SECONDS) == 2
    assert read_frame(process.process.stdout) is None
    process.process.stdout.close()


def test_an_interrupt_at_the_terminal_is_not_for_the_oracle(oracle):
    # Ctrl-C reaches the whole foreground group; the referee decides when its workers end.
    oracle.process.send_signal(signal.SIGINT)
    opened, runner = oracle.open(GELU, next(runners))
    assert runner.judge(0, gelu).status == "correct"
    oracle.ask(messages.Close)
