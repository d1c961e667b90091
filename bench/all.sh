#!/bin/sh
# kbx's own speed in a minute or two: appends a line a figure to bench/history.tsv, and fails where one is a quarter slower
# than the best of the last three on the same machine.
#
# bench/all.sh                           the medians of 5 runs
# KBX=/path/to/kbx RUNS=3 bench/all.sh   of another kbx, of fewer runs
#
# Columns: date, commit, machine, figure, value in seconds. Less is better for each figure.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
runs=${RUNS:-5}
history=${HISTORY:-$home/bench/history.tsv}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

gpu=
machine="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1) x $(nproc)"
if gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null); then
  machine="$machine, $(printf '%s\n' "$gpu" | head -n 1) x $(printf '%s\n' "$gpu" | wc -l)"
fi
commit=$(git -C "$home" describe --always --dirty 2>/dev/null || "$kbx" --version)

# The median of the wall times of a command, whatever its exit status.
seconds() {
  for _ in $(seq "$runs"); do
    rm -rf "$scratch/out"
    started=$(date +%s%N)
    "$@" >"$scratch/log" 2>&1 || true
    echo $((($(date +%s%N) - started) / 1000000))
  done | sort -n | awk '{ all[NR] = $1 } END { printf "%.3f\n", all[int((NR + 1) / 2)] / 1000 }'
}

# Appends one figure.
record() {
  figure=$1
  shift
  value=$(seconds "$@")
  printf '%s\t%s\t%s\t%s\t%s\n' "$(date -u +%F)" "$commit" "$machine" "$figure" "$value" | tee -a "$history"
}

[ -s "$history" ] || printf 'date\tcommit\tmachine\tfigure\tseconds\n' >"$history"
before=$(wc -l <"$history")
"$kbx" --version >"$scratch/log" # A first start builds, and fills the cache of parsed tasks with the next command.
"$kbx" tasks list >"$scratch/log"
record help "$kbx" --help
record "unknown option" "$kbx" eval --no-such-option
record "missing path" "$kbx" eval "$scratch/nowhere.py"
record "one file, cold" "$kbx" eval "$home/corpus/honest/plain/gelu.py" --no-daemon --out "$scratch/out"
record "honest kernels of Activation, cold" "$kbx" eval "$home/corpus/honest" --tasks 'Activation/*' --no-daemon --out "$scratch/out"
if [ -z "$gpu" ] && [ -z "${CI:-}${KBX_NO_DAEMON:-}" ]; then
  "$kbx" eval "$home/corpus/honest/plain/gelu.py" --out "$scratch/out" >"$scratch/log" 2>&1 # Starts the daemon.
  record "one file, warm daemon" "$kbx" eval "$home/corpus/honest/plain/gelu.py" --out "$scratch/out"
fi

awk -F'\t' -v before="$before" -v machine="$machine" '
  $3 != machine { next }
  NR > before {
    from = n[$4] > 3 ? n[$4] - 2 : 1
    for (i = from; i <= n[$4]; i++) if (i == from || past[$4, i] < best) best = past[$4, i]
    if (n[$4] && $5 > 1.25 * best) { printf "slower: %s took %s s, before %s s\n", $4, $5, best; slower = 1 }
    next
  }
  { past[$4, ++n[$4]] = $5 }
  END { exit slower }' "$history"
