#!/bin/sh
# Makes reports for LaTeX from three runs, the demo of methods, its rounds and the bundled predictions, and compiles them:
# kbx report --format latex, pdflatex, and the pages as PNG where pdftoppm is installed. Needs no GPU.
# Debian: apt-get install texlive-latex-base texlive-pictures texlive-latex-extra texlive-fonts-recommended poppler-utils
#
# bench/latex.sh OUT [FOLDER...]         FOLDER: further results folders to make reports of
# KBX=/path/to/kbx bench/latex.sh OUT    with another kbx
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
kbx=${KBX:-$home/kbx}
out=${1:?usage: bench/latex.sh OUT [FOLDER...]}
shift
command -v pdflatex >/dev/null || {
  echo "bench/latex.sh: no pdflatex; the first lines of this script say what to install" >&2
  exit 1
}
mkdir -p "$out"
out=$(cd "$out" && pwd -P)

# Succeeds if TeX has nothing to say of the document: no error, no line too wide, nothing undefined.
compile() {
  # The second time for references.
  for time in 1 2; do
    (cd "$1" && pdflatex -interaction=nonstopmode -halt-on-error main.tex >"$1/pdflatex.$time") || {
      grep -A 5 '^!' "$1/pdflatex.$time" >&2
      exit 2
    }
  done
  if grep -E 'Overfull|undefined' "$1/main.log" >&2; then exit 2; fi
  if command -v pdftoppm >/dev/null; then pdftoppm -r 80 -png "$1/main.pdf" "$1/page"; fi
  grep 'Output written' "$1/main.log"
}

# Without the table and the progress.
quietly() {
  "$@" >/dev/null 2>"$out/progress.log" || {
    tail -n 20 "$out/progress.log" >&2
    exit 2
  }
}

quietly "$kbx" run "$home/examples/methods/demo.toml" --out "$out/runs/demo"
quietly "$kbx" eval "$home/corpus/predictions.jsonl" --out "$out/runs/predictions"
# Every round of the demo's methods, for the analysis of iterations.
rm -rf "$out/rounds"
quietly "$kbx" export predictions "$out/rounds" --rounds --out "$out/runs/demo"
quietly "$kbx" eval "$out/rounds/predictions.jsonl" --out "$out/runs/rounds"
for folder in "$out/runs/demo" "$out/runs/predictions" "$out/runs/rounds" "$@"; do
  report=$out/$(basename "$folder")
  "$kbx" report "$folder" --format latex --output "$report"
  compile "$report"
done
