"""The program that Nsight Compute runs: ``python -I profiled.py JOB`` calls a candidate's entry once to warm up and once between
profiler start and stop.

``JOB`` is a JSON file: ``modules`` (where Python finds modules), ``device`` (``cuda`` or ``cpu``), ``arch``, ``source`` (a path),
``entries`` and ``call`` (as in ``messages.oracle.LargestShapesTraced``).
"""

import json
import sys


def main(path):
    """Returns the exit code; what went wrong is the last line on stderr."""
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    sys.path[:] = job["modules"]
    try:
        _profile(job)
        return 0
    except Exception as error:
        print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1


def _profile(job):
    import torch

    from kbx import precision, tensors
    from kbx.runner import module

    torch.set_num_threads(1)
    precision.plain()
    torch.manual_seed(0)
    on_gpu = job["device"] == "cuda"
    if not on_gpu:
        _emulate(job["arch"])
    device = torch.device("cuda", 0) if on_gpu else torch.device("cpu")
    args = [tensors.decode(tree, lambda leaf: _tensor(leaf, device)) for tree in job["call"]["args"]]
    kwargs = {k: tensors.decode(tree, lambda leaf: _tensor(leaf, device)) for k, tree in job["call"]["kwargs"].items()}
    with open(job["source"], encoding="utf-8") as file:
        source = file.read()
    _, entry = module.load(source, job["source"], job["entries"], None if on_gpu else job["arch"])
    if "module" in job["call"]:
        _, entry = module.construct(entry, job["call"]["module"], device)
    entry(*args, **kwargs)  # compiles, tunes and allocates
    if not on_gpu:
        entry(*args, **kwargs)
        return
    runtime = torch.cuda.cudart()
    torch.cuda.synchronize()
    runtime.cudaProfilerStart()
    entry(*args, **kwargs)
    torch.cuda.synchronize()
    runtime.cudaProfilerStop()


def _emulate(arch):
    from kbx.runner import cuda_on_cpu, launches

    launches.emulate(arch)
    launches.only_compile()
    cuda_on_cpu.install(arch)


def _tensor(leaf, device):
    """Values that any task takes: between 0 and 1, and for integers, which may be indices, 0."""
    import torch

    from kbx import tensors

    shape, stride, dtype = leaf["shape"], leaf["stride"], tensors.DTYPES[leaf["dtype"]]
    count = max(1, tensors.span(shape, stride))
    if dtype is torch.bool:
        values = torch.rand(count, dtype=torch.float16, device=device) < 0.5
    elif dtype.is_floating_point or dtype.is_complex:
        narrow = dtype.itemsize == 1  # for which there is no generator
        values = torch.rand(count, dtype=torch.float16 if narrow else dtype, device=device).to(dtype)
    else:
        values = torch.zeros(count, dtype=dtype, device=device)
    return values.as_strided(shape, stride)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
