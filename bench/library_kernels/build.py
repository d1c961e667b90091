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
VERSIONS = {
    "flag_gems": "flag-gems==5.0.2",
    "liger_kernel": "liger-kernel==0.8.5",
    "fla": "fla-core==0.6.0",
    "unsloth": "unsloth==2026.10.9",
}
ALSO = {
    ("flag_gems", "relu"): ("relu_fp16", "relu_bf16"),
    ("flag_gems", "gelu"): ("gelu_fp16", "gelu_bf16"),
    ("flag_gems", "sigmoid"): ("sigmoid_fp16", "sigmoid_bf16"),
    ("flag_gems", "tanh"): ("tanh_fp16", "tanh_bf16"),
    ("flag_gems", "matmul"): ("matmul_fp16", "matmul_bf16"),
    ("fla", "matmul"): ("matmul_fp16", "matmul_bf16"),
}
"""Tasks of other dtypes that an adapter answers, too."""


def fetch(wheels):
    wheels.mkdir(parents=True, exist_ok=True)
    for package, wanted in VERSIONS.items():
        name, _, version = wanted.partition("==")
        if not any(wheels.glob(f"{name.replace('-', '_')}-{version}-*.whl")):
            subprocess.run(
                [
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
                    wanted,
                ],
                check=True,
            )
        folder = wheels / "unpacked"
        for wheel in wheels.glob(f"{name.replace('-', '_')}-{version}-*.whl"):
            if not (folder / package).is_dir():
                with zipfile.ZipFile(wheel) as archive:
                    archive.extractall(
                        folder, [n for n in archive.namelist() if n.startswith(f"{package}/") and n.endswith(".py")]
                    )
    return folder


def build(out, sources):
    made = 0
    for adapter in sorted(HERE.glob("adapters/*/*.py")):
        library = adapter.parent.name
        try:
            text = Inliner(library, sources / library, HERE / "shims" / f"{library}.py").candidate(adapter)
        except CannotInline as error:
            sys.exit(f"{adapter.relative_to(HERE)}: {error}")
        folder = out / library
        folder.mkdir(parents=True, exist_ok=True)
        for task in (adapter.stem, *ALSO.get((library, adapter.stem), ())):
            # The library may have a function of the task's name.
            (folder / f"{task}.py").write_text(f"{text}\n\n{task} = kernel_function\n", encoding="utf-8")
            made += 1
    return made


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    out = Path(sys.argv[1])
    sources = fetch(Path(sys.argv[2]) if len(sys.argv) == 3 else out.parent / "library-wheels")
    print(f"{build(out, sources)} candidates in {out}")


if __name__ == "__main__":
    main()
