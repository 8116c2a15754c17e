#!/usr/bin/env bash
# Sets everything up, builds, runs every test. Options go to ctest: ./test.sh -L ir
set -euo pipefail
cd "$(dirname "$0")"
echo "Hydro tests: set-up (first time about 8 minutes and 7 GB on disk, later seconds), then all tests (about 8 minutes on 2 cores)."
tools/bootstrap --test --build all
# Two tests run at once, so each gets one thread: more would only spin on each other.
export OMP_NUM_THREADS=1
cd build/release
exec ctest --output-on-failure -j 2 "$@"
