#!/bin/sh
# How many candidates a device judges in what time. Runs wherever kbx runs, and needs a GPU.
#
# bench/throughput.sh OUT [PART...]          mix, alone, honest; without PART: these three
#                     ... several            honest once more, on the first GPU and then on all of them
# KBX=/path/to/kbx bench/throughput.sh OUT   with the kbx of a bundle elsewhere
# KBX_OPTIONS="--device cuda:0" ...          more options for mix, alone and honest
#
# mix: 16 candidates, 3 that fail to compile or be called, 3 wrong ones, 10 right ones, several of them heavy; from the start of the
#      command to its end, and how tight the intervals of their sizes are
# alone: element-wise kernels one after the other, each from one verdict to the next
# honest: every bundled honest kernel, as many at the same time as kbx thinks right
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
bundled=$(cd "$(dirname "$kbx")" && pwd -P)
out=${1:?usage: bench/throughput.sh OUT [mix|alone|honest|several]...}
shift
[ $# -gt 0 ] || set -- mix alone honest
mkdir -p "$out"

suite=$bundled/tasks/kernelbenchx
failing=$bundled/corpus/failing
mix="$failing/compile_error/global_constant/relu.py $failing/compile_error/python_list/gelu.py $failing/runtime_error/softmax.py
  $failing/wrong_values/half_precision/gelu.py $failing/wrong_values/tail_left_out/relu.py $failing/wrong_shape/sum.py
  $suite/Activation/kernels/tanh.py $suite/Math/kernels/add.py $suite/Reduce/kernels/mean.py
  $suite/MatrixMultiply/kernels/matmul.py $suite/Normalization/kernels/normalized_cosine_similarity.py
  $suite/Fusion/kernels/fused_relu_conv2d.py $suite/Convolution/kernels/conv_transpose2d.py
  $suite/LinearAlgebra/kernels/eig.py $suite/LinearAlgebra/kernels/invert_matrix_lu.py $suite/LinearAlgebra/kernels/cholesky_solve.py"
alone="$suite/Activation/kernels/tanh.py $suite/Activation/kernels/leaky_relu.py $suite/Activation/kernels/selu.py
  $suite/Math/kernels/add.py $suite/Math/kernels/mul.py $suite/Math/kernels/div.py $suite/Math/kernels/log1p.py
  $suite/Math/kernels/rsqrt.py $suite/Math/kernels/sqrt_tanh.py $suite/Fusion/kernels/fused_relu_sqrt.py"

# Throughput of the given sources.
measure() {
  # shellcheck disable=SC2086
  "$kbx" bench throughput "$@" 2>>"$out/progress.log" | tee -a "$out/throughput.txt"
  echo | tee -a "$out/throughput.txt"
}

# The mix, with its verdicts.
mix() {
  # shellcheck disable=SC2086
  started=$(date +%s.%N)
  # shellcheck disable=SC2086
  "$kbx" eval $mix --out "$out/mix" --json ${KBX_OPTIONS:-} >"$out/mix.json" 2>>"$out/progress.log"
  "${KBX_PYTHON:-python3}" - "$out/mix.json" "$started" "$(date +%s.%N)" <<'END' | tee -a "$out/throughput.txt"
import json
import sys

document, seconds = json.load(open(sys.argv[1], encoding="utf-8")), float(sys.argv[3]) - float(sys.argv[2])
verdicts = document["verdicts"]
sizes = [s for v in verdicts for s in v.get("sizes", [])]
long = [s for s in sizes if s["reference_ms"] >= 0.05 and s["candidate_ms"] >= 0.05]
width = [(s["high"] - s["low"]) / 2 / s["speedup"] for s in long]
print(f"mix: {len(verdicts)} candidates in {seconds:.1f} s on {document['run']['device']['name']}, the start of kbx included")
print(f"  {len(sizes)} sizes, {len(long)} of them of 50 us and more: {sum(w <= 0.01 for w in width)} intervals within 1 %")
for v in verdicts:
    spent = " ".join(f"{k} {s:.2f}" for k, s in v["seconds"].items())
    speedup = f"{v['speedup']['value']:.3f}x over {len(v['sizes'])} sizes" if v.get("speedup") else ""
    print(f"  {v['category'] + '/' + v['task']:<46}{v['status']:<16}{speedup:<24}{spent} s {' '.join(v['flags'])}")
for s, w in zip(long, width, strict=True):
    if w > 0.01:
        print(f"  wide: {s['shape']}: {s['speedup']:.3f} +-{100 * w:.1f} %, {s['candidate_ms']:.3f} ms, {s['rounds']} rounds")
END
  echo | tee -a "$out/throughput.txt"
}

"$kbx" --version | tee -a "$out/throughput.txt"
"$kbx" doctor >"$out/doctor.txt" 2>&1 || true # what Python imports is then no matter of the disk
for name in "$@"; do
  echo "== $name" | tee -a "$out/throughput.txt"
  # shellcheck disable=SC2086
  case $name in
    mix) mix ;;
    alone) measure $alone --jobs 1 ${KBX_OPTIONS:-} ;;
    honest) measure ${KBX_OPTIONS:-} ;;
    several)
      measure --device cuda:0
      measure --device cuda
      ;;
    *)
      echo "no part is called $name" >&2
      exit 1
      ;;
  esac
done
