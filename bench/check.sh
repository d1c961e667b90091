#!/bin/sh
# How many real Triton files `kbx check` reads and checks a second, once warm, on all processors; and what it finds in them.
#
# bench/check.sh [FOLDER]        without FOLDER: the Triton files of some libraries, downloaded once into the user's cache
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
packages="liger-kernel flag-gems fla-core torchao unsloth unsloth_zoo"
repeats=5

# Downloads wheels, installs nothing, and keeps the files that define a kernel.
fetch() {
  wheels=$(mktemp -d)
  for package in $packages; do
    "${KBX_PYTHON:-python3}" -m pip download -q --no-deps --only-binary :all: -d "$wheels" "$package"
  done
  for wheel in "$wheels"/*.whl; do
    name=$(basename "$wheel" | cut -d- -f1)
    "${KBX_PYTHON:-python3}" -m zipfile -e "$wheel" "$wheels/$name"
    (cd "$wheels/$name" && grep -rl --include='*.py' '^@triton\.jit' .) | while IFS= read -r file; do
      mkdir -p "$1/$name/$(dirname "$file")"
      cp "$wheels/$name/$file" "$1/$name/$file"
    done
  done
  rm -rf "$wheels"
}

# Prints "files seconds" of checking the given folders.
measure() {
  "$home/kbx" check --severity reject --format json "$@" 2>/dev/null |
    awk '/^    "file" :/ { files++ } /^  "seconds" :/ { gsub(/,/, ""); print files, $3 }'
}

folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/kbx/triton-files}
[ -d "$folder" ] || fetch "$folder"
folder=$(cd "$folder" && pwd -P)
# Under several names, because a file named twice is checked once.
names=$(mktemp -d)
trap 'rm -rf "$names"' EXIT
for i in $(seq $repeats); do ln -s "$folder" "$names/$i"; done

"$home/kbx" --version
once=$(measure "$names/1/")
all=$(measure "$names"/*/)
# What the repeats take longer than the first time is free of starting and warming up.
printf '%s %s\n' "$once" "$all" |
  awk '{ printf "%d files: %.1f s the first time, then %.0f files/s on '"$(nproc)"' processors\n", $1, $2, ($3 - $1) / ($4 - $2) }'
find -L "$folder" -name '*.py' -exec cat {} + | wc -lc | awk '{ printf "%d lines, %.1f MB\n", $1, $2 / 1e6 }'
echo "findings by severity and rule:"
"$home/kbx" check --severity note --format json "$folder" 2>/dev/null |
  awk -F'"' '/"rule" :/ { rule = $4 } /"severity" :/ { count[$4 " " rule]++ } END { for (each in count) print count[each], each }' |
  sort -rn
