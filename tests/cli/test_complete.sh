#!/bin/sh
# test_complete.sh - each shell loads its completions and is asked for those
# of real lines: bash and zsh at a terminal, by their own keys, fish by its
# own question. What a line becomes is what plim would be called with.
. "$(dirname -- "$0")/lib.sh"
export HOME="$work" PATH="$work/bin:$PATH"

# LINE|WHAT ITS LAST WORD BECOMES, in all shells alike.
cat >"$work/lines" <<-'END'
	plim ps|ps
	plim pr|profile
	plim profile --view o|off
	plim profile -f co|collapsed
	plim profile -f sp|speedscope
	plim profile -f fl|flame
	plim profile -f fi|firefox
	plim profile -F |
	plim profile -e cy|cycles
	plim |COMMANDS
	plim --ver|--version
	plim ps --so|--sort
	plim ps --sort res|resident
	plim ps --sort=res|--sort=resident
	plim ps -s res|resident
	plim ps -rs res|resident
	plim ps --reverse --sort=cpu_p|--sort=cpu_percent
	plim ps --columns pid,na|pid,name
	plim ps --columns=pid,cpu_p|--columns=pid,cpu_percent
	plim ps -o pid,disk_w|pid,disk_write pid,disk_write_per_second
	plim ps -opid,na|-opid,name
	plim ps --color al|always
	plim ps --color=al|--color=always
	plim ps --for 5|500ms
	plim ps --for=5|--for=500ms
	plim ps --every 1|10s 1m 1s
	plim ps --rounds |
	plim ps peak|peak_resident
	plim ps --json peak|peak_resident
	plim ps -- peak|PEAK
	plim show --wa|--watch
	plim show --sor|--sor
	plim show |
	plim report --le|--leave
	plim report -d 1|10s 1m 1s
	plim cmdline --js|--json
	plim help d|doctor
	plim nosuch |
	plim time --json -- no-such-comman|no-such-command-of-ours
	plim gate --junit=od|--junit=od'd ends$(touch hit);
	plim mem -o od|od'd ends$(touch hit);
	plim ps --proc=od|--proc=od'd ends$(touch hit);
END
mkdir "$work/bin" "$work/od'd ends\$(touch hit);"
printf '#!/bin/sh\n' >"$work/bin/no-such-command-of-ours"
chmod +x "$work/bin/no-such-command-of-ours"
commands=$("$plim" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort | tr '\n' ' ')
cd "$work" || exit 1

# What all shells say, without what each has of its own: fish tells nothing
# where nothing fits and completes no field behind --, and marks a folder.
alike() {
	LC_ALL=C sed -e 's/|plim.*//' -e "s/|${commands% }\$/|COMMANDS/" \
		-e 's/^\(plim show --sor|\)$/\1--sor/' \
		-e 's/^\(plim ps -- peak|\).*/\1PEAK/' \
		-e 's,\(hit);\)/$,\1,'
}

# completes SHELL FILE
completes() {
	if ! command -v "$1" >/dev/null 2>&1; then
		skip "completions of $1" "$1 is not installed"
		return
	fi
	check "$1: the file has no mistake" "$1" -n "$build/data/$2"
	sed 's/|.*//' "$work/lines" |
		tool complete "$1" "$build/data/$2" >"$work/told" 2>&1
	alike <"$work/told" >"$work/out"
	while IFS= read -r line; do
		is "$1: ${line%%|*}" "$line" \
			"$(grep -F "${line%%|*}|" "$work/out" | head -1)"
	done <"$work/lines"
	check "$1: nothing in a name was run" test ! -e "$work/hit"

	# Options of every command, as its help has them.
	for command in $commands; do
		"$plim" "$command" --help |
			sed -n "s/^  \(-., \|    \)--\([a-z-]*\).*/--\2/p" | sort
		[ "$1" != bash ] ||
			case $command in report | time | idle | gate | profile) echo -- ;; esac
	done >"$work/options"
	for command in $commands; do
		echo "plim $command --"
	done | tool complete "$1" "$build/data/$2" | sed 's/.*|//' |
		tr ' ' '\n' >"$work/out"
	is "$1: every option of every command" \
		"$(sort "$work/options")" "$(sort "$work/out")"

	# Typed, completed, and thrown away: nothing of it may have been run.
	tool complete "$1" "$build/data/$2" >"$work/out" 2>&1 <<-'END'
		!plim ps --sort $(touch hit)
		!plim ps --sort "$(touch hit)
		!plim ps --columns pid,`touch hit`
		!plim ps --columns=pid,$(touch hit)na
		!plim $(touch hit) --so
		!plim ps -o$(touch hit)
		!plim time -- $(touch hit) x
		!plim ps --proc $(touch hit)/
	END
	is "$1: every line was tried" 8 "$(wc -l <"$work/out")"
	check "$1: nothing that was typed was run" test ! -e "$work/hit"
	rm -f "$work/hit"
}

completes bash plim
completes zsh _plim
completes fish plim.fish
done_testing
