"""Which kernels break what serving needs on a GPU: python3 bench/serving.py [OUT]. Needs a GPU; takes about a minute.

Judges kernels of a row sum and of a product, each of which is right and breaks one property or none. The last line says whether all came as
they should; so does the exit status.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

KBX = os.environ.get("KBX", str(pathlib.Path(__file__).resolve().parent.parent / "kbx"))

REFERENCE = """
import torch


def row_sum(x):
    return x.sum(dim=1)


def inputs():
    return [torch.randn(4096, 1024)]
"""

HEAD = """
import torch
import triton
import triton.language as tl


@triton.jit
def sums(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)INDEX
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + row * n + start + i, mask=start + i < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(total))


def row_sum(x):
    x = x.contiguous()
    out = torch.empty(x.shape[0], device=x.device)
"""
PLAIN = "    sums[(x.shape[0],)](x, out, x.shape[1], BLOCK=256)\n    return out\n"
WIDE = HEAD.replace("INDEX", ".to(tl.int64)")
ALL = {"batch_invariant", "repeatable", "large_index", "graph_safe", "stream_safe"}

KERNELS = {
    "steady": (WIDE + PLAIN, set()),
    "narrow_index": (HEAD.replace("INDEX", "") + PLAIN, {"large_index"}),
    "by_batch": (WIDE + PLAIN.replace("BLOCK=256", "BLOCK=1024 if x.shape[0] < 8 else 256"), {"batch_invariant"}),
    "default_stream": (
        WIDE
        + "    with torch.cuda.stream(torch.cuda.default_stream()):\n        sums[(x.shape[0],)](x, out, x.shape[1], BLOCK=256)\n    return out\n",
        {"stream_safe", "graph_safe"},
    ),
    "looks": (
        WIDE + "    block = 256 if float(x[0, 0]) > 0 else 512\n" + PLAIN.replace("BLOCK=256", "BLOCK=block"),
        {"graph_safe"},
    ),
}  # fmt: skip
"""What each breaks. One that reads a value on the host may also break other properties, whichever block it takes."""
OPEN = {"looks": {"batch_invariant", "repeatable"}}


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # the reference is read by another user where kbx is started by root
        root = pathlib.Path(folder)
        (root / "ref.py").write_text(REFERENCE)
        for name, (source, _) in KERNELS.items():
            (root / f"{name}.py").write_text(source)
        out = sys.argv[1] if len(sys.argv) > 1 else str(root / "out")
        sources = [str(root / f"{name}.py") for name in KERNELS]
        asked = ["--reference", str(root / "ref.py"), "--properties", "all", "--stages", "static,compile,call,correct"]
        made = subprocess.run(
            [KBX, "eval", *sources, *asked, "--device", "cuda", "--off", "side-stream", "--out", out, "--json"],
            stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
    bad = 0
    for verdict in json.loads(made.stdout)["verdicts"]:
        name = pathlib.Path(verdict["source"]).stem
        broken = {each["property"]: each["message"] for each in verdict.get("breaks", [])}
        holds, breaks, may = set(verdict.get("holds", [])) & ALL, set(broken) & ALL, OPEN.get(name, set())
        wanted = KERNELS[name][1]
        right = verdict["status"] == "correct" and breaks - may == wanted and holds | breaks | may == ALL
        bad += not right
        print(f"{'ok ' if right else 'BAD'} {name}: {verdict['status']} {verdict.get('message') or ''}")
        print(f"    holds {', '.join(sorted(holds)) or 'none'}")
        for each in sorted(breaks):
            print(f"    breaks {each}: {' '.join(str(broken[each]).split())[:200]}")
    print("all as it should be" if not bad else f"{bad} not as they should be")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
