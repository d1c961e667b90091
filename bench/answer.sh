#!/bin/sh
# How soon kbx serve answers one client: a new element-wise candidate on warm workers, the same candidate again, and the
# same source into another run, which comes from memory. Prints the median and the largest of N of each, in milliseconds.
#
# bench/answer.sh [URL [N]]     a running kbx serve that needs no token; default http://127.0.0.1:8470, 20
set -eu
url=${1:-http://127.0.0.1:8470}
count=${2:-20}
stamp=$(date +%s)

body() { # NUMBER RUN
  printf '{"task": "Activation/relu", "run": "%s", "code": "import torch\\nimport triton\\nimport triton.language as tl\\n\\n# %s-%s\\n@triton.jit\\ndef kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):\\n    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\\n    x = tl.load(x_ptr + at, mask=at < n)\\n    tl.store(y_ptr + at, tl.where(x > 0, x, 0.0), mask=at < n)\\n\\ndef relu(x):\\n    x = x.contiguous()\\n    y = torch.empty_like(x)\\n    n = x.numel()\\n    kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)\\n    return y\\n"}' \
    "$2" "$stamp" "$1"
}

ask() { # NUMBER RUN: seconds
  body "$1" "$2" | curl -sS -o "$answer" -w '%{time_total}\n' -H 'Content-Type: application/json' --data-binary @- "$url/v1/judgements?wait=60"
  grep -q '"state":"done"' "$answer" || { cat "$answer" >&2; exit 1; }
}

each() { # RUN LABEL
  for number in $(seq "$count"); do ask "$number" "$1"; done |
    sort -n | awk -v label="$2" '{ t[NR] = $1 } END { printf "%-28s median %7.1f ms, largest %7.1f ms of %d\n", label, 1000 * t[int((NR + 1) / 2)], 1000 * t[NR], NR }'
}

answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
uptime
ask 0 "answer-$stamp" > /dev/null # The workers are warm then.
each "answer-$stamp" 'new'
each "answer-$stamp" 'the same again'
each "again-$stamp" 'from memory, another run'
