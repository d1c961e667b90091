#!/bin/sh
# The bundled honest kernels on a one-node cluster against the same without one, on a GPU machine without Java and without a network.
#
# bench/cluster-device.sh pack OUT WHEELS [BUNDLE]   here: makes OUT/1 and OUT/2, each under 64 MiB, from a folder with Ray's wheel and
#                                                    those that it needs, and from the bundle, which is made if none is given
# bench/cluster-device.sh keep FOLDER                there, once for OUT/1 and once for OUT/2: copies it to a folder that stays
# bench/cluster-device.sh run OUT [SOURCE]           there: judges SOURCE, by default corpus/honest of the bundle, locally and on a cluster
#
# Get the wheels with: python3 -m pip download -d WHEELS 'ray[client]==2.58.0', with the Python of the GPU machine.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kept=${KBX_DEVICE_FOLDER:-/tmp/kbx-cluster-device}

pack() {
  mkdir -p "$1/1" "$1/2"
  wheel=$(ls "$2"/ray-*.whl)
  split -b 60M -a 1 "$wheel" "$1/$(basename "$wheel").part-"
  mv "$1"/*.part-a "$1/1"
  mv "$1"/*.part-* "$1/2"
  for other in "$2"/*.whl; do [ "$other" = "$wheel" ] || cp "$other" "$1/2"; done
  bundle=${3:-}
  [ -n "$bundle" ] || bundle=$("$home/kbx" package --out "$1")
  cp "$bundle" "$1/2"
  du -sm "$1/1" "$1/2"
}

# A virtual environment that sees the machine's torch and triton and has Ray beside them; prints nothing.
prepare() {
  cd "$kept"
  for part in *.whl.part-a; do
    wheel=${part%.part-a}
    [ -f "$wheel" ] || cat "$wheel".part-* >"$wheel"
  done
  [ -d venv ] || python3 -m venv --system-site-packages venv
  venv/bin/pip install -q --no-index --find-links . "$(ls ray-*.whl)[client]"
  [ -d bundle ] || { mkdir bundle && tar -xf kbx-*.tar.xz -C bundle --strip-components 1; }
}

# Judges; prints candidates a minute from the first verdict to the last. What nodes and kbx keep begins empty each time.
judge() {
  name=$1
  shift
  rm -rf "$out/$name"
  bundle/kbx eval "$source" --out "$out/$name" --seed device "$@" 2>&1 >"$out/$name.txt" | venv/bin/python -u -c '
import sys, time
times, log = [], open(sys.argv[2], "w")
for line in sys.stdin:
    log.write(line)
    if line.startswith("["): times.append(time.monotonic())
rate = 60 * (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else float("nan")
print(f"{sys.argv[1]}: {len(times)} judged, {rate:.1f} a minute")
' "$name" "$out/$name.log" | tee -a "$out/rates.txt"
}

run() {
  mkdir -p "$1"
  out=$(cd "$1" && pwd -P)
  prepare
  source=${2:-$kept/bundle/corpus/honest}
  PATH="$kept/venv/bin:$PATH"
  export PATH
  : >"$out/rates.txt"
  judge local
  ray start --head --port 6399 --include-dashboard=false --disable-usage-stats >"$out/ray.log" 2>&1
  trap 'ray stop --force >>"$out/ray.log" 2>&1' EXIT
  bundle/kbx doctor --cluster 127.0.0.1:6399 | tee "$out/doctor.txt"
  judge cluster --cluster 127.0.0.1:6399
  python3 - "$out" <<'EOF'
import json, sys
def read(name):
    lines = [json.loads(line) for line in open(f"{sys.argv[1]}/{name}/results.jsonl")]
    return {v["source"] + " " + v["category"] + "/" + v["task"]: v for v in lines}
local, cluster = read("local"), read("cluster")
other = [key for key in local if key not in cluster or local[key]["status"] != cluster[key]["status"]]
print(f"{len(local)} local, {len(cluster)} on the cluster, {len(other)} with another status")
for key in other:
    print(" ", key, local[key]["status"], cluster.get(key, {}).get("status"), cluster.get(key, {}).get("message"))
EOF
}

case ${1:-} in
  pack) shift; pack "$@" ;;
  keep) mkdir -p "$kept" && cp "$2"/* "$kept" && ls -la "$kept" ;;
  run) shift; run "$@" ;;
  *) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 1 ;;
esac
