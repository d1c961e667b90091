#!/bin/sh
# Judges kernels of public libraries (FlagGems, Liger-Kernel, fla-core, Unsloth, Conch, cuda-triton-multiarch), many of them autotuned.
#
# bench/library-kernels.sh build [OUT]       makes the candidates, where there is a package index; default target/library-kernels
# bench/library-kernels.sh run [OUT [KBX_OPTION...]]   judges the 33 of library_kernels/thirty_three.txt, twice, the second time with what
#                                            was compiled, and says whether that took at most 60 seconds without a timeout
# bench/library-kernels.sh all [OUT [KBX_OPTION...]]   judges all of both suites, once
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
python=${KBX_PYTHON:-python3}
action=${1:-run}
[ $# -gt 0 ] && shift
candidates=${1:-$home/target/library-kernels}
[ $# -gt 0 ] && shift

# Adds what became of the candidates of a suite to the folder $out/$1: evaluate ROUND SUITE SOURCE... [KBX_OPTION...]
evaluate() {
  folder=$out/$1 suite=$2
  shift 2
  mkdir -p "$folder"
  "$home/kbx" eval --suite "$suite" --out "$folder/$suite" --json "$@" >"$folder/$suite.json" 2>"$folder/$suite.log" \
    || { cat "$folder/$suite.log"; exit 2; }
}

# Tells what became of them since the time $2.
tell() {
  "$python" - "$2" "$(date +%s.%N)" "$out/$1"/*.json <<'PY'
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
  run | all)
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    "$home/kbx" --version
    status=0
    if [ "$action" = run ]; then
      sources=$(sed "s|^|$candidates/|" "$home/bench/library_kernels/thirty_three.txt")
      for round in cold warm; do
        started=$(date +%s.%N)
        # One word each.
        # shellcheck disable=SC2086
        evaluate "$round" kernelbenchx $sources "$@"
        tell "$round" "$started" || status=$?
      done
    else
      started=$(date +%s.%N)
      evaluate all kernelbenchx "$candidates" "$@"
      evaluate all kernelbench "$candidates/kernelbench" "$@"
      tell all "$started" || status=$?
    fi
    exit "$status"
    ;;
  *) sed -n '2,7p' "$0" >&2; exit 1 ;;
esac
