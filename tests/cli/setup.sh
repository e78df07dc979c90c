#!/bin/sh
# Brings what tests of the dashboard's page need: Chromium, and axe-core, which finds what keeps people with disabilities out, as package.json pins
# it, under build/deps/axe. A second call does nothing. Without them these tests are skipped.
set -eu
cd "$(dirname "$0")/../.."
cmake/setup.sh chromium
tests/interop/setup.sh tests/cli/package.json build/deps/axe
