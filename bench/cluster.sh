#!/bin/sh
# How many judgements a second one driver takes from a cluster: 16 actors with 16 slots each on this machine, whose nodes answer at once.
# Real messages, real Ray, real store; no judging.
#
# bench/cluster.sh OUT [CANDIDATES]     KBX_RAY_PYTHON names a Python with Ray
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
out=${1:?usage: bench/cluster.sh OUT [CANDIDATES]}
count=${2:-20000}
python=${KBX_RAY_PYTHON:-python3}
mkdir -p "$out"
out=$(cd "$out" && pwd -P)
rm -rf "$out/run" "$out/commands"
"$python" - "$home" "$out/candidates.jsonl" "$count" <<'EOF'
import json, pathlib, sys
home, file, count = sys.argv[1:]
kernels = sorted(pathlib.Path(home).glob("tasks/kernelbenchx/*/kernels/*.py"))
with open(file, "w") as out:
    for i in range(int(count)):
        kernel = kernels[i % len(kernels)]
        row = {"file": f"{kernel.parts[-3]}/{kernel.name}", "sample": i // len(kernels)}
        out.write(json.dumps(row | {"predict": f"{kernel.read_text()}\n\nVARIANT = {i}\n"}) + "\n")
EOF
# The cluster lives while its input is open.
mkfifo "$out/commands"
"$python" "$home/bridge/tests/nodes.py" 1 1 16 <"$out/commands" >"$out/address" 2>"$out/cluster.log" &
nodes=$!
exec 3>"$out/commands"
trap 'exec 3>&-; wait $nodes || true; rm -f "$out/commands"' EXIT
while ! [ -s "$out/address" ]; do kill -0 $nodes; sleep 0.2; done
export KBX_RAY_PYTHON="$python"
JAVA_TOOL_OPTIONS="-Dkbx.cluster.node=$(command -v "$python");$home/bench/simulated/node.py;--capacity;16" \
  "$home/kbx" eval "$out/candidates.jsonl" --cluster "$(cat "$out/address")" --device cuda --stages static,call,correct --out "$out/run" \
  2>&1 >"$out/stdout.txt" | "$python" -u -c '
import sys, time
times = []
for line in sys.stdin:
    if line.startswith("["): times.append(time.monotonic())
    else: print(line, end="", file=sys.stderr)
print(f"{len(times)} judgements, {(len(times) - 1) / (times[-1] - times[0]):.0f} a second from the first to the last")
' | tee "$out/rate.txt"
