# shellcheck shell=sh disable=SC1091,SC2034,SC2086,SC2154 # the words'
# The examples of docs/pytorch.md, and of README.md those of PyTorch: they are run, and print what stands below them but
# for numbers and folders.
. tests/clients.sh

it "PyTorch is here"
client pytorch || { skip "$why_not"; return; }
home=$tmp/home
mkdir "$home"
# with the times that the page names
for each in finetune stories; do
	cat >"$home/$each.py" <<-END
		#!/bin/sh
		case \$1 in
		graphs | item) export SIM_LATENCY_US=cuStreamSynchronize=3000 ;;
		starve) export SIM_KERNEL_NS=200000 ;;
		esac
		export SIM_MEMORY=80g
		exec ${python%% *} LD_PRELOAD=$sim/libcudart.so.13:$lib/libcupti.so.13 ${python#* * } $PWD/examples/$each.py "\$@"
	END
	chmod +x "$home/$each.py"
done
PATH=$home:$PATH
cd "$home" || exit
finetune.py 1000000 & train=$!
pids="$pids $train"

# normal: numbers, times, addresses and folders are not the same twice; nor are the bars of histograms, nor whether a loaded
# machine launches so often that launches are estimated (~)
normal() {
	# a process has the name of its last thread
	sed -E 's/pt_autograd_0/python/; s/0x[0-9a-f]+/X/g; s:/[^ ()]*/([^ /]*\.py\:):\1:; s/module\.py:[0-9]+/module.py:N/; s/container\.py:[0-9]+/container.py:N/
		/\.py:/!s/~?[0-9][0-9:.]*/N/g; s/N (ns|us|ms|s)([ ,;:]|$)/N s\2/g; s/N (bytes|[KMGTP]iB)/N bytes/g
		s/N [kMGT]?B\/s/N B\/s/g; s/ (\?|-) / N /g; s/ (\?|-) / N /g; s/ Nk / N /; s/ (bytes|N|s)\/s/ N\/s/g; s/\|\**\|//; s/allocations?/allocations/g; s/ +/ /g; s/ $//'
}

# without_calls: without cudatop's column %CUDA, which is there if a process spends time in calls, as on a loaded machine
without_calls() {
	awk '/ %CUDA / { at = index($0, "%CUDA") + 4 } !NF { at = 0 } at { $0 = substr($0, 1, at - 7) substr($0, at + 1) } { print }'
}

# examples FILE...: each into $tmp/ex.N: the command, and what stands below it
examples() {
	awk -v to="$tmp/ex." '/^```/ { block = !block; on = 0; next } !block { next } /^# / { n++; on = 1 } on { print >(to n) }' "$@"
}

# story COMMAND: the one that -p N in it stands for, or none
story() {
	case $1 in
	*'-p 201'*) echo leak ;;
	*'-p 202'*) echo fragments ;;
	*'-p 203'*) echo item ;;
	*'-p 204'*) echo graphs ;;
	*'-p 205'*) echo starve ;;
	*'-p 206'*) echo tiny ;;
	esac
}

# steps are made
launches() { cudatop -qj -d 300ms -p "$1" | jq -es 'map(.launches) | add > 0' >/dev/null; }
until_true sh -c "cudamemcpysize -qj -d 300ms -p $train | jq -e 'select(.count > 100)' | grep -q HtoD"
examples "$OLDPWD/docs/pytorch.md"
n=0
for one in "$tmp"/ex.*; do
	command=$(sed -n '1s/^# //p' "$one")
	it "docs/pytorch.md: $command"
	story=$(story "$command") pid=$train
	if [ -n "$story" ]; then
		stories.py "$story" & pid=$!
		pids="$pids $pid"
		until_true launches "$pid"
	fi
	run sh -c "$(echo "$command" | sed "s/-p [0-9]*/-p $pid/")"
	[ -z "$story" ] || kill "$pid"
	# of a command that is ended by timeout
	[ "$rc" -eq 124 ] || status 0
	without_calls <"$tmp/out" | normal >"$tmp/normal"
	sed '1d; /^\.\.\.$/d' "$one" | normal >"$tmp/want"
	while IFS= read -r want; do
		grep -qxF -- "$want" "$tmp/normal" || no "it does not print '$want'"
	done <"$tmp/want"
	n=$((n + 1))
done
it "README.md's first example is one of docs/pytorch.md"
first=$(grep -l -e '-p 181 1 2$' "$tmp"/ex.* | head -n 1)
awk '/^```/ { block = !block; next } /^# cudaleak/ { on = block } on && block' "$OLDPWD/README.md" |
	head -n "$(wc -l <"$first")" | cmp -s - "$first" || no "it is another one"

it "docs/pytorch.md has examples for each question"
[ $n -ge 20 ] || no "only $n"
cd "$OLDPWD" || exit
