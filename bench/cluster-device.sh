#!/bin/sh
# The bundled honest kernels on a one-node cluster against the same without one, on a GPU machine without Java and without a network.
#
# bench/cluster-device.sh pack OUT WHEELS BUNDLE   here: makes OUT/1, OUT/2, OUT/3, each under 50 MB, from a folder with Ray's wheel and
#                                                  those that it needs, and from the archive of ./kbx package
# bench/cluster-device.sh keep FOLDER              there, once for each of the three: copies it to a folder that stays
# bench/cluster-device.sh run OUT [SOURCE]         there: judges SOURCE, by default corpus/honest of the bundle, on a cluster and locally
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

# Judges; prints candidates a minute from the first verdict to the last.
judge() {
  name=$1
  shift
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

run() {
  mkdir -p "$1"
  out=$(cd "$1" && pwd -P)
  prepare
  source=${2:-$kept/bundle/corpus/honest}
  rm -rf "$kept/cluster" "$kept/local"
  ray start --head --port "${address#*:}" --include-dashboard=false --disable-usage-stats
  trap 'ray stop --force' EXIT
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
  *) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 1 ;;
esac
