"""What reaches a GPU's driver past PyTorch and Triton, with a stand-in for CUPTI: on a real one ``bench/cheats.sh`` tries it."""

import contextlib
import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from kbx.runner import extensions, launches, native
from kbx.runner.ledger import Ledger
from kbx.runner.witness import Witness

KERNEL = b"_ZN12_GLOBAL__N_17Kernel2IiEENSt9enable_ifIXgtstT_Li2EEvE4typeES2_"
"""``std::enable_if<((sizeof (int))>(2)), void>::type (anonymous namespace)::Kernel2<int>(int)``."""
SOURCE = Path(__file__).with_name("fake_cupti.cpp")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """CUPTI, cuBLAS and a candidate's extension, none of them real."""
    if shutil.which("c++") is None:
        pytest.skip("without a C++ compiler there is no native witness")
    folder = tmp_path_factory.mktemp("libraries")
    cupti = folder / "libcupti-standin.so"
    build(cupti)
    for name in ("libcublas.so.13", "extension.so"):
        build(folder / name, "-DLIBRARY", str(cupti))
    return folder


def build(target, *options):
    command = ["c++", "-std=c++20", "-O1", "-shared", "-fPIC", f"-Wl,-soname,{target.name}", str(SOURCE), *options]
    subprocess.run([*command, "-o", str(target)], check=True)


class Machine:
    """Libraries, and how a candidate calls them."""

    def __init__(self, folder):
        self.cupti, self.cublas, self.extension = (
            ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL)
            for name in ("libcupti-standin.so", "libcublas.so.13", "extension.so")
        )

    def ask(self, function, *words, handle=1, symbol=b"gemm"):
        values = (ctypes.c_uint64 * len(words))(*words)
        self.cupti.ask(function.encode(), symbol, ctypes.c_uint64(handle), values, ctypes.c_size_t(len(words)))

    @staticmethod
    def multiply(library, x, out):
        library.multiply(ctypes.c_uint64(x.data_ptr()), ctypes.c_uint64(out.data_ptr()))


def run(libraries, *arguments, **variables):
    """A Python whose CUPTI is the stand-in, when it has ended."""
    environment = os.environ | {
        "LD_PRELOAD": str(libraries / "libcupti-standin.so"),
        "PYTHONPATH": os.pathsep.join(sys.path),
        **variables,
    }
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def judged(libraries):
    """Accounts of all candidates by their names, from a process whose CUPTI is the stand-in."""
    done = run(libraries, __file__, str(libraries))
    assert done.returncode == 0, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


def account(folder, candidate, sees):
    """What comes of ``candidate(machine, witness, x, out)`` on two tensors; ``sees``: launches of PyTorch are seen."""
    machine = Machine(folder)
    extensions.files.add(os.path.realpath(os.path.join(folder, "extension.so")))
    torch.set_num_threads(1)
    x, out = torch.rand(1000), torch.zeros(1000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "zeros", lambda count, device: torch.empty(count))
        witness = Witness(Ledger((), native.library), "candidate.py", True, gpu=True)
    if sees:
        witness._sees_launches = lambda: True
    _, found = witness.call(lambda *given: candidate(machine, witness, *given), (x, out), {}, [x, out])
    return found


def library(machine, witness, x, out):
    machine.multiply(machine.cublas, x, out)
    return out


def extension(machine, witness, x, out):
    witness._called(lambda a, b: machine.multiply(machine.extension, a, b), x, out)
    return out


def library_of_an_extension(machine, witness, x, out):
    witness._called(lambda a, b: machine.multiply(machine.cublas, a, b), x, out)
    return out


def launched_by_hand(machine, witness, x, out):
    machine.ask("cuLaunchKernelEx", x.data_ptr(), out.data_ptr(), symbol=KERNEL)
    return out


def memory_unknown(machine, witness, x, out):
    witness._called(lambda a, b: None, x, out)
    machine.ask("cuLaunchKernel")
    return out


def copied_to_the_host(machine, witness, x, out):
    buffer = ctypes.create_string_buffer(x.nbytes)
    machine.ask("cuMemcpyDtoH_v2", ctypes.addressof(buffer), x.data_ptr())
    return torch.tensor([0.5] * 1000)


def expected(machine, witness, x, out):
    with witness._expected((1, 1, 1, 0, 9)):
        machine.ask("cuLaunchKernel", x.data_ptr(), out.data_ptr(), handle=9)
    witness._called(lambda a, b: None, x, out)
    return out


def another_meanwhile(machine, witness, x, out):
    witness._called(lambda a, b: None, x, out)
    with witness._expected((1, 1, 1, 0, 9)):
        machine.ask("cuLaunchKernel", x.data_ptr(), out.data_ptr(), handle=8)
    return out


def host_function(machine, witness, x, out):
    witness._called(lambda a, b: None, x, out)
    machine.ask("cuLaunchHostFunc", x.data_ptr(), out.data_ptr())
    return out


def products_by_address(machine, witness, x, out):
    witness._called(lambda a, b: None, x, out)
    elsewhere = ctypes.create_string_buffer(16)  # holds the addresses
    machine.ask("cuLaunchKernel", ctypes.addressof(elsewhere), x.data_ptr())
    return out


def extension_many_times(machine, witness, x, out):
    def tiles(a, b):
        for at in range(0, 4000, 4):
            for _ in range(6):
                machine.extension.multiply(ctypes.c_uint64(x.data_ptr() + at), ctypes.c_uint64(out.data_ptr() + at))

    witness._called(tiles, x, out)
    return out


def extension_with_an_operation(machine, witness, x, out):
    def stages(a, b):
        machine.multiply(machine.extension, a, b)
        torch.empty(10)
        machine.multiply(machine.extension, a, b)

    witness._called(stages, x, out)
    return out


def function_fetched_before(machine, witness, x, out):
    machine.multiply(machine.extension, x, out)
    return out


def kept_by_the_extension(machine, witness, x, out):
    witness._called(lambda: machine.multiply(machine.extension, x, out))
    return out


def raising(machine, witness, x, out):
    def launch_and_raise(a, b):
        machine.multiply(machine.extension, a, b)
        raise ValueError

    with contextlib.suppress(ValueError):
        witness._called(launch_and_raise, x, out)
    return extension(machine, witness, x, out)


def by_hand_after_an_interruption(machine, witness, x, out):
    def interrupt():
        raise ValueError

    with contextlib.suppress(ValueError), pytest.MonkeyPatch.context() as patch:
        witness._called(lambda a, b: patch.setattr(witness, "_take_driver_calls", interrupt), x, out)
    machine.ask("cuLaunchKernel", x.data_ptr(), out.data_ptr())
    return out


def library_behind_many(machine, witness, x, out):
    def many(a, b):
        for _ in range(5000):
            machine.multiply(machine.extension, a, b)
        machine.multiply(machine.cublas, a, b)

    witness._called(many, x, out)
    return out


def different_ones(machine, witness, x, out):
    witness._called(lambda a, b: None, x, out)
    for number in range(5000):
        machine.ask("cuLaunchKernel", symbol=b"kernel%d" % number)
    return out


def main(folder):
    """Prints the account of each candidate, made in a process of its own: there is one witness in each."""
    native.prepare()
    assert native.versions()["cupti"] == "26"
    launches.emulate("sm_90")
    for candidate in CANDIDATES:
        for sees in (True, False):
            if (child := os.fork()) == 0:
                print(json.dumps([f"{candidate.__name__} {sees}", account(folder, candidate, sees)]), flush=True)
                os._exit(0)
            os.waitpid(child, 0)


CANDIDATES = (
    library, library_of_an_extension, launched_by_hand, memory_unknown, another_meanwhile, copied_to_the_host, extension, expected,
    host_function, products_by_address, extension_many_times, extension_with_an_operation, library_behind_many, different_ones,
    function_fetched_before, kept_by_the_extension, raising, by_hand_after_an_interruption,
)  # fmt: skip


@pytest.mark.parametrize(
    "candidate, name",
    [
        (library, "gemm of libcublas.so.13"),
        (library_of_an_extension, "gemm of libcublas.so.13"),
        (launched_by_hand, "Kernel2 of libffi"),
        (memory_unknown, "gemm of libffi"),
        (products_by_address, "gemm of libffi"),
        (library_behind_many, "gemm of libcublas.so.13"),
        (another_meanwhile, "gemm of libffi"),
        (by_hand_after_an_interruption, "gemm of libffi"),
        (copied_to_the_host, "cuMemcpyDtoH_v2 of libffi"),
    ],
)
def test_launches_outside_torch_and_triton_are_foreign(judged, candidate, name):
    found = judged[f"{candidate.__name__} True"]
    assert found["foreign"] >= 1000
    assert any(operation["name"].startswith(name) for operation in found["operations"])


@pytest.mark.parametrize(
    "candidate",
    [
        extension,
        expected,
        host_function,
        extension_many_times,
        extension_with_an_operation,
        function_fetched_before,
        kept_by_the_extension,
        raising,
    ],
)
def test_launches_of_the_candidate_are_its_own(judged, candidate):
    found = judged[f"{candidate.__name__} True"]
    assert found["foreign"] == 0
    assert found["own"] == 1000


def test_account_without_callbacks_is_incomplete(judged):
    assert judged["expected False"] is None


def test_account_beyond_its_kernel_limit_is_incomplete(judged):
    assert judged["different_ones True"] is None


def test_no_call_is_judged_while_a_profiler_holds_cupti(libraries):
    source = "from kbx.runner import native; native.prepare(); native.watches_driver()"
    done = run(libraries, "-c", source, CUPTI_IS_TAKEN="1")
    assert "launches cannot be watched (cuptiSubscribe: error 39); end the debugger or profiler" in done.stderr


if __name__ == "__main__":
    main(Path(sys.argv[1]))
