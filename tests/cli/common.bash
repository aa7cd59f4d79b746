# common.bash - where the command-line tests find the program and recordings.
root="$(cd "$BATS_TEST_DIRNAME/../.." && pwd)"
BUILD="${BUILD:-$root/build}"
ROOFLINECTL="$BUILD/bin/rooflinectl"

# Python is started a thousand times, for its own modules alone: without looking for others, and by make with PYTHON,
# because python3 may be the script of a version manager, which takes longer than what is asked here.
python3() {
	command "${PYTHON:-python3}" -S "$@"
}
export -f python3

# recording_names: of the packed recordings in tests/recordings; any command takes tests/recordings/NAME
recording_names() {
	(cd "$root/tests/recordings" && printf '%s\n' *.roofline | sed 's/[.]roofline$//')
}

# unpacked NAME FOLDER: makes the folder, with that recording's CSV files to be read or edited
unpacked() {
	"$ROOFLINECTL" unpack "$root/tests/recordings/$1" -o "$2"
}
