#!/bin/sh
# Runs refine with profiles and evolve on three tasks, with replies written by hand (examples/methods/replies), and prints what each
# request was told: whether the prompts hold Nsight Compute's figures, and the speedups that parents were chosen by.
#
# bench/feedback.sh OUT
# KBX=/path/to/kbx bench/feedback.sh OUT      with the kbx of a bundle elsewhere
# KBX_OPTIONS="--device cuda:0" ...           more options for kbx run
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
out=${1:?usage: bench/feedback.sh OUT}
mkdir -p "$out"
out=$(cd "$out" && pwd -P)
# The model of feedback.toml is a program of this folder.
cd "$home"
# shellcheck disable=SC2086
"$kbx" run bench/feedback.toml --out "$out" ${KBX_OPTIONS:-}
"${KBX_PYTHON:-python3}" - "$out/ledger.jsonl" <<'PY'
import json
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]
profiled = {
    (line["method"], line["task"], line["ask"])
    for line in lines
    if line.get("event") == "judgement" and "kernels" in line["judgement"].get("profile", {})
}
for line in lines:
    if line.get("event") == "judgement":
        found = line["judgement"]
        speedup = found.get("speedup")
        times = f"{speedup['value']:.2f}x [{speedup['low']:.2f}-{speedup['high']:.2f}]" if speedup else "not timed"
        seen = "profiled" if (line["method"], line["task"], line["ask"]) in profiled else "no profile"
        print(f"{line['method']:20} {line['task']:22} {line['ask']:14} {found['status']:16} {times:24} {seen}")
PY
