#!/usr/bin/env bash
# The manual pages that docs/man.sh makes: one per command, complete, and without a word of complaint from groff.
source "$(dirname "$0")/common.bash"
skip_all_without lowdown
skip_all_without groff

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
docs/man.sh "$scratch" 2>&1 | verdict "manual pages are made of docs/rooflinectl.md and docs/commands"

for page in rooflinectl $(sed -nE 's/^\tCOMMAND\(([a-z]+),.*/rooflinectl-\1/p' analyzer/cmd/commands.h); do
	grep -qE "^$page - .*[^.]\$" "$scratch/$page.1" 2>/dev/null || echo "$page.1: no line NAME - summary"
	for part in NAME SYNOPSIS DESCRIPTION; do
		grep -A1 '^\.SH' "$scratch/$page.1" 2>/dev/null | grep -qxE "(\.SH )?$part" || echo "$page.1: no section $part"
	done
done | verdict "every command has a manual page with name, synopsis and description"

# A table's cell that is narrower than a word is no fault of the page.
for page in "$scratch"/*.1; do
	groff -t -man -ww -Tutf8 -rLL=100n "$page" 2>&1 >/dev/null | grep -v 'adjust line\|break line' | sed "s|$scratch/||"
	grep -HnE '\]\(|<!--|\\\\\||\]\[' "$page" | sed "s|$scratch/||"
done | verdict "no manual page has a warning, a link or a comment of its Markdown left"
finish
