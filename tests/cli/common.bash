# Loaded by every command-line test: `load common`.
#
# root is the source tree, BUILD the build under test (tests/run sets it; build/ by default).
root="$(cd "$BATS_TEST_DIRNAME/../.." && pwd)"
BUILD="${BUILD:-$root/build}"
ROOFLINECTL="$BUILD/bin/rooflinectl"
