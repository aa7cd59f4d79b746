# Sourced by the checks that run programs under compute-sanitizer.

# find_sanitizer: its path, or nothing; SANITIZER names it
find_sanitizer() {
	local ncu path
	ncu=$(readlink -f "$(command -v ncu)")
	for path in "${SANITIZER-}" "$(command -v compute-sanitizer)" "${CUDA_HOME-}"/bin/compute-sanitizer \
		/usr/local/cuda/bin/compute-sanitizer /usr/local/cuda/compute-sanitizer/compute-sanitizer \
		"${ncu%/*}"/compute-sanitizer /opt/nvidia/*/*/compute-sanitizer; do
		[ ! -f "$path" ] || [ ! -x "$path" ] || { echo "$path"; return; }
	done
}
