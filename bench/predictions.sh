#!/bin/sh
# How long 500 varied predictions take without a GPU, with cold workers: the suite's own kernels and the honest ones of the corpus, each
# as it is, with one operator changed (most become wrong), and cut off in the middle. Prints seconds and what came of them.
#
# bench/predictions.sh OUT [COUNT]
# KBX=/path/to/kbx bench/predictions.sh OUT    of another kbx
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
out=${1:?usage: bench/predictions.sh OUT [COUNT]}
mkdir -p "$out"

"${KBX_PYTHON:-python3}" - "$home" "${2:-500}" >"$out/predictions.jsonl" <<'END'
import json
import re
import sys
from pathlib import Path

home, count = Path(sys.argv[1]), int(sys.argv[2])
suite = home / "tasks/kernelbenchx"
names = {file.stem: f"{file.parent.name}/{file.stem}" for file in suite.glob("*/*.py")}
kernels = [file for file in sorted(suite.glob("*/kernels/*.py")) if file.stem in names]
honest = [file for file in sorted((home / "corpus/honest").glob("*/*.py")) if file.stem in names]
files = [(file, file.read_text()) for file in kernels + honest]


def changed(text):
    """One operator inside the first kernel is another."""
    head, jit, body = text.partition("@triton.jit")
    return head + jit + re.sub(r" ([+*]) (?!tl\.arange|BLOCK)", lambda m: " - " if m[1] == "+" else " + ", body, count=1)


variants = [lambda text: text, changed, lambda text: text[: len(text) * 3 // 5]]
made = [(file, vary(text)) for vary in variants for file, text in files]
seen = {}
for file, text in made[:count]:
    task = names[file.stem]
    seen[task] = sample = seen.get(task, -1) + 1
    print(json.dumps({"file": f"{task}.py", "sample": sample, "model": "varied", "predict": text}))
END

rm -rf "$out/run"
started=$(date +%s%N)
"$kbx" eval "$out/predictions.jsonl" --device cpu --no-daemon --out "$out/run" >"$out/log" 2>&1 || [ $? -eq 1 ]
ended=$(date +%s%N)
uptime
sed -n 's/"stage":.*//; s/.*"status":"\([a-z_]*\)".*/\1/p' "$out/run/results.jsonl" | sort | uniq -c | sort -rn
awk -v n="$(wc -l <"$out/run/results.jsonl")" -v ms="$(((ended - started) / 1000000))" 'BEGIN { printf "%d predictions in %.1f s\n", n, ms / 1000 }'
