# common.bash - where the command-line tests find the program.
root="$(cd "$BATS_TEST_DIRNAME/../.." && pwd)"
BUILD="${BUILD:-$root/build}"
ROOFLINECTL="$BUILD/bin/rooflinectl"
