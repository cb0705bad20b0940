# shellcheck shell=sh disable=SC2016,SC2154 # none is to be expanded; rc: the words'
# scripts/parts has every part, and scripts/tested records what each run showed, in a repository of its own.

# ran FILE WORDS: what tests/run makes of a file with these words
ran() {
	printf '%s\n' "$2" >"$tmp/$1.t"
	run env LANE_LOCK= "O=$tmp/$1" V=1 tests/run "$(realpath --relative-to=. "$tmp/$1.t")"
}

it "a test may be skipped or fail in a subshell, or with its output elsewhere; it cannot begin there"
ran subshell 'it "one"; skip "no x" >/dev/null; it "two"; (skip "no y"); it "three"; echo | while read -r _; do no "in a pipe"; done
it "four"; it "five"; (it "six"); it "seven"'
status 1
lines 1 '^ok 1 - one # SKIP no x$'
lines 1 '^ok 2 - two # SKIP no y$'
lines 2 '^not ok [35] - (three|five)$'
lines 1 '^2 passed, 2 failed, 2 skipped$'
lines 0 'Parse errors'

it "what prove alone finds wrong is a failure that is counted"
ran lost 'it "one"
{ it "two"; it "three"; } >/dev/null'
status 1
lines 1 '^failed prove: its verdict, though no test failed$'
lines 1 '^3 passed, 1 failed, 0 skipped$'

it "tests that a test runs have settings of their own: this run's do not reach them"
mkdir "$tmp/within"
cat >"$tmp/within/outer.t" <<END
it "outer"
run env LANE_LOCK= "O=$tmp/within/o" tests/run "$(realpath --relative-to=. "$tmp/within/inner.t")"
status 1
lines 1 '^1 passed, 1 failed, 0 skipped\$'
lines 0 '^(run 2 of|flaky|ok )'
long || no "it is not long"
! env | grep -qE '^(AGAIN|BESIDE|JOBS|LONG|RESULTS|V)=' || no "the settings are in the environment"
END
cat >"$tmp/within/inner.t" <<END
it "inner"
! long || no "LONG"
it "which fails"
echo once >>$tmp/within/runs
no "it fails"
END
run env AGAIN=1 LONG=1 V=1 RESULTS=/dev/null LANE_LOCK= "O=$tmp/within" tests/run \
	"$(realpath --relative-to=. "$tmp/within/outer.t")"
status 0
lines 1 '^1 passed, 0 failed, 0 skipped$'
equal "$(cat "$tmp/within/runs")" once

# functions FILE...: a line for each that it declares
functions() { sed -nE 's/^[[:space:]]*([a-z_0-9]+)\(\).*/\1/p' "$@" | sort -u; }

it "no test file declares a function of the same name as one of tests/lib.sh, which would call it"
functions tests/lib.sh >"$tmp/words"
[ "$(wc -l <"$tmp/words")" -gt 40 ] || no "few functions"
grep -oE '^[[:space:]]*[a-z_0-9]+\(\)' tests/*.t tests/*/*.t tests/*.sh | tr -d ' \t()' |
	awk -F: 'NR == FNR { word[$0]; next } $2 in word && $1 != "tests/lib.sh" { print $1 ": " $2 }' "$tmp/words" - >"$tmp/out"
[ ! -s "$tmp/out" ] || no "$(head -n 5 "$tmp/out" | tr '\n' ' ')"

if ! command -v git >/dev/null; then
	it "what was tested is recorded"
	skip "no git here"
	leave
fi

tab=$(printf '\t')
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@example.com GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@example.com
export GIT_CONFIG_GLOBAL=/dev/null
top=$PWD repo=$tmp/repo

# parts: their names in scripts/parts
parts() { sed -n 's/^\([^#@	][^	]*\)	.*/\1/p' scripts/parts; }

it "each file of tests/world, each kernel, suite and clang is a part"
{
	ls tests/world/*.t
	for of in x86:kernel arm64:kernel-arm64; do
		sed -n "/^kernels='/,/^'/s|^\([^	']*\)	.*|${of#*:}:\1|p" "arch/${of%:*}/machine.sh"
	done
	sed -n "/^suites='/,/^'/s|^\([0-9]*\)	.*|clang:\1|p" scripts/clangs
	for suite in bookworm trixie sid; do
		echo "root:$suite"
		echo "root:$suite:nvcc"
		echo "deb:$suite"
	done
	printf '%s\n' root:trixie:space root:trixie:tmp sanitize libs fuzz mutants bench ptx
} | sort >"$tmp/want"
parts | sort >"$tmp/have"
diff "$tmp/want" "$tmp/have" >"$tmp/out" || no "$(grep '^[<>]' "$tmp/out" | tr '\n' ' ')"
[ "$(wc -l <"$tmp/have")" -ge 46 ] || no "few parts"

it "scripts/parts names paths and targets of make that exist"
make -qp 2>/dev/null >"$tmp/make"
grep -v '^#' scripts/parts | tr '\t' '\n' | grep -oE '(^| )([a-z]+/[A-Za-z0-9_./-]+|Makefile|common|bpf|gpu|tools)( |$)|make [^;&]*' |
	sort -u >"$tmp/words"
while read -r word more; do
	case $word in
	make)
		for target in $more; do
			case $target in -* | *=*) continue ;; esac
			grep -q "^$target:" "$tmp/make" || no "make $target"
		done ;;
	*) [ -e "$word" ] || no "$word" ;;
	esac
done <"$tmp/words"
[ "$(wc -l <"$tmp/words")" -gt 40 ] || no "few words"

# rows: the parts in docs/tested.md
rows() { sed '/^```$/,/^```$/!d; /^```$/d; /^part /d; s/ .*//' docs/tested.md; }

it "docs/tested.md has a row for each part, in the same order"
# where it differs: scripts/tested update
parts >"$tmp/want"
rows | diff "$tmp/want" - >"$tmp/out" || no "$(head -n 5 "$tmp/out" | tr '\n' ' ')"

# in a repository of its own
mkdir -p "$repo/scripts" "$repo/docs" "$repo/room" "$repo/other"
cp scripts/tested "$repo/scripts"
cat >"$repo/scripts/parts" <<'END'
# a part, its command, ...
@rooms	room %
@say	cat said; exit "$(cat rc)"

first	@say	@rooms
second	@say	other
third/x	echo 3 passed, 0 failed, 0 skipped; echo '5 passed, 0 failed, 2 skipped'	@all
END
printf 'said\nrc\nleft\n' >"$repo/.gitignore"
echo 1 >"$repo/room/file"
echo 1 >"$repo/other/file"
cd "$repo" || leave
git init -q . && git add . && git commit -qm one

# ends RC WORD...: what the command of the first two says and ends with
ends() {
	echo "$1" >rc
	shift
	printf '%s\n' "$@" >said
}

# row PART: its row, in columns with two or more spaces between
row() { grep "^$1 " docs/tested.md; }

date='20[0-9-]{8} [0-9:]{5}'

# has PART FIELD VALUE
has() { equal "$(row "$1" | awk -F '  +' -v n="$2" '{ print $n }')" "$3"; }
commit() { git add . && git commit -qm more; }
now() { git rev-parse --short=12 HEAD; }

it "parts that never passed are listed in the order of the table"
run scripts/tested list
status 0
equal "$(cut -f1 "$tmp/out" | tr '\n' ' ')" 'first second third/x '
lines 3 "$tab-$tab-$tab-\$"

it "a pass is recorded with its commit, date and counts, and then comes last"
ends 0 'x' '11 passed, 0 failed, 3 skipped' 'after the counts'
run scripts/tested run first
status 0
equal "$(tail -n 1 "$tmp/out")" '11 passed, 0 failed, 3 skipped'
lines 1 '^after the counts$'
has first 3 "$(now)"
has first 4 '11/0/3'
has first 6 passed
has first 5 no
row first | grep -qE '^first  +20[0-9]{2}-[01][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]  ' || no "no date"
has second 2 -
run scripts/tested list
equal "$(cut -f1 "$tmp/out" | tr '\n' ' ')" 'second third/x first '

it "the oldest pass is listed first"
scripts/tested run second third/x >"$tmp/out" 2>&1 || no "$(tail -n 1 "$tmp/out")"
sed -i -E "s/^(second +)$date/\12001-02-03 04:05/; s/^(third.x +)$date/\12001-02-03 04:04/" docs/tested.md
run scripts/tested list
equal "$(cut -f1 "$tmp/out" | tr '\n' ' ')" 'third/x second first '
lines 1 "^second${tab}2001-02-03 04:05$tab$(now)${tab}no\$"

it "what is recorded stays when the table is written again, in the order of scripts/parts"
cp docs/tested.md "$tmp/before"
run scripts/tested update
status 0
cmp -s docs/tested.md "$tmp/before" || no "it changed"
sed -i '/^second/d' scripts/parts
printf 'zero\t@say\tother\nsecond\t@say\tother\n' >>scripts/parts
scripts/tested update
equal "$(rows | tr '\n' ' ')" 'first third/x zero second '
has second 4 '11/0/3'
git checkout -q scripts/parts
scripts/tested update

it "rooms that changed since are named, docs/tested.md is none of them"
commit
echo 2 >room/file
commit
scripts/tested update
has first 5 yes
has second 5 no
has third/x 5 yes
run scripts/tested list
lines 1 "^first$tab.*${tab}yes\$"
git revert --no-edit HEAD >/dev/null 2>&1
scripts/tested update
has first 5 no
has third/x 5 no
sed -i "/^second /s/$(git rev-parse --short=12 HEAD~3)/0123456789ab/" docs/tested.md
scripts/tested update
has second 5 unknown

# passes PART: its last pass
passes() { row "$1" | awk -F '  +' '{ print $1, $2, $3, $4 }'; }

# not_passed PART WHY: it is recorded beside the last pass
not_passed() {
	passes "$1" >"$tmp/was"
	run scripts/tested run "$1"
	status 1
	passes "$1" | diff "$tmp/was" - >/dev/null || no "the last pass is another one"
	row "$1" | awk -F '  +' '{ print $6 }' | grep -qxE "$2" || no "not '$2': $(row "$1")"
	grep -qF "tested: not passed: $1" "$tmp/out" || no "the part is not named"
}

it "a failure is shown beside the last pass"
ends 0 '7 passed, 2 failed, 0 skipped'
not_passed first "failed on $(now), $date: 7/2/0"
ends 1 '7 passed, 0 failed, 0 skipped'
not_passed first "failed on $(now), $date: 7/0/0"
ends 0 '0 passed, 0 failed, 13 skipped'
not_passed first "skipped on $(now), $date: 0/0/13"
ends 0 '9 tests passed'
not_passed first "failed on $(now), $date: no counts"
equal "$(tail -n 1 "$tmp/out")" '0 passed, 1 failed, 0 skipped'

it "the first failure of a part that never passed is shown, too; a pass removes it"
sed -i '/^second /d' docs/tested.md
scripts/tested update
ends 3 '7 passed, 2 failed, 0 skipped'
not_passed second "failed on $(now), $date: 7/2/0"
has second 3 -
ends 0 '17 passed, 0 failed, 0 skipped'
run scripts/tested run second third/x
status 0
has second 4 '17/0/0'
has second 6 passed
equal "$(tail -n 1 "$tmp/out")" '22 passed, 0 failed, 2 skipped'

it "one of several parts fails: the others run, and it is named"
ends 1 '7 passed, 2 failed, 0 skipped'
run scripts/tested run first third/x
status 1
lines 1 '^tested: not passed: first$'
equal "$(tail -n 1 "$tmp/out")" '12 passed, 2 failed, 2 skipped'
has third/x 6 passed

it "a tree with changes is refused, and one that changes meanwhile not recorded"
commit
ends 0 '19 passed, 0 failed, 0 skipped'
echo 3 >other/file
fails 2 'tested: uncommitted changes' scripts/tested run first
git checkout -q other
: >room/new
fails 2 'tested: uncommitted changes' scripts/tested run first
rm room/new
printf 'odd\techo 4 >room/file; cat said\troom\nodder\tgit commit -q --allow-empty -m x; cat said\troom\n' >>scripts/parts
commit
for part in odd odder; do
	run scripts/tested run $part
	status 1
	says "tested: $part: the tree changed during the run"
	git checkout -q room
done
! grep -qF '19/0/0' docs/tested.md || no "it is recorded"

it "mistakes are named"
fails 2 "tested: no part 'fourth'" scripts/tested run second fourth
lines 0 ''
fails 2 'tested run PART' scripts/tested
fails 2 'tested run PART' scripts/tested walk
run scripts/tested run
status 1
echo 'third	column' >>scripts/parts
fails 2 'scripts/parts:10: expected part, command and rooms' scripts/tested list
cd "$top" || leave
