#!/bin/sh
# kbx serve under load while faults happen at random times: kills, SIGTERM, full disks, frozen processes, changed devices,
# PostgreSQL killed, connections cut, take-overs by another server. Half of the time on SQLite, half on PostgreSQL. It ends
# with a look into the store: every accepted candidate has one verdict, and the store has no flaw.
#
# bench/storm.sh [MINUTES [SEED]]
#
# Needs root (it mounts a small file system), a JDK 25 and Maven. A seed gives the same faults again.
set -eu
home=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$home"
uptime
mvn -q test -Psoak -Dtest=ServeStormTest -Dsurefire.failIfNoSpecifiedTests=false \
  -Dkbx.storm.minutes="${1:-120}" ${2:+-Dkbx.storm.seed="$2"} |
  grep -E 'storm of|ERROR' || exit 1
