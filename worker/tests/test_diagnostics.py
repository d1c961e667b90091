"""What compilers say, and what is made of it."""

import textwrap

import pytest

from kbx.runner import diagnostics

SOURCE = '''\
import textwrap
from torch.utils.cpp_extension import load_inline

KERNEL = """__global__ void scale(float* x, long n) {
    long i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}

torch::Tensor run(torch::Tensor x) {
    scale<<<1, 32>>>(x.data_ptr<float>(), x.numel());
    return y;
}"""
WIDTH = 32
FORMATTED = f"""
    constexpr int width = {WIDTH};
    int broken = width +;
"""
'''
CUDA = "\n".join(
    ["#include <torch/types.h>", "#include <cuda.h>", "#include <cuda_runtime.h>", SOURCE.split('"""')[1]]
    + [textwrap.dedent(SOURCE.split('"""')[3]).replace("{WIDTH}", "32")]
)


def line_of(text, within):
    return next(i for i, line in enumerate(within.splitlines(), 1) if text in line)


def explain(output):
    return diagnostics.explain(textwrap.dedent(output), diagnostics.Lines({"cuda.cu": CUDA}, SOURCE), "candidate.py")


def at(text):
    """Lines of one text in the generated file and in the candidate."""
    return line_of(text, CUDA), line_of(text, SOURCE)


@pytest.mark.parametrize(
    "said",
    [
        '/tmp/extensions/e/cuda.cu({0}): error: identifier "q" is undefined',
        '/tmp/extensions/e/cuda.cu({0}): error #20: identifier "q" is undefined',
        '/tmp/extensions/e/cuda.cu:{0}:24: error: identifier "q" is undefined',
    ],
)
@pytest.mark.parametrize("text", ["x[i] *= factor", "return y;", "__global__ void scale", "int broken"])
def test_error_lines_are_those_of_the_candidate(said, text):
    generated, own = at(text)
    message, place = explain(said.format(generated))
    assert message.splitlines()[0] == f'candidate.py:{own}: error: identifier "q" is undefined'
    assert place.line == own and text in place.text


def test_line_of_generated_code_keeps_its_file():
    message, place = explain('/tmp/extensions/e/cuda.cu(2): catastrophic error: cannot open source file "cuda.h"')
    assert message == 'cuda.cu:2: error: cannot open source file "cuda.h"\n    #include <cuda.h>'
    assert place is None


@pytest.mark.parametrize(("said", "library"), [
    ('/t/cuda.cu(2): catastrophic error: cannot open source file "kittens.cuh"', "ThunderKittens"),
    ("/t/cuda.cu:2:10: fatal error: kittens.cuh: No such file or directory", "ThunderKittens"),
    ("/t/cuda.cu:2:10: fatal error: cutlass/gemm/device/gemm.h: No such file or directory", "CUTLASS"),
])  # fmt: skip
def test_a_missing_header_is_named_with_its_library(said, library):
    message, _ = explain(said)
    header = "kittens.cuh" if library == "ThunderKittens" else "cutlass/gemm/device/gemm.h"
    assert header in message.splitlines()[0]
    assert message.splitlines()[0].endswith(f"; it is a header of {library}, which comes with neither nvcc nor PyTorch")


def test_equal_errors_of_host_and_device_are_reported_once():
    said = f'/t/cuda.cu({at("return y;")[0]}): error: identifier "y" is undefined\n'
    assert explain(said * 3)[0].count("error") == 1


def test_only_the_first_errors_are_reported():
    message, _ = explain("\n".join(f"/t/cuda.cu({i}): error: number {i}" for i in range(1, 12)))
    assert message.count("error: number") == 5 and message.endswith("and 6 more")


def test_an_error_in_a_header_names_the_line_that_led_there():
    generated, own = at("scale<<<1, 32>>>")
    after = f"""\
    /usr/include/c10/util.h(91): error: static assertion failed with "not a type"
              detected during:
                instantiation of "T f<T>()" at line {generated} of /t/cuda.cu
    """
    before = f"""\
    In file included from /t/cuda.cu:1:
    /t/cuda.cu:{generated}:9:   required from here
    /usr/include/c10/util.h:91:5: error: static assertion failed: not a type
    """
    for said in (after, before):
        message, place = explain(said)
        assert place.line == own
        assert (
            message.startswith(f"candidate.py:{own}: from here\n") and "util.h:91: error: static assertion" in message
        )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("nvcc fatal   : Unsupported gpu architecture 'compute_999'", "error: nvcc: Unsupported gpu architecture 'compute_999'"),
        ("ptxas error   : Entry function 'k' uses too much shared data (0x20000 bytes, 0xc000 max)",
         "error: ptxas: Entry function 'k' uses too much shared data (0x20000 bytes, 0xc000 max)"),
        ("/usr/bin/ld: main.o: in function `f':\nmain.cpp:(.text+0x1f): undefined reference to `g()'\n"
         "collect2: error: ld returned 1 exit status", "error: undefined reference to `g()'"),
        ("something else went wrong\nninja: build stopped: subcommand failed.", "something else went wrong"),
        ("", "the compiler failed without a message"),
    ],
)  # fmt: skip
def test_messages_of_other_compilers_are_parsed(said, told):
    assert explain(said) == (told, None)


def test_compiler_out_of_memory_is_not_a_source_error():
    assert diagnostics.lacks_memory("c++: fatal error: Killed signal terminated program cc1plus")
    assert diagnostics.lacks_memory("cc1plus: out of memory allocating 65536 bytes")
    assert not diagnostics.lacks_memory("/t/cuda.cu(7): error: out of memory is no identifier")
