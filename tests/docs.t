# shellcheck shell=sh
# What the manual and README.md say, against what the tools do.  DOCS_OF: of these tools alone.

tools=${DOCS_OF:-$(cd tools && for f in *.c; do echo "${f%.c}"; done)}

# files: every file of the project, without what is built
files() {
	if [ -e .git ] && git ls-files >/dev/null 2>&1; then
		git ls-files -co --exclude-standard
	else
		find . -name .git -prune -o -path './build*' -prune -o -path "$O" -prune -o -type f -print
	fi | grep -vE '^build[^/]*/|/__pycache__/' | while read -r f; do [ ! -f "$f" ] || echo "$f"; done
}

scripts() {
	find scripts .ci tests/run tests/lib.sh tests/*.t tests/long tests/world -type f | while read -r f; do
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
left() { sed -nE 's/^ {2,6}((-., )?--[a-z.-]+( [^ ]+( [^ ]+'\'')?)?)( .*)?$/\1/p'; }

options_of() { "$1" --help | sed -nE 's/^ {2,6}(-., )?(--[a-z.-]+).*/\2/p'; }

# combinations PAGE: pairs of options that it says cannot be combined
combinations() {
	section OPTIONS "$1" | awk '
		/^     -/ {
			match($0, /--[a-z.-]+/)
			option = substr($0, RSTART, RLENGTH)
			name[$1 ~ /^-.,/ ? substr($1, 1, 2) : option] = option
			$0 = substr($0, RSTART + RLENGTH)
		}
		{ text[option] = text[option] " " $0; gsub(/ +/, " ", text[option]) }
		END {
			for (o in text)
				while (match(text[o], /annot be combined with ([^.]|\.[a-z])*\./)) {
					n = split(substr(text[o], RSTART, RLENGTH - 1), word, /[ ,]+/)
					text[o] = substr(text[o], RSTART + RLENGTH)
					for (i = 1; i <= n; i++)
						if (word[i] ~ /^-/)
							print o, word[i] in name ? name[word[i]] : word[i]
				}
		}'
}

# refused FILE...: pairs of options that messages in these sources say cannot be combined
refused() {
	cat "$@" | tr '\n\t' '  ' | sed 's/" *"//g' |
		grep -oE 'usage_error\([^;]*"[^"]*(cannot be combined with|mutually exclusive)[^"]*"' | awk '
		{
			split($0, side, /mutually exclusive/ ? " and " : "cannot be combined with")
			n = split(side[1], left, /[^a-z.-]+/)
			m = split(side[2], right, /[^a-z.-]+/)
			for (i = 1; i <= n; i++)
				for (j = 1; j <= m; j++)
					if (left[i] ~ /^--[a-z]/ && right[j] ~ /^--[a-z]/)
						print left[i], right[j]
		}'
}

# common_options: those that the common page explains
common=man/cuda-bpf-tools.7
common_options() { sed -nE 's/^\.It (Fl . , )?Fl -([a-z-]+).*/\2/p' "$common" | sort -u; }

it "every tool has its programs, manual page and test"
for t in $tools; do
	# cudabt has bpftrace's programs
	own=$(sed -n 's|^#include "\(.*\)\.skel\.h"$|bpf/\1.bpf.c|p' "tools/$t.c")
	for f in $own "man/$t.8" "tests/$t.t"; do
		[ -e "$f" ] || no "no $f"
	done
done

it "every manual page is a tool's, but for the one of what they have in common"
for f in man/*; do
	[ "$f" = man/cuda-bpf-tools.7 ] || [ -e "tools/$(basename "$f" .8).c" ] || no "$f"
done

it "the manual pages have the sections that they are to have, in order"
cat >"$tmp/sections" <<END
NAME
SYNOPSIS
DESCRIPTION
OPTIONS
FIELDS
OVERHEAD
NOTES
EXAMPLES
SEE ALSO
END
for t in $tools; do
	sed -n 's/^\.Sh //p' "man/$t.8" | diff "$tmp/sections" - >"$tmp/out" || no "$t"
done
for word in OPTIONS FIELDS ENVIRONMENT 'EXIT STATUS'; do
	grep -qxF ".Sh $word" "$common" || no "$common has no $word"
done

it "each manual page says at its options where the common part is"
for t in $tools; do
	section OPTIONS "man/$t.8" | grep -q 'cuda-bpf-tools(7)' || no "$t"
done

# items FILE: "OPTION what a page says of it", a line each
items() {
	awk 'function end() { if (option) print option, text; option = "" }
		/^\.(It|El|\\")/ { end() }
		/^These four|^Each of these four/ { end() }
		option { text = text $0 " " }
		/^\.It Fl/ && match($0 " ", / Fl -[a-z.-]+ /) { option = substr($0, RSTART + 5, RLENGTH - 5); sub(/ $/, "", option); text = "" }' "$1"
}

it "each manual page of a tool with call stacks has an example with a Python program"
for t in $tools; do
	"$t" --help | grep -q -- ' --stack ' || continue
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE ALSO/p' "man/$t.8" | grep -q '^\.Dl # .*python3 [a-z]*\.py' || no "$t"
done

it "the common page explains the options of every tool; each page names them, with the same line or none"
common_options >"$tmp/common"
[ "$(wc -l <"$tmp/common")" -ge 14 ] || no "it has few options"
items "$common" | awk 'NF > 1 { print $1 }' | sort -u | comm -13 - "$tmp/common" >"$tmp/out"
lines 0 ''
for t in $tools; do
	[ "$t" != cudabt ] || continue
	options_of "$t" | cut -c3- | sort -u >"$tmp/has"
	# cudaexporter has no call stacks and no JSON, cudatop and nccltop no call stacks, ncclhang those of its culprits, others have no probes to place; their --list is of what is in a file
	if inside "$t"; then grep -vx list "$tmp/common"; else cat "$tmp/common"; fi >"$tmp/must"
	if [ "$t" = cudaexporter ] || [ "$t" = cudatop ] || [ "$t" = nccltop ] || [ "$t" = ncclhang ] || inside "$t"; then comm -12 "$tmp/must" "$tmp/has"; else cat "$tmp/must"; fi | sed "s/^/$t /"
	! inside "$t" || continue
	if [ -e "$tmp/all" ]; then comm -12 "$tmp/all" "$tmp/has" >"$tmp/both"; else cp "$tmp/has" "$tmp/both"; fi
	mv "$tmp/both" "$tmp/all"
done >"$tmp/wanted"
for t in $tools; do items "man/$t.8" | sed "s/^/$t /"; done >"$tmp/items"
awk '{ key = $1 " " $2; text = $0; sub(/^[^ ]+ [^ ]+ /, "", text) }
	NR == FNR { said[key] = text; next }
	{ tool = $1; option = $2 }
	!(key in said) { print tool ": --" option " is not named" }
	length(said[key]) > 100 { print tool ": --" option " takes more than a line" }
	said[key] == "" { next }
	!(option in first) { first[option] = said[key] }
	first[option] != said[key] { print tool " says something else of --" option }' "$tmp/items" "$tmp/wanted" >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(tr '\n' ';' <"$tmp/out")"
[ -n "${DOCS_OF:-}" ] || [ "$(wc -l <"$tmp/wanted")" -gt 100 ] || no "few options are compared"
[ -e "$tmp/all" ] || : >"$tmp/all"
comm -23 "$tmp/all" "$tmp/common" | grep -vxE "folded|device" >"$tmp/out"
[ -n "${DOCS_OF:-}" ] || lines 0 ''

# keys PAGE: the JSON keys that its FIELDS explain.  schema TOOL: the keys that the tool prints
keys() { sed -nE '/^\.Sh FIELDS/,/^\.Sh/s/^\.(It )?Va //p' "$1" | tr -s ' ,:.' '\n' | grep . | sort -u; }
# shellcheck disable=SC2016 # of jq
jq -r '."$defs" as $d | ($d | keys[]) as $t | ($d[$t].anyOf[]?."$ref" | sub(".*/"; "")) as $kind | $d[$kind].properties |
	(keys[] | "key \($t) \(.)"), (.type.enum[] | "type \($t) \($kind) \(.)")' "$O/json-schema.json" >"$tmp/schema"
# shellcheck disable=SC2016 # of jq
jq -r '."$defs" | .frame, .process | .properties | keys[]' "$O/json-schema.json" >"$tmp/parts"
schema() { sed -n "s/^key $1 //p" "$tmp/schema" | sort -u - "$tmp/parts"; }

it "each JSON key of a manual page is in the schema, and that of a tool's own is not in the common part, too"
keys "$common" >"$tmp/common"
for t in $tools; do
	keys "man/$t.8" >"$tmp/page"
	schema "$t" | tee -a "$tmp/all-keys" | comm -23 "$tmp/page" - | sed "s/^/$t: no key: /"
	comm -12 "$tmp/common" "$tmp/page" | sed "s/^/$t: also in $(basename $common): /"
done >"$tmp/out"
[ -n "${DOCS_OF:-}" ] || sort -u "$tmp/all-keys" | comm -23 "$tmp/common" - | sed 's/^/no key: /' >>"$tmp/out"
lines 0 ''

# types PAGE: the types of JSON objects that its FIELDS name.  own_types TOOL, common_types TOOL: those of the schema
types() {
	awk '/^\.Sh/ { on = 0 } /^JSON objects have the type|^\.Va type/ { on = 1; next }
		on && sub(/^\.Li /, "") { gsub(/[^a-z_]+/, "\n"); print }
		on && /^\.P[ap]/ { exit }' "$1" | grep . | sort -u
}
own_types() {
	sed -n "s/^type $1 $1\\.[^ ]* //p" "$tmp/schema" | sort -u
	! inside "$1" || echo images
}
common_types() { sed -n "/^type $1 $1\\./d; / images /d; s/^type $1 .* //p" "$tmp/schema" | sort -u; }

it "each manual page names the types of JSON objects that the tool prints, and the schema; the common page, those of all"
types "$common" >"$tmp/common"
for t in $tools; do
	own_types "$t" >"$tmp/own"
	types "man/$t.8" >"$tmp/page"
	same "$t" "$tmp/own" "$tmp/page"
	common_types "$t" >"$tmp/own"
	[ ! -s "$tmp/own" ] || same "$common with $t" "$tmp/own" "$tmp/common"
	[ ! -s "$tmp/page" ] || grep -q '^\.Pa /usr/share/cuda-bpf-tools/json-schema\.json$' "man/$t.8" || no "$t: no schema"
done
grep -q . "$tmp/common" || no "the common page names none"

it "no notes of a manual page repeat those of another"
for f in man/*; do
	awk -v f="$f" '/^\.S[hs] / { n = 0; on = /NOTES|EXIT STATUS|ENVIRONMENT|^\.Ss/ }
		on && !/^\./ { n++; run[n] = $0; if (n > 3) print run[n - 3], run[n - 2], run[n - 1], $0 }' "$f" | sort -u
done | sort | uniq -d >"$tmp/out"
[ -n "${DOCS_OF:-}" ] || lines 0 ''

it "mandoc has no warning about the manual pages"
for t in $tools; do
	mandoc -T lint -W warning "man/$t.8" >>"$tmp/lint" || no "$t"
done
mandoc -T lint -W warning "$common" >>"$tmp/lint" || no "$common"
[ ! -s "$tmp/lint" ] || no "$(head -n 5 "$tmp/lint")"

for t in $tools; do
	it "$t: the manual has the options of --help with the same words, and no others"
	"$t" --help | sed '/^Examples:/,$d' | left >"$tmp/help"
	section OPTIONS "man/$t.8" | grep -E '^ {5}-' | left >"$tmp/page"
	[ -s "$tmp/help" ] || no "no options in --help"
	same "$t" "$tmp/help" "$tmp/page"

	it "$t: --help says no line of more than 80 columns"
	"$t" --help | awk 'length($0) > 80' >"$tmp/out"
	lines 0 ''

	it "$t: the manual says which options cannot be combined, as the messages do"
	options_of "$t" >"$tmp/options"
	{ combinations "man/$t.8"; combinations "$common"; } >"$tmp/page"
	# shellcheck disable=SC2046 # a list of words
	refused $(find "tools/$t" "tools/$t.c" common/session -name '*.c' 2>/dev/null) | sort -u >"$tmp/refused"
	[ -s "$tmp/refused" ] || no "no message says so"
	while read -r a b; do
		grep -qxFe "$a" "$tmp/options" && grep -qxFe "$b" "$tmp/options" || continue
		grep -qxFe "$a $b" -e "$b $a" "$tmp/page" || no "$a with $b"
	done <"$tmp/refused"

	it "$t: bash reads the completion, which offers every option"
	"$t" --bash-completion >"$tmp/complete"
	bash -n "$tmp/complete" || no "bash does not"
	# shellcheck disable=SC2016 # bash is to expand it
	bash -c '. "$1"; COMP_WORDS=("$2" --); COMP_CWORD=1; "_$2"; printf "%s\n" "${COMPREPLY[@]}"' \
		bash "$tmp/complete" "$t" >"$tmp/offered"
	options_of "$t" >"$tmp/options"
	same "$t" "$tmp/options" "$tmp/offered"

	it "$t: zsh and fish read their completions, which offer every option"
	"$t" --zsh-completion >"$tmp/complete"
	# what zsh's own _arguments would be called with
	# shellcheck disable=SC2016 # zsh is to expand it
	zsh -f -c '_arguments() { print -rl -- "$@" }; . "$1"' zsh "$tmp/complete" |
		sed -nE 's/^(\([^)]*\))?(--[a-z.-]+)(\[.*)?$/\2/p' >"$tmp/offered"
	same "$t in zsh" "$tmp/options" "$tmp/offered"
	"$t" --fish-completion >"$tmp/complete"
	fish --no-config -c "source $tmp/complete; complete -C'$t --'" | sed -n 's/^\(--[a-z.-]*\)\t.*/\1/p' >"$tmp/offered"
	same "$t in fish" "$tmp/options" "$tmp/offered"

	sed -n 's/^\.It Li \([A-Z%][^ ]*\)$/\1/p' "man/$t.8" >"$tmp/columns"
	if [ -s "$tmp/columns" ]; then
		it "$t: the manual has the columns of the text, and no others"
		when=$("$t" --help | grep -o -- --timestamp)
		# shellcheck disable=SC2086 # none or one word
		"$t" -q $when -c true 2>/dev/null | head -n 1 | tr -s ' ' '\n' >"$tmp/head"
		same "$t" "$tmp/head" "$tmp/columns"
	fi
done

# the rest is of the project as a whole
[ -z "${DOCS_OF:-}" ] || leave

it "each make target that README.md, HACKING.md and others name exists"
make -qp 2>/dev/null >"$tmp/make"
grep -ohE '\<make [a-z][a-z0-9-]+' README.md HACKING.md CONTRIBUTING.md scripts/templates/README.md docs/*.md | cut -d' ' -f2 >"$tmp/names"
while read -r target; do
	grep -q "^$target:" "$tmp/make" || no "$target"
done <"$tmp/names"

it "README.md begins with the two commands"
sed -n '1,20p' README.md >"$tmp/out"
lines 1 '^sudo make demo'
lines 1 '^sudo make check'

it "each file that README.md, HACKING.md and others name exists, also in a drawing or a command"
# docs/compared.md names files of others; the two tools are made by the examples of scripts/templates/README.md
grep -ohE '(^|[^][A-Za-z0-9_./$}-])[a-z]+/[A-Za-z0-9_./*-]*[A-Za-z0-9_*]' ./*.md scripts/templates/README.md docs/[!c]*.md docs/cost.md docs/cuda*.md |
	sed 's/^[^a-z]//' | grep -E '^(arch|bpf|common|debian|docs|etc|examples|gpu|man|scripts|tests|tools)/' |
	grep -v 'TOOL\|NAME\|cudamemsetsnoop\|cudaxbytes\|^tests/x.h$' | sort -u >"$tmp/names"
[ "$(wc -l <"$tmp/names")" -gt 100 ] || no "they name few"
while read -r f; do
	# shellcheck disable=SC2086 # a pattern names what it matches
	set -- $f
	[ -e "$1" ] || [ -e "$O/$f" ] || no "$f"
done <"$tmp/names"

it "README.md, CONTRIBUTING.md, HACKING.md and the Makefile have one figure for what \`make check\` takes"
# shellcheck disable=SC2016 # as it stands in the text
sed -nE 's/.*[ `]make check[ `].*[, ]([a-z]+) minutes([ .;,].*|$)/\1/p; s/^\| `make check` .* ([0-9]+) \|$/\1/p' \
	README.md CONTRIBUTING.md HACKING.md Makefile | sed 's/^five$/5/; s/^ten$/10/' >"$tmp/out"
lines 4 "^$(head -n 1 "$tmp/out")$"
lines 4 ''

it "each function that HACKING.md, docs/architecture.md and docs/mutants.md name is in the sources"
# as the compiler reads them: a comment may be as old as the text.  increase() is Prometheus's
find agent bpf common gpu tools tests -name '*.[ch]' -exec cat {} + |
	$CC -fpreprocessed -dD -E -P -x c - 2>/dev/null | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u >"$tmp/words"
grep -ohE '[A-Za-z_0-9]+\(\)' HACKING.md docs/architecture.md docs/mutants.md | tr -d '()' | sort -u >"$tmp/names"
[ "$(wc -l <"$tmp/names")" -gt 20 ] || no "they name few"
comm -23 "$tmp/names" "$tmp/words" | grep -vx increase >"$tmp/out"
lines 0 ''

# comments REGEX: "FILE WORDS" for each place in the sources where it matches
comments() {
	files | grep -E '\.(c|h|cpp|cu|S|mk|sh|py|awk|tbl|def)$|^(\./)?(Makefile|scripts/[a-z-]*)$' | grep -v '^\(\./\)\?tests/\(data\|ptx\)/' |
		tr '\n' '\0' | xargs -0 grep -HoE "$1" | sed 's/:[^A-Za-z_]\?/ /'
}

it "each file of the project that a comment names exists"
# but TOOL and NAME, a file of Linux and one of libbpf
comments '(^|[ (:`"])(agent|bpf|common|docs|etc|examples|gpu|man|scripts|tests|tools)/[A-Za-z0-9_./-]+\.[A-Za-z0-9]+' |
	grep -vE '/(TOOL|NAME)\.| tools/perf/| bpf/(bpf|bpf_mmap|map_backend|process_progs)\.h$' >"$tmp/names"
[ "$(wc -l <"$tmp/names")" -gt 100 ] || no "they name few"
while read -r from f; do
	[ -e "$f" ] || [ -e "arch/x86/$f" ] || no "$from: $f"	# arch/ARCH is where files are included from
done <"$tmp/names"

it "a function of another file that a comment names is there"
comments '[A-Za-z_0-9]+\(\) (in|of) [a-z]+/[A-Za-z0-9_./-]+\.[a-z]+' >"$tmp/names"
while read -r from function _ f; do
	grep -qswF "${function%??}" "$f" || no "$from: $function is not in $f"
done <"$tmp/names"
[ "$(wc -l <"$tmp/names")" -ge 3 ] || no "they name few"

it "every program says what its licence is"
files | grep -E '\.(c|h|cpp|cu|sh)$|^scripts/' | grep -v '^scripts/templates/.*\.\(t\|md\)$' >"$tmp/files"
tr '\n' '\0' <"$tmp/files" | xargs -0 awk 'FNR <= 3 && /SPDX-License-Identifier: / { print FILENAME }' | sort -u >"$tmp/said"
sort "$tmp/files" | comm -23 - "$tmp/said" >"$tmp/out"
lines 0 ''
[ "$(wc -l <"$tmp/said")" -gt 900 ] || no "few files"

it "no file has control characters, or a path of where the project happens to lie"
# what fuzzers found is to have them, as are machine code and the text that has everything odd
files | grep -vE '^(\./)?tests/(fuzz/corpus/|data/fatbin/.*\.fatbin$|ptx/odd\.)' | tr '\n' '\0' >"$tmp/files"
{
	LC_ALL=C xargs -0 grep -lP '[\x00-\x08\x0b-\x1f\x7f]' <"$tmp/files"
	case $PWD in	# the name of a folder of / may be in any text
	/*/*) xargs -0 grep -lF "$PWD/" <"$tmp/files" ;;
	esac
} >"$tmp/out"
lines 0 ''

it "docs/reliability.md and docs/mutants.md name tests that there are"
# shellcheck disable=SC2016 # no command
grep -ohE '`[a-z-]+\.t`( "[^"]+",?)+' docs/reliability.md docs/mutants.md >"$tmp/named"
[ "$(wc -l <"$tmp/named")" -gt 20 ] || no "few"
while read -r file titles; do
	file=$(echo "$file" | tr -d '`')
	echo "$titles" | grep -oE '"[^"]+"' | tr -d '"' | while read -r title; do
		grep -qsF -- "$title" "tests/$file" "tests/long/$file" "tests/world/$file" || echo "$file: $title"
	done
done <"$tmp/named" >"$tmp/out"
lines 0 ''

# ---- What takes seconds

long || leave

it "shellcheck has nothing to say about the scripts"
# shellcheck disable=SC2046 # a list of words
if command -v shellcheck >/dev/null; then
	shellcheck $(scripts | grep -v '^tests/.*\.\(t\|sh\)$') >"$tmp/out" || no "the scripts"
	# a test has its variables from lib.sh, which has words for the tests alone
	shellcheck -e SC2154,SC2034,SC1090,SC2015 tests/lib.sh tests/*.t tests/long/*.t tests/world/*.t >>"$tmp/out" || no "the tests"
else
	skip "no shellcheck here"
fi
