#!/bin/sh
# Judges kernels of public libraries (FlagGems, Liger-Kernel, fla-core, Unsloth), most of them autotuned, and says whether that took
# at most 60 seconds without a timeout.
#
# bench/library-kernels.sh build [OUT]       makes the candidates, where there is a package index; default target/library-kernels
# bench/library-kernels.sh run [OUT [KBX_OPTION...]]   judges them, also where there is none; twice, the second time with what was compiled
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
python=${KBX_PYTHON:-python3}
action=${1:-run}
[ $# -gt 0 ] && shift
candidates=${1:-$home/target/library-kernels}
[ $# -gt 0 ] && shift

judge() {
  started=$(date +%s.%N)
  "$home/kbx" eval "$candidates" --out "$out/$1" --json "$2" "$3" >"$out/$1.json" 2>"$out/$1.log" || { cat "$out/$1.log"; exit 2; }
  "$python" - "$out/$1.json" "$started" "$(date +%s.%N)" <<'PY'
import collections
import json
import sys

path, started, ended = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
document = json.load(open(path))
verdicts = document["verdicts"]
wall = ended - started
tally = collections.Counter(v["status"] for v in verdicts)
print(f"{document['run']['device']['name']}: {len(verdicts)} candidates in {wall:.1f} s: "
      + ", ".join(f"{n} {status}" for status, n in tally.most_common()))
for v in sorted(verdicts, key=lambda v: -sum(v["seconds"].values())):
    spent = ", ".join(f"{stage} {s:.1f}" for stage, s in v["seconds"].items() if s >= 0.05)
    speed = f"{v['speedup']['value']:.2f}x " if v.get("speedup") else ""
    said = (v.get("message") or "").replace("\n", " ")[:150]
    print(f"  {v['source'].rsplit('library-kernels/')[-1]:28} {v['status']:15} {speed}[{spent}] {' '.join(v['flags'])} {said}")
peaks = [s for v in verdicts for s in v.get("sizes", []) if "peak_bytes" in s]
if peaks:
    most = max(peaks, key=lambda s: s["peak_bytes"] / max(1, s.get("reference_peak_bytes", 0)))
    print(f"memory of {len(peaks)} sizes; most beyond the reference: {most['peak_bytes']} against {most.get('reference_peak_bytes')} bytes")
sys.exit(wall > 60 or tally["timeout"] > 0)
PY
}

case $action in
  build) "$python" "$home/bench/library_kernels/build.py" "$candidates" ;;
  run)
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    "$home/kbx" --version
    first=${1:---jobs}
    second=${2:-2}
    status=0
    judge cold "$first" "$second" || status=$?
    judge warm "$first" "$second" || status=$?
    exit "$status"
    ;;
  *) sed -n '2,6p' "$0" >&2; exit 1 ;;
esac
