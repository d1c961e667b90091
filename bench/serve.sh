#!/bin/sh
# What kbx serve itself costs under load: 200 clients submit 20,000 candidates over HTTP, and readers open pages beside
# them, with workers that find everything right at once. Then the same while the server is killed four times, on
# PostgreSQL, and while the server is killed four times and PostgreSQL twice. Each part ends with a look into the store:
# nothing is lost, nothing has two verdicts.
#
# bench/serve.sh [CANDIDATES [CLIENTS]]
#
# Needs a JDK 25 and Maven: the workers are a class of the tests, so that no user can get a verdict from them.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
candidates=${1:-20000}
clients=${2:-200}
cd "$home"
uptime
mvn -q test -Psoak -Dtest=ServeLoadTest -Dsurefire.failIfNoSpecifiedTests=false \
  -Dkbx.load.candidates="$candidates" -Dkbx.load.clients="$clients" |
  grep -E 'judgements/s|p99 of|ERROR' || exit 1
