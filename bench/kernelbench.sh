#!/bin/sh
# KernelBench at its published sizes: do all controls of all tasks do what they must, how long does that take, and are modules judged?
# Runs wherever kbx runs, and needs a GPU: without one kbx judges smaller sizes.
#
# bench/kernelbench.sh OUT [PART...]          verify, judge; without PART: these two
#                      ... all                every task's own module in place of judge's few
#                      ... twice              the bundled honest modules, and once more
# KBX=/path/to/kbx bench/kernelbench.sh OUT   with the kbx of a bundle elsewhere
# KBX_OPTIONS="--device cuda:0" ...           more options for every part
# KBX_MODULES="level2/1_ level3/4_" ...       other tasks for judge, by the beginning of their paths
#
# verify: ./kbx tasks verify, all 250 tasks; seconds, what is not as it must be, the slowest tasks
# twice:  seconds of both, from the start of kbx to its end; the first is one only where .kbx holds nothing compiled yet
# judge:  each task's own Model as a candidate, which must come out correct and about as fast as itself: of tasks with the largest inputs,
#         results and weights, long loops and deep networks; and the bundled candidates that are modules
#
# OUT/kernelbench.txt is the whole output. Called again with the same folder it goes on where it stopped.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
bundled=$(cd "$(dirname "$kbx")" && pwd -P)
python=${KBX_PYTHON:-python3}
out=${1:?usage: bench/kernelbench.sh OUT [verify|judge|all|twice]...}
shift
[ $# -gt 0 ] || set -- verify judge
mkdir -p "$out"
few="level1/1_ level1/4_ level1/19_ level1/34_ level1/38_ level1/45_ level1/63_ level2/1_ level2/55_ level2/100_ level3/2_ level3/10_
  level3/31_ level3/39_"

verify() {
  started=$(date +%s)
  status=0
  # shellcheck disable=SC2086
  "$kbx" tasks verify --suite kernelbench --out "$out/verify" --resume --json ${KBX_OPTIONS:-} \
    >"$out/verify.json" 2>"$out/verify.log" || status=$?
  if [ ! -s "$out/verify.json" ]; then
    echo "verify ended with exit code $status:"
    tail -n 5 "$out/verify.log"
    return
  fi
  "$python" - "$out/verify.json" "$(($(date +%s) - started))" <<'END'
import json
import sys

tasks = json.load(open(sys.argv[1], encoding="utf-8"))
wrong = [t for t in tasks if t.get("problem") or not all(c["ok"] for c in t["controls"])]
controls = sum(len(t["controls"]) for t in tasks)
print(f"verify: {len(tasks)} tasks, {controls} controls in {sys.argv[2]} s; {len(wrong)} tasks are not as they must be")
for t in wrong:
    if t.get("problem"):
        print(f"  {t['category']}/{t['name']}: {t['problem']}")
    for c in t["controls"]:
        if not c["ok"]:
            print(f"  {t['category']}/{t['name']}: {c['name']}: {c['status']}: {c['detail']}")
print("the slowest, in seconds:")
for t in sorted(tasks, key=lambda t: -(t.get("seconds") or 0))[:15]:
    print(f"  {t.get('seconds') or 0:7.1f}  {t['category']}/{t['name']}")
END
}

# Writes the Model of each task whose path begins with one of the words as a candidate in a run folder.
modules() {
  "$python" - "$bundled/tasks/kernelbench" "$@" <<'END'
import ast
import pathlib
import sys

suite, folder, *beginnings = map(pathlib.Path, sys.argv[1:])
folder.mkdir(parents=True, exist_ok=True)
OWN = ("inputs", "init_inputs", "usable", "TAGS", "DTYPE", "SCALED", "CONTRACT", "BESIDE", "DISTRIBUTIONS", "SKIP_CONTROLS")


def of_kbx(statement):
    return isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("kbx")


def stays(statement, imported):
    names = [getattr(statement, "name", "")] + [getattr(t, "id", "") for t in getattr(statement, "targets", [])]
    if of_kbx(statement) or any(isinstance(n, ast.Name) and n.id in imported for n in ast.walk(statement)):
        return False
    return not any(n in OWN or n.startswith(("Positive", "Negative")) for n in names)


for file in sorted(suite.glob("*/*.py")):
    path = f"{file.parent.name}/{file.stem}"
    if not any(path.startswith(str(b)) for b in beginnings):
        continue
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = [alias.asname or alias.name for s in tree.body if of_kbx(s) for alias in s.names]
    tree.body = [s for s in tree.body[1:] if stays(s, imported)]
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == "Model":
            node.name = "ModelNew"
        elif isinstance(node, ast.Name) and node.id == "Model":
            node.id = "ModelNew"
    level, problem = file.parent.name.removeprefix("level"), file.stem.split("_")[0]
    (folder / f"level_{level}_problem_{problem}_sample_0_kernel.py").write_text(ast.unparse(tree) + "\n", encoding="utf-8")
END
}

# Judges sources without the static stage, for which PyTorch alone is no kernel.
judge() {
  name=$1
  shift
  started=$(date +%s)
  # shellcheck disable=SC2086
  "$kbx" eval "$@" --suite kernelbench --stages compile,call,correct,perf --out "$out/$name" --resume --json ${KBX_OPTIONS:-} \
    >"$out/$name.json" 2>"$out/$name.log" || true
  if [ ! -s "$out/$name.json" ]; then
    tail -n 5 "$out/$name.log"
    return
  fi
  "$python" - "$out/$name.json" "$(($(date +%s) - started))" "$name" <<'END'
import json
import sys

verdicts = json.load(open(sys.argv[1], encoding="utf-8"))["verdicts"]
print(f"{sys.argv[3]}: {len(verdicts)} modules in {sys.argv[2]} s, {sum(v['status'] == 'correct' for v in verdicts)} correct")
for v in verdicts:
    spent = " ".join(f"{stage} {seconds:.1f}" for stage, seconds in v["seconds"].items())
    speedup = f"{v['speedup']['value']:.3f}x" if v.get("speedup") else ""
    ms = " ".join(f"{s['reference_ms']:.2f} ms" for s in v.get("sizes", []))
    print(f"  {v['category']}/{v['task']}: {v['status']} {speedup} {ms} [{spent} s]", *v["flags"])
    if v["status"] != "correct":
        print(f"    {v.get('message')}")
END
}

# Judges the own modules of tasks, in a run folder of that name.
own() {
  name=$1
  shift
  modules "$out/$name-modules" "$@"
  judge "$name" "$out/$name-modules"
}

# Judges the bundled honest modules twice: what the first run left behind serves the second.
twice() {
  for time in first second; do
    started=$(date +%s.%N)
    # shellcheck disable=SC2086
    "$kbx" eval "$bundled/corpus/kernelbench/honest" "$bundled/corpus/kernelbench/cuda" --suite kernelbench --out "$out/twice" \
      --json ${KBX_OPTIONS:-} >"$out/twice-$time.json" 2>"$out/twice-$time.log" || true
    "$python" - "$out/twice-$time.json" "$started" "$(date +%s.%N)" "$time" <<'END'
import json
import sys

verdicts = json.load(open(sys.argv[1], encoding="utf-8"))["verdicts"]
right = sum(v["status"] == "correct" for v in verdicts)
print(f"{sys.argv[4]}: {len(verdicts)} modules in {float(sys.argv[3]) - float(sys.argv[2]):.1f} s, {right} correct")
END
    tail -n 1 "$out/twice-$time.log"
  done
}

{
  "$kbx" --version
  for part in "$@"; do
    case $part in
      verify) verify ;;
      judge)
        # shellcheck disable=SC2086
        own judge ${KBX_MODULES:-$few}
        found=$(grep -rl "class ModelNew" "$bundled/corpus" --include='*.py' || true)
        # shellcheck disable=SC2086
        [ -z "$found" ] || judge bundled $found
        ;;
      all) own all level ;;
      twice) twice ;;
      *)
        echo "no part is called $part" >&2
        exit 1
        ;;
    esac
    echo
  done
} | tee -a "$out/kernelbench.txt"
