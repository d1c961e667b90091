#!/bin/sh
# Records the ledger of the demo, with kernels timed on this machine's GPU: copy OUT/ledger.jsonl to examples/methods/.
# The replies are those of examples/methods/replies/. Runs wherever kbx runs; on a GPU node from the bundle of ./kbx package.
#
# bench/demo.sh OUT
# KBX=/path/to/kbx bench/demo.sh OUT      with the kbx of a bundle elsewhere
# KBX_OPTIONS="--device cuda:0" ...       more options for kbx run
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
out=${1:?usage: bench/demo.sh OUT}
mkdir -p "$out"
out=$(cd "$out" && pwd -P)
# The model of record.toml is a program of this folder.
cd "$home"
"$kbx" --version
# shellcheck disable=SC2086
"$kbx" run examples/methods/record.toml --out "$out/run" ${KBX_OPTIONS:-} >"$out/table.txt" 2>"$out/progress.log" || {
  tail -n 20 "$out/progress.log" >&2
  exit 2
}
cp "$out/run/ledger.jsonl" "$out/run/report.html" "$out/run/results.jsonl" "$out/"
cat "$out/table.txt"
"${KBX_PYTHON:-python3}" - "$out/ledger.jsonl" <<'PY'
import json
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]
print("recorded on", lines[0]["device"]["name"], "at", lines[0]["started"])
for line in lines:
    if line.get("event") == "judgement":
        found, speedup = line["judgement"], line["judgement"].get("speedup")
        times = f"{speedup['value']:.2f}x [{speedup['low']:.2f}-{speedup['high']:.2f}]" if speedup else "not timed"
        print(f"{line['task']:32} {line['ask']:8} {found['status']:16} {times}")
PY
