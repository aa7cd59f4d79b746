#!/usr/bin/env bash
# The pages of the workloads cite their sources, and show medians that the result files still give.
source "$(dirname "$0")/common.bash"

# claims PAGE: lines of its section on the literature
claims() {
	awk '/^## / { is_claim = /^## What the literature says$/; next } is_claim && NF' "$1"
}

for page in docs/workloads/*.md; do
	claims "$page" | grep -q . || echo "$page: no claim under 'What the literature says'"
	claims "$page" | grep -vE '^- .*\((.*\]\(https?://|.*, section [0-9.]+|.*, chapter [0-9]+ of )' | sed "s|^|$page: no source: |"
done | verdict "every claim of the literature cites a URL, a section or a chapter"

grep -niE '\bthe literature\b' docs/workloads/*.md | grep -v ':## What the literature says$' |
	verdict "no page tells of the literature without a source"

if command -v python3 >/dev/null; then
	diff -u --label docs/results/medians.txt --label 'docs/results/medians.py prints' \
		<(sed '1,/^$/d; /^exit code /d' docs/results/medians.txt) <(docs/results/medians.py) |
		verdict "docs/results/medians.txt is what docs/results/medians.py prints"
else
	skip "docs/results/medians.txt is what docs/results/medians.py prints" "python3 is not installed (make setup)"
fi
finish
