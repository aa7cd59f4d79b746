# html.bash - what the tests of pages share, with a browser and without.

recordings="$root/tests/recordings"

# Names that would be scripts, were they anything but text.
hostile=('</script><script>document.title=1;</script>' '<img src=x onerror=document.title=2>'
	'<!--<script>document.title=3//' '"><svg onload=document.title=4>' '</style><b>')

# hostile_recording FOLDER: a small recording in which kernels, calls, NVTX ranges and the program are called so
hostile_recording() {
	local process
	unpacked nvtx_ranges "$1"
	process=$(echo "$1"/*.*)
	python3 - "$process" "${hostile[@]}" <<-'END'
		import csv, sys
		process, *hostile = sys.argv[1:]
		for name, column in (("names.csv", "text"), ("process.csv", "value")):
		    with open(f"{process}/{name}", newline="") as file:
		        rows = list(csv.DictReader(file))
		    for number, row in enumerate(rows):
		        if name == "names.csv" or row["key"] == "command":
		            row[column] = f"{hostile[number % len(hostile)]} {row[column]}"
		    with open(f"{process}/{name}", "w", newline="") as file:
		        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
		        writer.writeheader()
		        writer.writerows(rows)
	END
}
