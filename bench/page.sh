#!/bin/sh
# What a report of ten thousand candidates costs a browser: its size, the time to open it, the frames while it scrolls.
# Needs chromium, and no GPU.
set -eu
cd "$(dirname "$0")/.."
exec mvn -o -q -Psoak test -Dtest=ManyCandidatesPageTest -Dkbx.page.timed=true -Dsurefire.failIfNoSpecifiedTests=false
