#!/bin/sh
# Judges kernels of public libraries (FlagGems, Liger-Kernel, fla-core, Unsloth, Conch, cuda-triton-multiarch), many of them autotuned,
# and says whether that took at most 60 seconds without a timeout.
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

# Judges the candidates of both suites into the folder $out/$1 and tells how that went.
judge() {
  round=$1
  shift
  started=$(date +%s.%N)
  "$home/kbx" eval "$candidates" --out "$out/$round-operators" --json "$@" \
    >"$out/$round-operators.json" 2>"$out/$round.log" || { cat "$out/$round.log"; exit 2; }
  "$home/kbx" eval "$candidates/kernelbench" --suite kernelbench --out "$out/$round-modules" --json "$@" \
    >"$out/$round-modules.json" 2>"$out/$round.log" || { cat "$out/$round.log"; exit 2; }
  "$python" - "$started" "$(date +%s.%N)" "$out/$round-operators.json" "$out/$round-modules.json" <<'PY'
import collections
import json
import sys

started, ended = float(sys.argv[1]), float(sys.argv[2])
documents = [json.load(open(path)) for path in sys.argv[3:]]
verdicts = [v for document in documents for v in document["verdicts"]]
wall = ended - started
tally = collections.Counter(v["status"] for v in verdicts)
print(f"{documents[0]['run']['device']['name']}: {len(verdicts)} candidates in {wall:.1f} s: "
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
    [ $# -gt 0 ] || set -- --jobs 2
    status=0
    judge cold "$@" || status=$?
    judge warm "$@" || status=$?
    exit "$status"
    ;;
  *) sed -n '2,6p' "$0" >&2; exit 1 ;;
esac
