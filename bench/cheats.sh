#!/bin/sh
# Judges the bundled cheats and honest kernels on this machine's GPU (or CPU, where it has none) by static rules alone and with
# static rules off, and writes cheats.json. Runs wherever kbx runs; on a GPU node from the bundle that ./kbx package makes.
# Called again with the same folder it goes on where it stopped.
#
# bench/cheats.sh OUT [KBX_OPTION...]        e.g. bench/cheats.sh out --every 1
# KBX=/path/to/kbx bench/cheats.sh OUT       with the kbx of a bundle elsewhere
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
out=${1:?usage: bench/cheats.sh OUT [KBX_OPTION...]}
shift
mkdir -p "$out"
"$kbx" --version
status=0
"$kbx" bench cheats --out "$out" "$@" >"$out/cheats.txt" 2>"$out/progress.log" || status=$?
tail -n 40 "$out/cheats.txt"
[ "$status" -ne 2 ] || tail -n 20 "$out/progress.log" >&2
exit "$status"
