#!/bin/sh
# How small a difference can this machine tell? Times references against themselves, a few of them 200 times, and tries 100 times to
# tell a kernel from its twin that moves 3 % more bytes. Runs wherever kbx runs, and needs a GPU.
#
# bench/noise.sh OUT [PART...]               all, repeats, twins; without PART: these three, about 25 minutes on an H200
# KBX=/path/to/kbx bench/noise.sh OUT        with the kbx of a bundle elsewhere
# KBX_OPTIONS="--device cuda:0" ...          more options for every part
#
# OUT/noise.txt is the whole output; OUT/PART/noise.json has every measurement.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
out=${1:?usage: bench/noise.sh OUT [all|repeats|twins]...}
shift
[ $# -gt 0 ] || set -- all repeats twins
mkdir -p "$out"

# Runs one part; its figures go to noise.txt, its progress to a log beside.
part() {
  name=$1
  shift
  {
    echo "== $name: kbx bench noise $*"
    started=$(date +%s)
    # shellcheck disable=SC2086
    "$kbx" bench noise --out "$out/$name" ${KBX_OPTIONS:-} "$@" 2>"$out/$name.log" || tail -n 5 "$out/$name.log"
    echo "$(($(date +%s) - started)) s"
    echo
  } | tee -a "$out/noise.txt"
}

"$kbx" --version | tee -a "$out/noise.txt"
for name in "$@"; do
  case $name in
    all) part all --twins 0 ;;
    repeats) part repeats --tasks Math/softmax,MatrixMultiply/matmul --repeats 200 --twins 0 ;;
    twins) part twins --repeats 0 --twins 25 ;;
    *)
      echo "no part is called $name" >&2
      exit 1
      ;;
  esac
done
