#!/bin/sh
# What launching takes: launch-bound sizes as CUDA graphs and as Python launches them, of element-wise kernels, of one whose reference
# waits for the device and so cannot be recorded (cholesky), and of a random one. Runs wherever kbx runs, and needs a GPU.
#
# bench/launch.sh OUT                         OUT/results.jsonl has all of it
# KBX=/path/to/kbx bench/launch.sh OUT        with the kbx of a bundle elsewhere
# KBX_OPTIONS="--device cuda:0" ...           more options for kbx eval
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
tasks=${KBX_HOME:-$(dirname "$kbx")}/tasks
out=${1:?usage: bench/launch.sh OUT}

# shellcheck disable=SC2086
"$kbx" eval "$tasks"/kernelbenchx/*/kernels --tasks 'tanh,add,leaky_relu,fused_hardshrink_dropout,index_fill_,std,RMSProp,cholesky' --out "$out" ${KBX_OPTIONS:-} \
  >"$out.log" 2>&1 || tail -n 5 "$out.log"

"${KBX_PYTHON:-python3}" - "$out/results.jsonl" <<'END'
import json
import sys

print(f"{'task':<28}{'size':<34}{'graph us':>9}{'speedup':>9}{'launched us':>13}{'speedup':>9}")
for line in open(sys.argv[1], encoding="utf-8"):
    verdict = json.loads(line)
    if not verdict.get("sizes"):
        print(f"{verdict['task']:<28}{verdict['status']}: {verdict.get('message')}")
    for size in verdict.get("sizes", []):
        launched = size.get("launched")
        us, speedup = 1e3 * size["candidate_ms"], size["speedup"]
        row = f"{verdict['task']:<28}{size['shape'][:33]:<34}"
        if launched:
            row += f"{us:>9.1f}{speedup:>8.2f}x{1e3 * launched['candidate_ms']:>13.1f}{launched['speedup']:>8.2f}x"
        else:
            row += f"{'':>18}{us:>13.1f}{speedup:>8.2f}x"
        print(row, *verdict["flags"])
END
