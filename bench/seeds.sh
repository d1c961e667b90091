#!/bin/sh
# Do the suites and the corpus of cheats hold for any values? Runs what checks them under several seeds and prints what does not
# do what it must, with the seed under which it does not. The tests use one seed, so that they find the same every time.
#
# bench/seeds.sh OUT [SEEDS [PART...]]       SEEDS: how many, 5 without it; PART: kernelbench, kernelbenchx, cheats; without: all
# KBX=/path/to/kbx bench/seeds.sh OUT        with the kbx of a bundle elsewhere
# KBX_OPTIONS="--device cpu" ...             more options for every part
# FIRST=N ...                                number of the first seed, 1 without it
#
# Exit code 1 where something differs. OUT/PART-SEED.log is what each run printed. Called again it skips what was as it must be.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
python=${KBX_PYTHON:-python3}
out=${1:?usage: bench/seeds.sh OUT [SEEDS [kernelbench|kernelbenchx|cheats]...]}
seeds=${2:-5}
first=${FIRST:-1}
shift $(($# > 1 ? 2 : 1))
[ $# -gt 0 ] || set -- kernelbench kernelbenchx cheats
mkdir -p "$out"

unsound() {
  "$python" - "$1" <<'END'
import json
import sys

for task in json.load(open(sys.argv[1])):
    if "problem" in task:
        print(f"  {task['problem']}")
    for control in task["controls"]:
        if not control["ok"]:
            print(f"  {task['name']}: {control}")
END
}

status=0
for seed in $(seq "$first" $((first + seeds - 1))); do
  for part in "$@"; do
    log=$out/$part-$seed.log
    [ ! -e "$log" ] || continue
    ended=0
    echo "$part, seed $seed"
    # shellcheck disable=SC2086
    case $part in
    cheats) "$kbx" bench cheats --seed "seed $seed" --out "$out/cheats-$seed" ${KBX_OPTIONS:-} >"$log.part" 2>"$log.err" || ended=$? ;;
    *)
      "$kbx" tasks verify --suite "$part" --seed "seed $seed" --out "$out/$part-$seed" --json ${KBX_OPTIONS:-} \
        >"$log.part" 2>"$log.err" || ended=$?
      ;;
    esac
    [ "$ended" -eq 0 ] || status=1
    if [ "$ended" -eq 1 ]; then
      if [ "$part" = cheats ]; then sed -n '/^$/,$p' "$log.part"; else unsound "$log.part"; fi
    elif [ "$ended" -ne 0 ]; then
      tail -n 5 "$log.err"
      exit "$ended"
    fi
    [ "$ended" -ne 0 ] || mv "$log.part" "$log"
  done
done
exit "$status"
