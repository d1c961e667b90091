#!/bin/sh
# The bundled honest kernels on a one-node cluster against the same without one, on a GPU machine without Java and without a network.
#
# bench/cluster-device.sh pack OUT WHEELS BUNDLE   here: makes OUT/1, OUT/2, OUT/3, each under 50 MB, from a folder with Ray's wheel and
#                                                  those that it needs, and from the archive of ./kbx package
# bench/cluster-device.sh keep FOLDER              there, once for each of the three: copies it to a folder that stays
# bench/cluster-device.sh run OUT [SOURCE]         there: judges SOURCE, by default corpus/honest of the bundle, on a cluster and locally
# bench/cluster-device.sh nodes OUT [SOURCE]       there: the same on a cluster with a node for each GPU, which has 4 processors, without and with
#                                                  another that has 12 and no GPU; then the noise floor of each GPU
#
# Get the wheels with: python3 -m pip download -d WHEELS 'ray[client]==2.58.0', with the Python of the GPU machine, into which
# they are unpacked there.
set -eu
kept=${KBX_DEVICE_FOLDER:-/tmp/kbx-cluster-device}
address=127.0.0.1:6399

pack() {
  mkdir -p "$1/1" "$1/2" "$1/3"
  wheel=$(ls "$2"/ray-*.whl)
  split -b 48M -a 1 "$wheel" "$1/$(basename "$wheel").part-"
  mv "$1"/*.part-a "$1/1"
  mv "$1"/*.part-* "$1/2"
  for other in "$2"/*.whl; do [ "$other" = "$wheel" ] || cp "$other" "$1/2"; done
  cp "$3" "$1/3"
  du -sm "$1"/[123]
}

prepare() {
  cd "$kept"
  [ ! -d bundle ] || return 0
  for part in *.whl.part-a; do cat "${part%.part-a}".part-* >"${part%.part-a}"; done
  python3 - <<'EOF'
import glob, os, sysconfig, zipfile
site = sysconfig.get_paths()["purelib"]
for wheel in glob.glob("*.whl"):
    zipfile.ZipFile(wheel).extractall(site)
for folder, _, files in os.walk(f"{site}/ray/core/src"):  # archives of Python keep no execute bit
    for file in files:
        os.chmod(os.path.join(folder, file), 0o755)
EOF
  mkdir bundle && tar -xf kbx-*.tar.xz -C bundle --strip-components 1
}

ray() {
  python3 -m ray.scripts.scripts "$@" >>"$out/ray.log" 2>&1
}

# What is judged, and where what comes of it goes: OUT [SOURCE].
begin() {
  mkdir -p "$1"
  out=$(cd "$1" && pwd -P)
  prepare
  source=${2:-$kept/bundle/corpus/honest}
  trap 'ray stop --force' EXIT
}

# Judges; prints candidates a minute from the first verdict to the last.
judge() {
  name=$1
  shift
  rm -rf "${kept:?}/$name"
  bundle/kbx eval "$source" --out "$kept/$name" --seed device "$@" 2>&1 >"$out/$name.log" | python3 -u -c '
import sys, time
times = []
for line in sys.stdin:
    if line.startswith("["): times.append(time.monotonic())
    else: print(line.rstrip())
rate = 60 * (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else float("nan")
print(f"{sys.argv[1]}: {len(times)} judged, {rate:.1f} a minute")
' "$name"
  cp "$kept/$name/results.jsonl" "$out/$name.jsonl"
}

# Starts a node of its own folder for what kbx keeps, on some of the processors.
node() {
  name=$1 processors=$2
  shift 2
  mkdir -p "$kept/tmp/$name"
  TMPDIR=$kept/tmp/$name taskset -c "$processors" python3 -m ray.scripts.scripts start --disable-usage-stats "$@" >>"$out/ray.log" 2>&1
}

# A head that judges nothing, and a node for each GPU.
cluster() {
  rm -rf "$kept/tmp"
  gpus=$(nvidia-smi -L | wc -l)
  node head 0-3 --head --port "${address#*:}" --include-dashboard=false --num-cpus 0 --num-gpus 0
  gpu=0
  while [ "$gpu" -lt "$gpus" ]; do
    first=$((4 + 4 * gpu))
    CUDA_VISIBLE_DEVICES=$gpu node "gpu$gpu" "$first-$((first + 3))" --address "$address" --num-cpus 4 --num-gpus 1
    gpu=$((gpu + 1))
  done
}

nodes() {
  begin "$@"
  cluster
  judge alone --cluster "$address"
  ray stop --force
  cluster
  first=$((4 + 4 * gpus))
  node compiling "$first-$((first + 11))" --address "$address" --num-cpus 12 --num-gpus 0
  bundle/kbx doctor --cluster "$address"
  judge compiling --cluster "$address"
  bundle/kbx bench noise --tasks 'Math/*' --twins 0 --cluster "$address" --out "$kept/noise" 2>"$out/noise.log" || true
  cp "$kept/noise/noise.json" "$out" || true
  ray stop --force
  python3 - "$out" <<'EOF'
import collections, json, statistics, sys
alone, compiling = ({v["source"]: v for v in map(json.loads, open(f"{sys.argv[1]}/{name}.jsonl"))} for name in ("alone", "compiling"))
for name, run in ("without", alone), ("with", compiling):
    spent = sorted(v["seconds"].get("compile", 0) for v in run.values())
    cards = collections.Counter(v["device"].get("uuid") for v in run.values())
    print(f"{name} a node that compiles: {len(run)} verdicts, on each card {sorted(cards.values())};",
          f"compiled on a node with a GPU for {sum(spent):.0f} s in all, {statistics.median(spent):.2f} s in the median")
other = [source for source in alone if source not in compiling or alone[source]["status"] != compiling[source]["status"]]
print(f"{len(other)} with another status", *other)
EOF
}

run() {
  begin "$@"
  ray start --head --port "${address#*:}" --include-dashboard=false --disable-usage-stats
  bundle/kbx doctor --cluster "$address"
  judge cluster --cluster "$address"
  ray stop --force
  judge local
  python3 - "$out" <<'EOF'
import json, sys
local, cluster = ({v["source"]: v for v in map(json.loads, open(f"{sys.argv[1]}/{name}.jsonl"))} for name in ("local", "cluster"))
other = [source for source in local if source not in cluster or local[source]["status"] != cluster[source]["status"]]
print(f"{len(local)} local, {len(cluster)} on the cluster, {len(other)} with another status")
for source in other:
    print(" ", source, local[source]["status"], cluster.get(source, {}).get("status"), cluster.get(source, {}).get("message"))
EOF
}

case ${1:-} in
  pack) shift; pack "$@" ;;
  keep) mkdir -p "$kept" && cp "$2"/* "$kept" && ls -la "$kept" ;;
  run) shift; run "$@" ;;
  nodes) shift; nodes "$@" ;;
  *) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 1 ;;
esac
