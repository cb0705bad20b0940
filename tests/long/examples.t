# shellcheck shell=sh
# The examples of the manual, of --help and of README.md are run, and what is printed as JSON is as the schema says.
# DOCS_OF: of these tools alone.
# shellcheck source=/dev/null
. tests/own.sh

tools=${DOCS_OF:-$(cd tools && for f in *.c; do echo "${f%.c}"; done)}

# the programs of the examples, at the places where the examples have them
home=$tmp/home
mkdir "$home" "$tmp/set"

# before 3.11 Python's functions have no classes
no_classes=
/usr/bin/python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
	no_classes='; s/((train|loader|ranks)\.py:N) [A-Z][a-z]+\./\1 /'

# normal: numbers, times, addresses and places are not the same twice
normal() {
	sed -E 's/0x[0-9a-f]+/X/g; s/[0-9][0-9:.]*/N/g; s/~N/N/g; s/N (ns|us|ms|s)([ ,;]|$)/N s\2/g
		s/N (bytes|[KMGTP]iB)/N bytes/g; s/N [kMGT]?B\/s/N B\/s/g; s/ -([ $])/ N\1/g; s:\(/[^()]*/([^/()]+)\):(\1):; s: /[^ ()]*/((train|loader|ranks)\.py\:): \1:
		s/^train;.*;main;/train;main;/; s/^pythonN;.*;<module>/pythonN;<module>/
		s/ +/ /g; s/ $//'"$no_classes"
}

# shown N FILE: what stands below example N; what is set off by an indent is no output
shown() {
	awk -v n="$1" '/^\.Dl # / { at++ } /^\.(Ed|Pp|Sh)/ { on = 0 }
		on && !/^\\&\.\.\./ { print } at == n && /^\.Bd -literal$/ { on = 1 }' "$2"
}

# in_readme TOOL: the blocks of its section of README.md, or of its own page
in_readme() {
	page=docs/$1.md
	[ -e "$page" ] || page=
	awk -v t="$1" '/^```/ { block = !block; next } block { if (on) print; next }
		/^#/ { on = $0 ~ "^#+ " t "$" }' README.md ${page:+"$page"}
}

# below N FILE: the same for what in_readme wrote
below() { awk -v n="$1" '/^# / { at++; next } at == n && !/^\.\.\.|libc\.so/' "$2"; }

# to_run SET: each line of the input is a command to run, number N of the set.  Exporters that run at once have
# ports of their own.
free_port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
to_run() {
	sed -E "s/(-p|cudatop -m) [0-9]+/\\1 $train/; s|/var/lib/prometheus/node-exporter|$tmp|; s/127\.0\.0\.1:10951/127.0.0.1:$free_port/g
		/--once|--textfile|listen-address/!s/^cudaexporter /&--web.listen-address 127.0.0.1:0 /" | split -l 1 -a 3 --numeric-suffixes=1 - "$tmp/set/$1."
}

# run_all: those, six at a time as most of them wait, each until it ends or has run for a while
run_all() {
	cat >"$tmp/one" <<-'END'
		# bpftrace takes seconds to place its probes while others do; a command, such as ./train 10, ends by itself, when
		# it may if others run, too
		case $(cat "$1") in *' -c '* | *c\ \'* | *' -- '*) s=60 ;; cudabt*) s=12 ;; *) s=6 ;; esac
		# its CUPTI is the simulated one, too
		case $(cat "$1") in *loader.py*) [ -e /dev/nvidia0 ] || export LD_LIBRARY_PATH="$O/tests/lib" ;; esac
		# what measures inside kernels needs some that run
		case $(cat "$1") in
		cudamemtime* | cudakerneltime* | cudabounds* | cudacoalesce*) export SIM_KERNELS=1 s=90 ;;
		esac
		timeout -s INT $s sh -c "$(cat "$1")" </dev/null >"$1.out" 2>"$1.err"
		echo $? >"$1.rc"
	END
	find "$tmp/set" -type f >"$tmp/all"
	# with the distribution's Python, whose frames the examples show
	(cd "$home" && PATH=$home:$O:/usr/bin:$PATH xargs -n 1 -P 6 sh "$tmp/one" <"$tmp/all")
}

# said_by FILE: what the command in it said; without -p and a command of its own it may say something of others' processes, too.
# The kernel tells of the mappings of all processes, or that they were too many
said_by() {
	if grep -qE -- ' (-[a-zA-Z]*[pc]|--) ' "$1"; then
		cat "$1.err"
	else
		not_of_others "$train" <"$1.err" |
			grep -v -e ' was loaded after bpftrace started' -e ' records not handled: there was no time after the signal'
	fi | grep -v ': lost [0-9]* mmap events: '
}

# have_run SET HOW FILE: they have, and as they should; HOW N FILE is what number N is to print
have_run() {
	n=0
	for one in "$tmp/set/$1".???; do
		[ -e "$one" ] || { no "there are none"; break; }
		n=$((n + 1)) line=$(cat "$one")
		case $(cat "$one.rc") in
		0 | 124) ;;
		*) no "'$line': status $(cat "$one.rc")" ;;
		esac
		# a sample of --gaps may be in the vDSO, which is no file;
		# bpftrace may say that it cannot raise a limit, or, where tracefs is not mounted, that it
		# cannot attach or detach the old way beside the new way; and the simulated driver, which is loaded
		# late, is in none of the usual directories, where cudabt finds the real one in time
		said_by "$one" | grep ': ' | grep -v -e ': tracing' -e 'incomplete: [0-9]* without unwind information$' -e 'set RLIMIT_MEMLOCK for bpftrace' \
			-e '/tracing/uprobe_events): No such file' -e 'ERROR: failed to detach probe' \
			-e 'libcuda.so.1 was loaded after bpftrace' -e ': bpftrace attaches probes: ' \
			-e ': placing probes' -e ': taking out probes: ' -e ': the kernel is still removing ' -e ': scanning processes: ' -e ': reading ' \
			-e 'fewer resident warps than without' -e 'did not end before the GPU was last read' \
			-e ' still running: what is newer than the last reading is missing' \
			-e 'no file has a function of this probe' -e ': listening on http' >"$tmp/said" &&
			no "'$line' says: $(head -n 1 "$tmp/said")"
		normal <"$one.out" | sed 's/^ //' >"$tmp/normal"
		"$2" "$n" "$3" | normal >"$tmp/shown"
		while read -r want; do
			grep -qxF -- "$want" "$tmp/normal" || no "'$line' does not print '$want'"
		done <"$tmp/shown"
	done
}

ln -s "$O/examples/train" "$O/examples/train.py" "$O/examples/loader.py" "$O/examples/ranks.py" "$home"
"$home/train" 100000 >/dev/null & train=$!
pids="$pids $train"
sleep 1

for t in $tools; do
	# a simulated GPU is slow
	program=train
	case $t in
	ncclsnoop | nccltop) a='' program=ranks.py rounds=2 ;;
	ncclhang) a='-w 1' program=ranks.py rounds='3 2 1' ;;
	cudabounds | cudacoalesce) a='--blocks 1/64' rounds=1 ;;
	cudakerneltime) a='' rounds=1 ;;
	*) a='' rounds=7 ;;
	esac
	for o in '' -k --lines '-k --lines' -a '-a -C' '-s 2' '-T 1' -S --enter --tree --unchecked; do
		echo "$t -j $o $a -c '$home/$program $rounds'"
	done | to_run "$t.keys"
	# what train does not call
	cat <<-END | to_run "$t.more"
		$t -j -p $train
		$t -j -p $train -d 2
		$t -j -c '$bin/mem vmm 2 vmmfree 1 graph 1 setdevice 0 reset'
	END
	"$t" --help | sed '1,/^Examples:/d; s/^ *//' | to_run "$t.help"
	sed -n 's/^\.Dl # //p' "man/$t.8" | to_run "$t.man"
	in_readme "$t" >"$tmp/$t.readme"
	grep '^# ' "$tmp/$t.readme" | cut -c3- | to_run "$t.readme"
done
# the first screen, and the page about call stacks
top=$tmp/top
# those of PyTorch are in tests/clients/docs.t
{ in_readme cuda-bpf-tools; awk '/^```/ { block = !block; next } block' docs/stacks.md; } |
	awk '/^# / { torch = /--tensors/ } !torch' >"$top"
[ -n "${DOCS_OF:-}" ] || grep '^# ' "$top" | cut -c3- | to_run top
run_all

if [ -z "${DOCS_OF:-}" ]; then
	it "README.md's first screen and docs/stacks.md show what their commands print"
	have_run top below "$top"
	lines_=$(sed -n 's/^ .*train\.py:[0-9]* [A-Za-z.]*$/&/p' "$top" | wc -l)
	[ "$lines_" -ge 6 ] || no "only $lines_ Python frames in them"
fi

# json_of TOOL: of lines that it prints
json_of() {
	it "$1: each JSON key is in the schema, with its type"
	mkdir "$tmp/json.$1"
	cat "$tmp/set/$1".keys.*.out "$tmp/set/$1".more.*.out | grep '^{' >"$tmp/json.$1/$1" || no "no JSON was printed"
	run python3 tests/schema.py "$O/json-schema.json" "$tmp/json.$1"
	status 0
	lines 0 ''
}

for t in $tools; do
	# cudaexporter prints none, cudabt bpftrace's
	[ "$t" = cudabt ] || ! "$t" --help | grep -q -- ' --json ' || json_of "$t"

	it "$t: the examples of --help run"
	have_run "$t.help" true -

	it "$t: the manual's examples run, and print what stands below them but for numbers"
	have_run "$t.man" shown "man/$t.8"

	it "$t: README.md or docs/$t.md has a section about it, whose examples run and print what it says"
	have_run "$t.readme" below "$tmp/$t.readme"
done
