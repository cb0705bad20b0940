# shellcheck shell=sh
# What the manual and README.md say, against what the tools do.  DOCS_OF: of these tools alone.

tools=${DOCS_OF:-$(cd tools && for f in *.c; do echo "${f%.c}"; done)}
# the programs of the examples, at the places where the examples have them
home=$tmp/home
mkdir "$home"

# files: every file of the project, without what is built
files() {
	if [ -e .git ] && git ls-files >/dev/null 2>&1; then
		git ls-files -co --exclude-standard
	else
		find . -name .git -prune -o -path './build*' -prune -o -path "$O" -prune -o -type f -print
	fi | grep -v '^build[^/]*/' | while read -r f; do [ ! -f "$f" ] || echo "$f"; done
}

scripts() {
	find scripts .ci tests/run tests/lib.sh tests/*.t -type f | while read -r f; do
		case $f in
		tests/*) echo "$f" ;;
		*) ! head -n 1 "$f" | grep -qE '^#!.*/(env )?(ba)?sh' || echo "$f" ;;
		esac
	done
}

# same WHAT FILE FILE: they have the same lines, in whatever order
same() {
	sort -u "$2" >"$tmp/one"
	sort -u "$3" >"$tmp/two"
	diff "$tmp/one" "$tmp/two" >"$tmp/diff" || no "$1: $(grep '^[<>]' "$tmp/diff" | tr '\n' ' ')"
}

# section NAME FILE: of a man page, as it is read
section() {
	mandoc -T ascii -O width=200 "$2" | col -bx |
		awk -v name="$1" '/^[A-Z]/ { on = $0 == name } on && !/^[A-Z]/'
}

# left: from lines of --help or of OPTIONS, those that name an option, up to what is said of it
left() { sed -nE 's/^ +((-., )?--[a-z-]+( [^ ]+( [^ ]+'\'')?)?)( .*)?$/\1/p'; }

options_of() { "$1" --help | sed -nE 's/^ +(-., )?(--[a-z-]+).*/\2/p'; }

# keys FILE: the JSON keys in FIELDS
keys() {
	sed -n '/^\.Sh FIELDS/,/^\.Sh OVERHEAD/s/^\.It Va //p' "$1"
}

# normal: numbers, times, addresses and places are not the same twice
normal() {
	sed -E 's/0x[0-9a-f]+/X/g; s/[0-9][0-9:.]*/N/g; s/N (ns|us|ms|s)([ ,;]|$)/N s\2/g
		s/N (bytes|KiB|MiB)$/N bytes/; s/ -([ $])/ N\1/g; s:\(/[^()]*/([^/()]+)\):(\1):
		s/^train;.*;main;/train;main;/; s/ +/ /g; s/ $//'
}

# shown N FILE: what stands below example N
shown() {
	awk -v n="$1" '/^\.Dl # / { at++ } /^\.(Ed|Pp|Sh)/ { on = 0 }
		on && !/^\\&\.\.\./ { print } at == n && /^\.Bd/ { on = 1 }' "$2"
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

# example COMMAND: in a shell of its own, until it ends or has run for a while
example() {
	(cd "$home" && PATH=$home:$PATH timeout -s INT 4 sh -c "$1") >"$tmp/out" 2>"$tmp/err"
	rc=$?
}

# try_examples HOW FILE: runs those in $tmp/examples; HOW N FILE is what number N is to print
try_examples() {
	n=0
	while read -r line; do
		n=$((n + 1))
		example "$(echo "$line" | sed -E "s/-p [0-9]+/-p $train/")" </dev/null
		case $rc in
		0 | 124) ;;
		*) no "'$line': status $rc" ;;
		esac
		# bpftrace may say that it cannot raise a limit, or, where tracefs is not mounted, that it
		# cannot attach or detach the old way beside the new way; and the simulated driver, which is loaded
		# late, is in none of the usual directories, where cudabt finds the real one in time
		grep ': ' "$tmp/err" | grep -v -e ': tracing' -e 'set RLIMIT_MEMLOCK for bpftrace' \
			-e '/tracing/uprobe_events): No such file' -e 'ERROR: failed to detach probe' \
			-e 'libcuda.so.1 was loaded after bpftrace' \
			-e 'no file has a function of this probe' >"$tmp/said" &&
			no "'$line' says: $(head -n 1 "$tmp/said")"
		normal <"$tmp/out" | sed 's/^ //' >"$tmp/normal"
		"$1" "$n" "$2" | normal >"$tmp/shown"
		while read -r want; do
			grep -qxF -- "$want" "$tmp/normal" || no "'$line' does not print '$want'"
		done <"$tmp/shown"
	done <"$tmp/examples"
}

${CC:-cc} -std=gnu11 -D_GNU_SOURCE -DSIM_OWN_HEADERS -g -O1 \
	-fno-omit-frame-pointer -fno-optimize-sibling-calls tests/workloads/train.c \
	"$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$home/train"
"$home/train" 100000 >/dev/null & train=$!
pids="$pids $train"
sleep 1

it "every tool has its programs, manual page and test"
for t in $tools; do
	# cudabt has bpftrace's programs
	own=$(grep -q "$t\.skel\.h" "tools/$t.c" && echo "bpf/$t.bpf.c")
	for f in $own "man/$t.8" "tests/$t.t"; do
		[ -e "$f" ] || no "no $f"
	done
done

it "every manual page, program and test is a tool's"
for f in man/*.8; do
	[ -e "tools/$(basename "$f" .8).c" ] || no "$f"
done

it "the manual pages have the sections that they are to have, in order"
cat >"$tmp/sections" <<END
NAME
SYNOPSIS
DESCRIPTION
OPTIONS
FIELDS
OVERHEAD
EXIT STATUS
EXAMPLES
NOTES
SEE ALSO
END
for t in $tools; do
	sed -n 's/^\.Sh //p' "man/$t.8" | diff "$tmp/sections" - >"$tmp/out" || no "$t"
done

it "mandoc has no warning about the manual pages"
for t in $tools; do
	mandoc -T lint -W warning "man/$t.8" >>"$tmp/lint" || no "$t"
done
[ ! -s "$tmp/lint" ] || no "$(head -n 5 "$tmp/lint")"

for t in $tools; do
	it "$t: the manual has the options of --help with the same words, and no others"
	"$t" --help | sed '/^Examples:/,$d' | left >"$tmp/help"
	section OPTIONS "man/$t.8" | grep -E '^ {5}-' | left >"$tmp/page"
	[ -s "$tmp/help" ] || no "no options in --help"
	same "$t" "$tmp/help" "$tmp/page"

	it "$t: --help says no line of more than 100 columns"
	"$t" --help | awk 'length($0) > 100 { bad = 1 } END { exit bad }' || no "it does"

	it "$t: bash reads the completion, which offers every option"
	"$t" --bash-completion >"$tmp/complete"
	bash -n "$tmp/complete" || no "bash does not"
	# shellcheck disable=SC2016 # bash is to expand it
	bash -c '. "$1"; COMP_WORDS=("$2" --); COMP_CWORD=1; "_$2"; printf "%s\n" "${COMPREPLY[@]}"' \
		bash "$tmp/complete" "$t" >"$tmp/offered"
	options_of "$t" >"$tmp/options"
	same "$t" "$tmp/options" "$tmp/offered"

	sed -n 's/^\.It Li \([A-Z][^ ]*\)$/\1/p' "man/$t.8" >"$tmp/columns"
	if [ -s "$tmp/columns" ]; then
		it "$t: the manual has the columns of the text, and no others"
		when=$("$t" --help | grep -o -- --timestamp)
		# shellcheck disable=SC2086 # none or one word
		"$t" -q $when -c true 2>/dev/null | head -n 1 | tr -s ' ' '\n' >"$tmp/head"
		same "$t" "$tmp/head" "$tmp/columns"
	fi

	it "$t: each JSON key is in the manual, and each in the manual is a key"
	: >"$tmp/keys"
	says_no_keys=$(grep -c "bpftrace's JSON" "man/$t.8")
	for o in '' -k -a '-a -C' '-s 2' '-T 1' -S --enter --tree --unchecked "-p $train" "-p $train -d 2"; do
		command="-c '$home/train 7'"
		case $o in *-p*) command= ;; esac
		eval timeout -s INT 3 "$t" -j "$o" "$command" >"$tmp/json" 2>/dev/null
		jq -r 'del(.args?) | paths | map(strings)[-1] // empty' "$tmp/json" 2>/dev/null >>"$tmp/keys"
	done
	# what train does not call
	timeout -s INT 10 "$t" -j -c "$bin/mem vmm 2 vmmfree 1 graph 1 setdevice 0 reset" 2>/dev/null |
		jq -r 'del(.args?) | paths | map(strings)[-1] // empty' 2>/dev/null >>"$tmp/keys"
	[ -s "$tmp/keys" ] || [ "$says_no_keys" -gt 0 ] || no "no JSON was printed"
	keys "man/$t.8" | sort >"$tmp/page"
	sort -u "$tmp/keys" | comm -23 - "$tmp/page" >"$tmp/diff"
	[ ! -s "$tmp/diff" ] || no "not in the manual: $(tr '\n' ' ' <"$tmp/diff")"
	# some come seldom: they are in the source at least
	while read -r key; do
		grep -qxF "$key" "$tmp/keys" || grep -qE "\\\\?\"$key\\\\?\"" "tools/$t.c" "tools/$t"/*.c common/*/*.c ||
			no "$key is nowhere"
	done <"$tmp/page"

	it "$t: the examples of --help run"
	"$t" --help | sed '1,/^Examples:/d; s/^ *//' >"$tmp/examples"
	[ -s "$tmp/examples" ] || no "there are none"
	try_examples true -

	it "$t: the manual's examples run, and print what stands below them but for numbers"
	sed -n 's/^\.Dl # //p' "man/$t.8" >"$tmp/examples"
	[ -s "$tmp/examples" ] || no "there are none"
	try_examples shown "man/$t.8"

	it "$t: README.md or docs/$t.md has a section about it, whose examples run and print what it says"
	in_readme "$t" >"$tmp/readme"
	grep '^# ' "$tmp/readme" | cut -c3- >"$tmp/examples"
	[ -s "$tmp/examples" ] || no "there are none"
	try_examples below "$tmp/readme"
done

# the rest is of the project as a whole
[ -z "${DOCS_OF:-}" ] || exit

it "each make target that README.md and HACKING.md name exists"
make -qp 2>/dev/null >"$tmp/make"
grep -ohE '\<make [a-z][a-z-]+' README.md HACKING.md docs/*.md | cut -d' ' -f2 >"$tmp/names"
while read -r target; do
	grep -q "^$target:" "$tmp/make" || no "$target"
done <"$tmp/names"

it "README.md begins with the two commands"
sed -n '1,20p' README.md >"$tmp/out"
lines 1 '^sudo make demo'
lines 1 '^sudo make check'

it "each file that README.md and HACKING.md name exists"
# shellcheck disable=SC2016 # as it stands in the text
grep -ohE '`[a-z]+/[A-Za-z0-9_./-]+`' README.md HACKING.md docs/*.md | tr -d '\140' |
	grep -v TOOL >"$tmp/names"
while read -r f; do
	case $f in
	build/*) ;;
	*) [ -e "$f" ] || no "$f" ;;
	esac
done <"$tmp/names"

it "shellcheck has nothing to say about the scripts"
# shellcheck disable=SC2046 # a list of words
if command -v shellcheck >/dev/null; then
	shellcheck $(scripts | grep -v '^tests/[^/]*\.\(t\|sh\)$') >"$tmp/out" || no "the scripts"
	# a test has its variables from lib.sh, which has words for the tests alone
	shellcheck -e SC2154,SC2034,SC1090,SC2015 tests/lib.sh tests/*.t >>"$tmp/out" || no "the tests"
else
	skip "no shellcheck here"
fi

it "every program says what its licence is"
for f in $(files | grep -E '\.(c|h|cpp|cu|sh)$|^scripts/'); do
	head -n 3 "$f" | grep -q 'SPDX-License-Identifier: ' || no "$f"
done

it "no file has control characters, or a path of where the project happens to lie"
# what fuzzers found is to have them
files | grep -v '^\(\./\)\?tests/fuzz/corpus/' >"$tmp/files"
while read -r f; do
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$f" || no "$f: control characters"
	[ "$PWD" = / ] || ! grep -qF "$PWD/" "$f" || no "$f: $PWD"
done <"$tmp/files"

it "docs/reliability.md names tests that there are"
# shellcheck disable=SC2016 # no command
grep -oE '`[a-z-]+\.t`( "[^"]+",?)+' docs/reliability.md >"$tmp/named"
[ "$(wc -l <"$tmp/named")" -gt 20 ] || no "few"
while read -r file titles; do
	file=$(echo "$file" | tr -d '`')
	echo "$titles" | grep -oE '"[^"]+"' | tr -d '"' | while read -r title; do
		grep -qF "$title" "tests/$file" || echo "$file: $title"
	done
done <"$tmp/named" >"$tmp/out"
lines 0 ''
