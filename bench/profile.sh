#!/bin/sh
# Judges a few kernels with --profile on this machine's GPU and prints what Nsight Compute says of each, or why it says nothing.
# Runs wherever kbx runs; on a GPU node from the bundle that ./kbx package makes. Exit code 1 where a correct kernel has no figures.
#
# bench/profile.sh OUT [SOURCE...]           without SOURCE: one kernel bound by memory, one by arithmetic, one that is two kernels
# KBX=/path/to/kbx bench/profile.sh OUT      with the kbx of a bundle elsewhere
# KBX_OPTIONS="--device cuda:0" ...          more options for kbx eval
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
out=${1:?usage: bench/profile.sh OUT [SOURCE...]}
shift
honest=$home/corpus/honest
[ $# -gt 0 ] || set -- "$honest/persistent/gelu.py" "$honest/grouped_tiles/matmul_fp16.py" "$honest/two_pass/sum.py"
mkdir -p "$out"
"$kbx" --version
# shellcheck disable=SC2086
"$kbx" eval "$@" --profile --out "$out" ${KBX_OPTIONS:-} >"$out/table.txt" 2>"$out/progress.log" || {
  tail -n 20 "$out/progress.log" >&2
  exit 2
}
grep '^kbx: ' "$out/progress.log" || true
"${KBX_PYTHON:-python3}" - "$out/results.jsonl" <<'PY'
import json
import sys

missing = 0
for line in open(sys.argv[1]):
    verdict = json.loads(line)
    profile = verdict.get("profile", {})
    print(f"{verdict['category']}/{verdict['task']}: {verdict['status']}, at {profile.get('shape', 'no size')}")
    missing += verdict["status"] == "correct" and "kernels" not in profile
    if "failure" in profile:
        print(f"    no figures: {profile['failure']}")
    for kernel in profile.get("kernels", []):
        figures = ", ".join(
            f"{name} {kernel[name]:.4g}" if isinstance(kernel[name], (int, float)) else f"{name} {kernel[name]}"
            for name in kernel
            if name != "kernel"
        )
        print(f"    {kernel['kernel']}: {figures}")
    # The same size as it was timed, for comparison: profiled kernels run alone, with cold caches.
    timed = [size for size in verdict.get("sizes", []) if size["shape"] == profile.get("shape")]
    for size in timed:
        shares = "".join(f", {name.upper()} {size[name]:.3f}" for name in ("iou", "mfu") if name in size)
        print(f"    timed: {size['candidate_ms']:.4f} ms{shares}")
sys.exit(1 if missing else 0)
PY
