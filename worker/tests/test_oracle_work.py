"""What a reference moves and computes, by its operations."""

import pathlib
import types

import pytest
import torch
import torch.nn.functional as F

from kbx.oracle import taskfile, work
from kbx.oracle.plan import plan
from kbx.suite import Call, Close


def measure(reference, *args, tf32=False, products=None, **kwargs):
    task = types.SimpleNamespace(
        constants=[],
        differentiates=False,
        reference=reference,
        contract=Close(tf32=tf32),
        products=products,
        run=lambda what, function, *a, **k: function(*a, **k),
    )
    return work.measure(task, Call(args, kwargs))


def fill_rows(x, index):
    return x.index_fill_(0, index, 0.0)


X, Y = torch.rand(8, 8), torch.rand(8, 8)
ROWS = torch.tensor([1, 3])


@pytest.mark.parametrize(
    ("reference", "args", "moved"),
    [
        (torch.add, (X, Y), 3 * 256),
        (lambda x, y: x + x, (X, Y), 2 * 256),
        (torch.add, (X, torch.rand(1, 8)), 2 * 256 + 32),
        (torch.zeros_like, (X,), 256),
        (torch.sum, (X,), 256 + 4),
        (lambda x: x.t(), (X,), 0),
        (lambda x: x[2:4] + 1, (X,), 2 * 64),
        (lambda x: torch.cat([x[:4], x[4:]]), (X,), 2 * 256),
        (torch.relu_, (X,), 2 * 256),
        (lambda x, y: x.copy_(y), (X, Y), 2 * 256),
        (lambda x, y: torch.mm(x, x, out=y), (X, Y), 2 * 256),
        (lambda x: torch.exp(torch.exp(x)), (X,), 2 * 256),
    ],
)
def test_each_byte_counts_once(reference, args, moved):
    assert measure(reference, *args).bytes == moved


@pytest.mark.parametrize(
    ("reference", "args", "moved"),
    [
        (lambda x, rows: x.index_select(0, rows), (X, ROWS), 2 * 64 + 16),
        (lambda x, rows: x[rows], (X, ROWS), 2 * 64 + 16),
        (lambda x, rows: x.index_select(0, rows), (X, ROWS.repeat(50)), 256 + 800 + 50 * 64),
        (F.embedding, (ROWS, X), 2 * 64 + 16),
        (F.nll_loss, (X, torch.zeros(8, dtype=torch.int64)), 8 * 4 + 64 + 4),
        (torch.tril, (X,), 36 * 4 + 256),
        (torch.triu, (X, 1), 28 * 4 + 256),
        (fill_rows, (X, ROWS), 2 * 32 + 16),
    ],
)
def test_indexed_reads_count_only_selected_elements(reference, args, moved):
    assert measure(reference, *args).bytes == moved


def test_update_of_unknown_extent_makes_bytes_unknown():
    assert measure(lambda x, rows, y: x.index_put_((rows, rows), y), X, ROWS, torch.rand(2)).bytes is None
    assert measure(lambda x, y: x.index_put_((x > 0.5,), y), X, torch.rand(1)).bytes is None
    assert measure(lambda x, rows, y: x.index_put_((rows,), y, True), X, ROWS, torch.rand(2, 8)).bytes is None


def test_rows_that_are_put_count_without_those_that_stay():
    assert measure(lambda x, rows, y: x.index_put_((rows,), y), X, ROWS, torch.rand(2, 8)).bytes == 2 * 64 + 16


def test_asking_for_a_dtype_is_no_work():
    half = torch.rand(8, 8, dtype=torch.bfloat16)
    found = measure(lambda x: x.to(torch.promote_types(x.dtype, torch.float32)) * 2, half)
    assert (found.uncounted, found.least_bytes) == ([], 128 + 256)


@pytest.mark.parametrize(("rows", "keys", "pairs"), [(5, 5, 15), (7, 3, 18), (3, 7, 6)])
def test_causal_attention_counts_the_keys_that_are_seen(rows, keys, pairs):
    """Two products of 16 elements for each pair, of 4 heads in 2 batches; key heads may be fewer."""
    q, k = torch.rand(2, 4, rows, 16), torch.rand(2, 2, keys, 16)
    for causal, seen in ((True, pairs), (False, rows * keys)):
        found = measure(
            lambda q, k, v, c=causal: F.scaled_dot_product_attention(q, k, v, is_causal=c, enable_gqa=True),
            q,
            k,
            k.clone(),
        )
        assert (found.flops, found.precision) == (2 * 8 * seen * 2 * 16, "fp32")


def test_unknown_operations_do_not_fail_the_task():
    sparse = measure(lambda x: torch.sparse.mm(x.to_sparse(), x), X)
    assert (sparse.flops, sparse.least_bytes) == (None, None) and sparse.uncounted
    assert measure(fill_rows, torch.tensor(1.0), torch.tensor([0])).bytes is None
    assert measure(torch.add, X, torch.rand(0, 8, 8)).bytes == 256


@pytest.mark.parametrize(
    ("reference", "args", "flops", "precision"),
    [
        (torch.mm, (torch.rand(3, 5), torch.rand(5, 7)), 2 * 3 * 5 * 7, "fp32"),
        (torch.mm, (X.double(), Y.double()), 1024, "fp64"),
        (torch.mm, (X.half(), Y.half()), 1024, "fp16"),
        (torch.mm, (X.bfloat16(), Y.bfloat16()), 1024, "bf16"),
        (torch.mv, (X, torch.rand(8)), 128, "fp32"),
        (torch.addmv, (torch.rand(8), X, torch.rand(8)), 128, "fp32"),
        (torch.dot, (torch.rand(8), torch.rand(8)), 16, "fp32"),
        (F.conv1d, (torch.rand(2, 3, 10), torch.rand(4, 3, 3)), 2 * 2 * 8 * 4 * 9, "fp32"),
        (lambda x, y: (x @ y, x.half() @ y.half()), (X, Y), 2048, None),
        (lambda x, y: x.double() @ y.double(), (X, Y), 1024, None),
        (lambda x, y: x @ y.float(), (X, Y.half()), 1024, "fp32"),
        (torch.add, (X, Y), None, None),
        (lambda x: torch.linalg.inv(x @ x), (X,), None, None),
        (torch.mm, (X.to(torch.complex64), Y.to(torch.complex64)), None, None),
    ],
)
def test_products_are_counted_in_their_precision(reference, args, flops, precision):
    found = measure(reference, *args)
    assert (found.flops, found.precision) == (flops, precision)


def test_integer_products_are_counted():
    a, b = (torch.randint(-128, 127, (32, 32), dtype=torch.int8) for _ in range(2))
    found = measure(torch._int_mm, a, b)
    assert (found.flops, found.precision) == (2 * 32**3, "int8")
    found = measure(lambda x, y: torch._int_mm(x.to(torch.int8), y.to(torch.int8)), a.float(), b.float())
    assert (found.flops, found.precision) == (2 * 32**3, "int8")


def test_a_task_that_allows_tf32_runs_in_tf32():
    assert measure(torch.mm, X, Y, tf32=True).precision == "tf32"
    assert measure(torch.mm, X.half(), Y.half(), tf32=True).precision == "fp16"


def test_uncounted_heavy_operations_are_named():
    assert measure(lambda x: torch.linalg.svd(x @ x), X).uncounted == ["_linalg_svd"]
    assert measure(lambda x: F.gelu(F.layer_norm(x, (8,))), X).uncounted == []


BATCH = torch.rand(3, 8, 8)


@pytest.mark.parametrize(
    ("reference", "args", "needed"),
    [
        (torch.mm, (X, Y), True),
        (F.linear, (X, Y, torch.rand(8)), True),
        (lambda x, y: torch.tanh(x @ y.t()), (X, Y), True),
        (lambda x, y: torch.softmax(x @ y, -1), (X, Y), True),
        (torch.bmm, (BATCH, torch.rand(3, 8, 8)), True),
        (lambda b, y: b @ y, (BATCH, Y), True),
        # Half of a symmetric product is enough.
        (lambda x: x @ x.t(), (X,), False),
        # The sum of a product is the product of two sums.
        (lambda x, y: (x @ y).sum(), (X, Y), False),
        # Two rows of it need no others.
        (lambda x, y: (x @ y)[:2], (X, Y), False),
        # Where the mask is zero nothing needs to be known.
        (lambda x, y, mask: (x @ y) * mask, (X, Y, X.round()), False),
        (lambda x, y: F.dropout(x @ y), (X, Y), False),
        # (x y) v is x (y v).
        (lambda x, y, v: x @ y @ v, (X, Y, torch.rand(8, 1)), False),
        (lambda x, y: x.tril() @ y, (X, Y), False),
        (torch.bmm, (X.expand(3, 8, 8), Y.expand(3, 8, 8)), False),
        (torch.mm, (torch.rand(1, 8).expand(8, 8), Y), False),
        (lambda c, x, y: torch.addmm(c, x, y, alpha=0), (X, X, Y), False),
        # Winograd's algorithm takes fewer multiplications.
        (F.conv2d, (torch.rand(1, 3, 8, 8), torch.rand(4, 3, 3, 3)), False),
    ],
)
def test_only_a_plain_product_sets_a_floor(reference, args, needed):
    found = measure(reference, *args)
    assert found.flops
    assert found.least_flops == (found.flops if needed else None)


@pytest.mark.parametrize(
    ("reference", "args", "least"),
    [
        (torch.add, (X, Y), 3 * 256),
        (lambda x, y: torch.relu(x), (X, Y), 2 * 256),
        (torch.relu_, (X,), None),
        (lambda x: x.view(64), (X,), None),
        (lambda x, rows: x[rows], (X, ROWS), None),
    ],
)
def test_minimum_bytes_of_any_kernel(reference, args, least):
    assert measure(reference, *args).least_bytes == least


def test_task_says_what_products_that_are_emulated_may_run_in():
    eight, scale = X.to(torch.float8_e4m3fn), torch.ones(8, 1)

    def emulated(a, scale):
        return (a.float() * scale) @ a.float().T

    assert measure(emulated, eight, scale).precision == "fp32"
    assert measure(emulated, eight, scale, products="fp8").precision == "fp8"
    assert measure(torch.add, X, Y, products="fp8").precision is None


@pytest.mark.parametrize("name, precision", [("fp8_block_gemm", "fp8"), ("nvfp4_gemm", "fp4"), ("int4_linear", "bf16")])
def test_quantized_products_are_measured_by_their_own_peak(name, precision):
    task = taskfile.load(pathlib.Path(__file__).parents[2] / f"tasks/serving/Quantization/{name}.py")
    call = plan(task, "seed", ordered=True)[0].made(task, "cpu")
    assert work.measure(task, call).precision == precision
