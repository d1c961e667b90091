"""Makes candidates of kernels of public libraries: ``build.py OUT [WHEELS]``.

Fetches the libraries' wheels from the package index into WHEELS, unless they are there, installs nothing, and writes a folder of
candidates for each library, named after the tasks that they answer. The libraries' code is under their own licences: OUT is for
measuring, not for publishing.
"""

import subprocess
import sys
import zipfile
from pathlib import Path

from inline import CannotInline, Inliner

HERE = Path(__file__).resolve().parent
LIBRARIES = {
    "flag_gems": ("flag-gems==5.0.2", "flag_gems"),
    "liger_kernel": ("liger-kernel==0.8.5", "liger_kernel"),
    "fla": ("fla-core==0.6.0", "fla"),
    "unsloth": ("unsloth==2026.10.9", "unsloth"),
    "conch": ("conch-triton-kernels==1.3", "conch"),
    "cuda_triton_multiarch": ("cuda-triton-multiarch==0.1.3", "kernels"),
}
"""For each folder of adapters what to fetch, and the package in it."""

MODULES = "kernelbench"
"""The folder of each library's adapters for the suite of that name."""

ALSO = {
    ("flag_gems", "relu"): ("relu_fp16", "relu_bf16"),
    ("flag_gems", "gelu"): ("gelu_fp16", "gelu_bf16"),
    ("flag_gems", "sigmoid"): ("sigmoid_fp16", "sigmoid_bf16"),
    ("flag_gems", "tanh"): ("tanh_fp16", "tanh_bf16"),
    ("flag_gems", "matmul"): ("matmul_fp16", "matmul_bf16"),
    ("flag_gems", "mul_fp16"): ("mul_bf16",),
    ("fla", "matmul"): ("matmul_fp16", "matmul_bf16"),
}
"""Tasks of other dtypes that an adapter answers, too."""


def fetch(wheels):
    wheels.mkdir(parents=True, exist_ok=True)
    for wanted, package in LIBRARIES.values():
        name, _, version = wanted.partition("==")
        found = f"{name.replace('-', '_')}-{version}-*.whl"
        if not any(wheels.glob(found)):
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "-q",
                "--no-deps",
                "--only-binary",
                ":all:",
                "-d",
                wheels,
            ]
            subprocess.run([*command, wanted], check=True)
        folder = wheels / "unpacked"
        for wheel in wheels.glob(found):
            if not (folder / package).is_dir():
                with zipfile.ZipFile(wheel) as archive:
                    names = [n for n in archive.namelist() if n.startswith(f"{package}/") and n.endswith(".py")]
                    archive.extractall(folder, names)
    return folder


def build(out, sources):
    made = 0
    for library, (_, package) in LIBRARIES.items():
        inliner = Inliner(package, sources / package, HERE / "shims" / f"{library}.py")
        for adapter in sorted((HERE / "adapters" / library).rglob("*.py")):
            made += write(out, library, adapter, inliner)
    (out / MODULES).mkdir(parents=True, exist_ok=True)
    (out / MODULES / "SUITE").write_text(MODULES + "\n", encoding="utf-8")
    return made


def write(out, library, adapter, inliner):
    """Writes the candidates of one adapter and returns how many there are."""
    place = adapter.relative_to(HERE / "adapters" / library)
    modules = place.parts[0] == MODULES
    try:
        text = inliner.candidate(adapter)
    except CannotInline as error:
        sys.exit(f"{adapter.relative_to(HERE)}: {error}")
    folder = out / MODULES / library / place.relative_to(MODULES).parent if modules else out / library / place.parent
    folder.mkdir(parents=True, exist_ok=True)
    names = (adapter.stem, *ALSO.get((library, adapter.stem), ()))
    for name in names:
        # The library may have a function of the task's name.
        entry = "" if modules else f"\n\n{name} = kernel_function\n"
        (folder / f"{name}.py").write_text(text + entry, encoding="utf-8")
    return len(names)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    out = Path(sys.argv[1])
    sources = fetch(Path(sys.argv[2]) if len(sys.argv) == 3 else out.parent / "library-wheels")
    print(f"{build(out, sources)} candidates in {out}")


if __name__ == "__main__":
    main()
