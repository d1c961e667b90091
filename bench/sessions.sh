#!/bin/sh
# What a turn of a session takes beside judging: 64 sessions at a time send turn after turn over HTTP to workers that take half
# a second and no processor. Then the same while the server is killed three times; each part ends with a look into the store: no
# turn is lost, none is taken twice (what was being judged at a kill is judged again). Fails, too, if the first part's median is
# above 0.05 s.
#
# bench/sessions.sh [SECONDS]
#
# Needs a JDK 25 and Maven: the workers are a class of the tests, so that no user can get a verdict from them.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$home"
uptime
output=$(mktemp)
trap 'rm -f "$output"' EXIT
status=0
mvn -q test -Psoak -Dtest=SessionLoadTest -Dsurefire.failIfNoSpecifiedTests=false -Dkbx.load.seconds="${1:-20}" \
  -Dkbx.load.median=0.05 > "$output" 2>&1 || status=$?
grep -E 'turns/s|ERROR' "$output" || exit 1
exit "$status"
