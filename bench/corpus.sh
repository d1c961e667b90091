#!/bin/sh
# Judges the bundled corpus and prints what it cost: wall time, candidates a minute, seconds by stage, peak memory of the
# JVM, and every timed size. Runs wherever kbx runs; on a GPU node from the bundle that ./kbx package makes.
#
# bench/corpus.sh [SOURCE [KBX_OPTION...]]        e.g. bench/corpus.sh corpus/honest --jobs 2
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
source=${1:-$home/corpus}
[ $# -gt 0 ] && shift
export KBX_NO_DAEMON=1 # What is watched must be what judges.
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$home/kbx" --version
# Once before: builds, caches and the page cache are what a second run finds.
[ -n "${KBX_BENCH_COLD:-}" ] || "$home/kbx" eval "$source" --out "$out/warm" "$@" >/dev/null 2>&1
started=$(date +%s.%N)
"$home/kbx" eval "$source" --out "$out/run" --json "$@" >"$out/verdicts.json" 2>"$out/progress.log" &
pid=$!
peak=0
while kill -0 "$pid" 2>/dev/null; do
  now=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null || true)
  [ "${now:-0}" -gt "$peak" ] && peak=$now
  sleep 0.2
done
wait "$pid"
ended=$(date +%s.%N)
"${KBX_PYTHON:-python3}" - "$out/verdicts.json" "$started" "$ended" "$peak" <<'PY'
import json
import statistics
import sys

path, started, ended, peak = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
document = json.load(open(path))
verdicts, run = document["verdicts"], document["run"]
wall = ended - started
print(f"device {run['device']['name']}, {run['versions']}")
print(f"{len(verdicts)} candidates in {wall:.1f} s: {60 * len(verdicts) / wall:.0f} a minute; JVM peak {peak / 1024:.0f} MB")
tally = {}
for v in verdicts:
    tally[v["status"]] = tally.get(v["status"], 0) + 1
print(", ".join(f"{n} {s}" for s, n in sorted(tally.items(), key=lambda x: -x[1])))
for stage in ("static", "compile", "call", "correct", "perf"):
    seconds = [v["seconds"][stage] for v in verdicts if stage in v["seconds"]]
    if seconds:
        print(f"{stage:8} {sum(seconds):7.2f} s in all, median {statistics.median(seconds):.3f} s, largest {max(seconds):.2f} s")
correct = [(sum(v["seconds"].values()), v["source"], v) for v in verdicts if v["status"] == "correct"]
for total, _, v in sorted(correct, key=lambda x: x[:2]):
    speedup = v.get("speedup")
    timed = f"  {speedup['value']:.3f}x [{speedup['low']:.3f}, {speedup['high']:.3f}] of {speedup['baseline']}" if speedup else ""
    print(f"  {total:6.2f} s  {v['category']}/{v['task']}{timed}  {' '.join(v['flags'])}")
    for size in v.get("sizes", []):
        print(
            f"            {size['shape']}: {size['candidate_ms']:.4f} ms against {size['reference_ms']:.4f} ms, "
            f"{size['speedup']:.3f}x [{size['low']:.3f}, {size['high']:.3f}], {size['rounds']} rounds, "
            f"{size.get('gbs', 0):.0f} GB/s"
        )
PY
