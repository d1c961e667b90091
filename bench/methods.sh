#!/bin/sh
# What kbx itself costs while methods write kernels: a model that takes 2 s for each reply, 64 requests in flight, and
# simulated workers that find everything right at once. Needs no GPU and no key.
#
# bench/methods.sh OUT [TASKS]       2,000 tasks unless said otherwise: the ideal is 64.0 s
#
# Prints wall time from the first request to the last answer and to the end of the process, the largest memory of the
# JVM, and its processor time. The limit of its heap is the launcher's.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
out=${1:?usage: bench/methods.sh OUT [TASKS]}
tasks=${2:-2000}
kbx=${KBX:-$home/kbx}
python=${KBX_PYTHON:-python3}
seconds=2
parallel=64
[ ! -e "$out" ] || { echo "$out exists; name a new folder" >&2; exit 1; }
mkdir -p "$out/suite/Many"
out=$(cd "$out" && pwd -P)

# Tasks that differ in their names alone.
i=0
while [ "$i" -lt "$tasks" ]; do
  sed "s/\btanh(input_tensor/tanh_$i(input_tensor/" "$home/tasks/kernelbenchx/Activation/tanh.py" >"$out/suite/Many/tanh_$i.py"
  i=$((i + 1))
done

mkfifo "$out/open"
"$python" "$home/bench/simulated/provider.py" "$seconds" "$home/tasks/kernelbenchx/Activation/kernels/tanh.py" tanh \
  <"$out/open" >"$out/provider.txt" &
provider=$!
exec 3>"$out/open"
while [ ! -s "$out/provider.txt" ]; do sleep 0.1; done
cat >"$out/models.toml" <<END
[[model]]
name = "simulated"
provider = "openai"
base_url = "http://127.0.0.1:$(head -n 1 "$out/provider.txt")/v1"
parallel = $parallel
stream = false
price_input = 1.0
price_output = 2.0
price_as_of = 2026-11-25
END

"$kbx" --version
JAVA_TOOL_OPTIONS="-Dkbx.workers=$home/bench/simulated" "$kbx" run --method refine --turns 1 --model simulated \
  --models "$out/models.toml" --suite "$out/suite" --device cpu --jobs 8 --seed bench --out "$out/run" \
  >"$out/stdout.txt" 2>"$out/stderr.txt" &
pid=$!
: >"$out/status.txt"
while cat "/proc/$pid/status" >"$out/status.new" 2>/dev/null && grep -q VmHWM "$out/status.new"; do
  cp "$out/status.new" "$out/status.txt"
  cat "/proc/$pid/stat" >"$out/stat.new" 2>/dev/null && [ -s "$out/stat.new" ] && cp "$out/stat.new" "$out/stat.txt"
  sleep 0.2
done
rc=0
wait "$pid" || rc=$?
date +%s.%N >"$out/end.txt"
exec 3>&-
wait "$provider" || true
[ "$rc" = 0 ] || { tail -n 5 "$out/stderr.txt" >&2; exit "$rc"; }

"$python" - "$out" "$tasks" "$seconds" "$parallel" "$(uptime)" <<'END'
import json
import math
import sys
from datetime import datetime
from pathlib import Path

out, tasks, seconds, parallel = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
ideal = math.ceil(tasks / parallel) * seconds
events = [json.loads(line) for line in (out / "run/ledger.jsonl").open(encoding="utf-8")][1:]


def times(event):
    return [datetime.fromisoformat(e["time"]).timestamp() for e in events if e["event"] == event]


first, reply, answer = min(times("prompt")), max(times("reply")), max(times("selection"))
end = float((out / "end.txt").read_text())
verdicts = sum(1 for _ in (out / "run/results.jsonl").open(encoding="utf-8"))
status = dict(line.split(":", 1) for line in (out / "status.txt").read_text().splitlines())
ticks = (out / "stat.txt").read_text().rsplit(")", 1)[1].split()
print(f"{tasks} tasks, {parallel} requests in flight, {seconds} s each: ideal {ideal:.1f} s;{sys.argv[5].split('users')[-1]}")
print(f"  provider: {(out / 'provider.txt').read_text().splitlines()[-1]}")
print(f"  answers {len(times('selection'))}, judgements {len(times('judgement'))}, final verdicts {verdicts}")
for name, at in (("last reply", reply), ("last answer", answer), ("end of the process, report written", end)):
    print(f"  first request to {name:<36}{at - first:8.1f} s {100 * (at - first) / ideal - 100:+7.1f} %")
print(f"  JVM, peak resident (VmHWM){int(status['VmHWM'].split()[0]) * 1024 / 1e6:29.0f} MB")
print(f"  JVM, processor time{(int(ticks[11]) + int(ticks[12])) / 100:38.1f} s")
END
