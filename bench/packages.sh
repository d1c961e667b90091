#!/bin/sh
# Kernels in TileLang and in the CuTe DSL: judged as kernels of their own where the packages are installed. Needs a GPU, and in the Python
# that kbx uses: pip install tilelang nvidia-cutlass-dsl
#
# bench/packages.sh OUT [tilelang|cute]...    without a name: both
# KBX=/path/to/kbx bench/packages.sh OUT      with the kbx of a bundle elsewhere
# KBX_OPTIONS="--device cuda:0" ...           more options for each run
#
# Prints a line for each file and precision: status, share of the candidate's own kernels, speedup, what it breaks on. All must be correct
# with share 1. Where a package is missing, it prints infrastructure and how to install it.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
python=${KBX_PYTHON:-python3}
out=${1:?usage: bench/packages.sh OUT [tilelang|cute]...}
shift
[ $# -gt 0 ] || set -- tilelang cute
mkdir -p "$out"
failed=0
for package in "$@"; do
  for precision in fp32 fp16 bf16; do
    # shellcheck disable=SC2086
    "$kbx" eval "$home/corpus/kernelbench/$package" --suite kernelbench --precision "$precision" --out "$out/$package-$precision" \
      --json ${KBX_OPTIONS:-} >"$out/$package-$precision.json" 2>"$out/$package-$precision.log" || failed=1
    "$python" - "$package $precision" "$out/$package-$precision.json" <<'END' || failed=1
import json
import sys

name, path = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    verdicts = json.load(file)["verdicts"]
for verdict in verdicts:
    share = (verdict.get("origin") or {}).get("kernel_share")
    speedup = (verdict.get("speedup") or {}).get("value")
    breaks = [broken["property"] for broken in verdict.get("breaks") or []]
    print(f"{name} {verdict['task']}: {verdict['status']}, own share {share}, speedup {speedup}, breaks {breaks}")
    if verdict["status"] != "correct":
        print("  " + verdict.get("message", ""))
sys.exit(any(v["status"] != "correct" or (v.get("origin") or {}).get("kernel_share") != 1 for v in verdicts))
END
  done
done
exit "$failed"
