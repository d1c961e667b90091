#!/bin/sh
# What analyses of many verdicts cost: wall time and peak memory of each. Needs no GPU.
#
# bench/analyses.sh FROM OUT [COUNT]   FROM: a results folder with correct and failed candidates, such as that of
#                                      ./kbx eval corpus; OUT: gets COUNT verdicts (default 100000) made of those
# KBX=/path/to/kbx bench/analyses.sh   with another kbx
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
from=${1:?usage: bench/analyses.sh FROM OUT [COUNT]}
out=${2:?usage: bench/analyses.sh FROM OUT [COUNT]}

python3 "$home/bench/analyses.py" "$from" "$out" "${3:-100000}"
for analysis in deviance iterations methods errors quality efficiency fastp passk summary; do
  run=
  case $analysis in fastp | passk) run=$out ;; esac
  # shellcheck disable=SC2086
  python3 - "$kbx" analyze "$analysis" $run --out "$out" <<'EOF'
import resource, subprocess, sys, time

start = time.monotonic()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
seconds = time.monotonic() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(
    f"{sys.argv[3]:12} {seconds:5.1f} s, {used.ru_utime + used.ru_stime:5.1f} s of processors,"
    f" {used.ru_maxrss // 1024} MB" + (f", exit {done.returncode}" if done.returncode else "")
)
EOF
done
