#!/usr/bin/env bats
# What shells complete, help of a command, and what was probably meant.

load common

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# completed WORD...: what bash offers for the last one
completed() {
	bash -c '
		source <("$0" completion bash)
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		_rooflinectl rooflinectl "${@: -1}" "${@: -2:1}"
		printf "%s\n" "${COMPREPLY[@]}"' "$ROOFLINECTL" rooflinectl "$@"
}

@test "bash completes commands, options and their values" {
	[ "$(completed rep)" = report ]
	[ "$(completed help com | tr '\n' ' ')" = "compare completion " ]
	[ "$(completed report --for)" = --format ]
	[ "$(completed report --format j)" = json ]
	[ "$(completed report --format = j)" = json ]
	[ "$(completed report -s kernel_)" = kernel_memory ]
	[ "$(completed report -s gaps,kernel_)" = gaps,kernel_memory ]
	[ "$(completed record --graphs b)" = both ]
	[ "$(completed plot timel)" = timeline ]
	[ -z "$(completed record -- ./program --for)" ]
	[ -z "$(completed report --output x)" ] # bash's own: files
}

# offers_files WORD...: whether bash goes on with files for the last one
offers_files() {
	! bash -c '
		source <("$0" completion bash)
		compopt() { touch no_files; }
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		rm -f no_files
		_rooflinectl rooflinectl "${@: -1}" "${@: -2:1}"
		[ -e no_files ]' "$ROOFLINECTL" rooflinectl "$@"
}

@test "bash completes --no-pager before and behind a command, and goes on behind it" {
	[ "$(completed --no)" = --no-pager ]
	[ "$(completed --no-pager repo)" = report ]
	[ "$(completed --no-pager report --for)" = --format ]
	[ "$(completed --no-pager report --format j)" = json ]
	[ "$(completed plot --no-p)" = --no-pager ]
	"$ROOFLINECTL" completion fish | grep -q -- "^complete -c rooflinectl -l no-pager "
}

@test "nothing is completed where a value is neither a file nor one of a list" {
	for words in "report --sort" "report --range" "advise --range" "whatif --range" "plot --from" "report --kernels"; do
		# shellcheck disable=SC2086
		[ -z "$(completed $words a)" ]
		# shellcheck disable=SC2086
		! offers_files $words a || { echo "$words" && return 1; }
		"$ROOFLINECTL" completion fish | grep -q -- "-n '__fish_seen_subcommand_from ${words% *}' -l ${words#* --} .*-r -f "
	done
	for words in "report" "report --html" "report --output" "record --ring"; do
		# shellcheck disable=SC2086
		offers_files $words a || { echo "$words" && return 1; }
	done
}

@test "zsh completes what bash does" {
	needs_command zsh
	touch afile
	for line in "report --for=--format" "report --format j=json" "--no-pager rep=report" "plot timel=timeline" "report --html af=afile"; do
		zsh -fc '
			autoload -U +X bashcompinit && bashcompinit
			compdef() { :; }
			source <("$0" completion zsh)
			emulate sh # as it calls what is written for bash
			COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
			_rooflinectl rooflinectl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
			printf "%s\n" "${COMPREPLY[@]}"' "$ROOFLINECTL" rooflinectl ${line%=*} >offered # and zsh chooses those that begin so
		grep -qx -- "${line#*=}" offered || { echo "$line" && return 1; }
		[[ "$line" != *--format* ]] || run ! grep -q afile offered
	done
}

@test "every option that help shows is completed, of every command" {
	local command option
	for command in $("$ROOFLINECTL" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
		for option in $("$ROOFLINECTL" "$command" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+'); do
			completed "$command" "$option" | grep -qx -- "$option" || {
				echo "$command $option"
				return 1
			}
		done
	done
}

@test "the scripts of all shells are read without an error" {
	"$ROOFLINECTL" completion bash | bash -n
	for shell in zsh fish; do
		"$ROOFLINECTL" completion $shell >script
		[ -s script ]
		command -v $shell >/dev/null || continue
		$shell -n script
	done
	run -2 "$ROOFLINECTL" completion csh
	[[ "$output" == *"no shell 'csh'; there are: bash zsh fish"* ]]
}

@test "help of a command, with its name behind or -h" {
	local long
	long=$("$ROOFLINECTL" report --help)
	[[ "$long" == "Usage: rooflinectl report [OPTION...] [DIR]"*"-h, --help"* ]]
	[ "$("$ROOFLINECTL" help report)" = "$long" ]
	[ "$("$ROOFLINECTL" report -h)" = "$long" ]
	for command in $("$ROOFLINECTL" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
		run -0 "$ROOFLINECTL" "$command" -h
		[[ "$output" == "Usage: rooflinectl $command"* ]]
	done
	run -0 "$ROOFLINECTL" report --usage
	[[ "$output" == *"[--format=text|json|csv]"* ]]
}

# meant TEXT ARGUMENT...: exit code 2 and one line that has the text
meant() {
	local text=$1
	shift
	run -2 --separate-stderr "$ROOFLINECTL" "$@"
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ "$stderr" == *"$text"* ]] || {
		echo "$stderr"
		return 1
	}
}

@test "commands and options that are misspelt are told from what was probably meant" {
	meant "no command 'reprot', did you mean 'report'?" reprot
	meant "no command 'xyzzy'; see rooflinectl --help" xyzzy
	meant "no command 'verfiy', did you mean 'verify'?" help verfiy
	meant "unrecognized option '--formt', did you mean '--format'?; see rooflinectl report --help" report --formt json
	meant "unrecognized option '--formt', did you mean '--format'?" whatif --formt=json
	meant "unrecognized option '--nosuch'; see" report --nosuch
	meant "option '--format' requires an argument" report --format
	meant "option '--wide' doesn't allow an argument" report --wide=3
	meant "option '--s' is ambiguous" report --s kernels
	meant "invalid option -- 'Z'" report -wZ
	meant "option requires an argument -- 'o'" report -wo
}
