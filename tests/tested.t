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
lines 0 '^(run 2 of|flaky|ok |not begun)'
long || no "it is not long"
! env | grep -qE '^(AGAIN|BESIDE|JOBS|LONG|RESULTS|UNTIL|V)=' || no "the settings are in the environment"
END
cat >"$tmp/within/inner.t" <<END
it "inner"
! long || no "LONG"
it "which fails"
echo once >>$tmp/within/runs
no "it fails"
END
run env AGAIN=1 LONG=1 V=1 UNTIL=$(($(date +%s) + 1000)) RESULTS=/dev/null LANE_LOCK= "O=$tmp/within" tests/run \
	"$(realpath --relative-to=. "$tmp/within/outer.t")"
status 0
lines 1 '^1 passed, 0 failed, 0 skipped$'
equal "$(cat "$tmp/within/runs")" once

# functions FILE...: a line for each that it declares
functions() { sed -nE 's/^[[:space:]]*([a-z_0-9]+)\(\).*/\1/p' "$@" | sort -u; }

it "no test file declares a function of the same name as one of tests/lib.sh, which would call it"
functions tests/lib.sh >"$tmp/words"
[ "$(wc -l <"$tmp/words")" -gt 40 ] || no "few functions"
for f in tests/*.t tests/long/*.t tests/clients/*.t tests/*.sh; do
	[ "$f" = tests/lib.sh ] || functions "$f" | comm -12 - "$tmp/words" | sed "s|^|$f: |"
done >"$tmp/out"
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

it "each test file that has more with LONG=1, each kernel, suite and clang is a part"
long_ones='(^[[:space:]]*|if |! |\|\| |\$\()long( \|\|| &&|;|$)|\$(command_)?kinds|LONG'
{
	echo quick
	ls tests/long/*.t tests/clients/*.t
	grep -lE "$long_ones" tests/*.t | grep -v '^tests/tested\.t$'
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
[ "$(wc -l <"$tmp/have")" -ge 89 ] || no "few parts"

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
mkdir -p "$repo/scripts" "$repo/docs" "$repo/tests" "$repo/room" "$repo/other"
cp scripts/tested "$repo/scripts"
cat >"$repo/scripts/parts" <<'END'
# a part, its tier, ...
@rooms	room %
@say	cat said; exit "$(cat rc)"

first	check		@say	@rooms
second	check-all	@say	other
third/x	check-world	echo 3 passed, 0 failed, 0 skipped; echo '5 passed, 0 failed, 2 skipped'	@all
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
row() { sed '/^## /q' docs/tested.md | grep "^$1 "; }

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
run scripts/tested list check-all
lines 1 "^second$tab"
lines 1 ''

it "a pass is recorded with its commit, date and counts, and then comes last"
ends 0 'x' '11 passed, 0 failed, 3 skipped' 'after the counts'
run scripts/tested run first
status 0
equal "$(tail -n 1 "$tmp/out")" '11 passed, 0 failed, 3 skipped'
lines 1 '^after the counts$'
has first 2 check
has first 4 "$(now)"
has first 5 '11/0/3'
has first 7 passed
has first 6 no
row first | grep -qE '^first  +check  +20[0-9]{2}-[01][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]  ' || no "no date"
has second 3 -
run scripts/tested list
equal "$(cut -f1 "$tmp/out" | tr '\n' ' ')" 'second third/x first '

it "the oldest pass is listed first"
scripts/tested run second third/x >"$tmp/out" 2>&1 || no "$(tail -n 1 "$tmp/out")"
sed -i -E "s/^(second +check-all +)$date/\12001-02-03 04:05/; s/^(third.x +check-world +)$date/\12001-02-03 04:04/" docs/tested.md
run scripts/tested list
equal "$(cut -f1 "$tmp/out" | tr '\n' ' ')" 'third/x second first '
lines 1 "^second${tab}check-all${tab}2001-02-03 04:05$tab$(now)${tab}no\$"

it "what is recorded stays when the table is written again, in the order of scripts/parts"
cp docs/tested.md "$tmp/before"
run scripts/tested update
status 0
cmp -s docs/tested.md "$tmp/before" || no "it changed"
sed -i '/^second/d' scripts/parts
printf 'zero\tcheck\t@say\tother\nsecond\tcheck\t@say\tother\n' >>scripts/parts
scripts/tested update
equal "$(rows | tr '\n' ' ')" 'first third/x zero second '
has second 5 '11/0/3'
git checkout -q scripts/parts
scripts/tested update

it "rooms that changed since are named, docs/tested.md is none of them"
commit
echo 2 >room/file
commit
scripts/tested update
has first 6 yes
has second 6 no
has third/x 6 yes
run scripts/tested list
lines 1 "^first$tab.*${tab}yes\$"
git revert --no-edit HEAD >/dev/null 2>&1
scripts/tested update
has first 6 no
has third/x 6 no
sed -i "/^second /s/$(git rev-parse --short=12 HEAD~3)/0123456789ab/" docs/tested.md
scripts/tested update
has second 6 unknown

# passes PART: its last pass
passes() { row "$1" | awk -F '  +' '{ print $1, $2, $3, $4, $5 }'; }

# not_passed PART WHY: it is recorded beside the last pass
not_passed() {
	passes "$1" >"$tmp/was"
	run scripts/tested run "$1"
	status 1
	passes "$1" | diff "$tmp/was" - >/dev/null || no "the last pass is another one"
	row "$1" | awk -F '  +' '{ print $7 }' | grep -qxE "$2" || no "not '$2': $(row "$1")"
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
has second 4 -
ends 0 '17 passed, 0 failed, 0 skipped'
run scripts/tested run second third/x
status 0
has second 5 '17/0/0'
has second 7 passed
equal "$(tail -n 1 "$tmp/out")" '22 passed, 0 failed, 2 skipped'

it "one of several parts fails: the others run, and it is named"
ends 1 '7 passed, 2 failed, 0 skipped'
run scripts/tested run first third/x
status 1
lines 1 '^tested: not passed: first$'
equal "$(tail -n 1 "$tmp/out")" '12 passed, 2 failed, 2 skipped'
has third/x 7 passed

it "a tree with changes is refused, and one that changes meanwhile not recorded"
commit
ends 0 '19 passed, 0 failed, 0 skipped'
echo 3 >other/file
fails 2 'tested: uncommitted changes' scripts/tested run first
git checkout -q other
: >room/new
fails 2 'tested: uncommitted changes' scripts/tested run first
rm room/new
printf 'odd\tcheck\techo 4 >room/file; cat said\troom\nodder\tcheck\tgit commit -q --allow-empty -m x; cat said\troom\n' >>scripts/parts
commit
for part in odd odder; do
	run scripts/tested run $part
	status 1
	says "tested: $part: the tree changed during the run"
	git checkout -q room
done
! grep -qF '19/0/0' docs/tested.md || no "it is recorded"

it "flakes are kept with their dates and causes; the third time is a failure"
printf '# FILE: TITLE, cause\ntests/a.t: a title: with | and `more`\tit races | wins\n' >tests/flakes
commit
ends 0 'flaky tests/a.t: a title: with | and `more`' 'flaky tests/b.t: another' '23 passed, 0 failed, 0 skipped' \
	'flaky tests/b.t: another'
run scripts/tested run first
status 0
cp docs/tested.md "$tmp/out"
day=$(date -u +%Y-%m-%d)
lines 1 "^\| \`tests/a.t\` \| a title: with ..? and .more. \| 1 \| $day \| it races .. wins \|\$"
lines 1 "^\| \`tests/b.t\` \| another \| 1 \| $day \| unknown \|\$"
ends 1 'flaky tests/a.t: a title: with | and `more`' '23 passed, 1 failed, 0 skipped'
run scripts/tested run second
cp docs/tested.md "$tmp/out"
lines 1 "^\| .tests/a.t. \| a title.* \| 2 \| $day, $day \|"
ends 0 'flaky tests/a.t: a title: with | and `more`' '23 passed, 0 failed, 0 skipped'
run scripts/tested run second
status 1
says 'tested: second: flaky for the third time: tests/a.t: a title: with | and `more`'
row second | grep -q "failed on .*: 23/0/0; flaky for the third time: 1\$" || no "it passed"
cp docs/tested.md "$tmp/out"
lines 1 "^\| .tests/a.t. \| a title.* \| 3 \|"
lines 1 "^\| .tests/b.t. \| another \| 1 \|"

it "a flake that is not seen fails nothing, and is forgotten when it is mended"
ends 0 '23 passed, 0 failed, 0 skipped'
run scripts/tested run second
status 0
fails 2 "tested: no flake 'tests/c.t: x'" scripts/tested mended 'tests/c.t: x'
run scripts/tested mended 'tests/a.t: a title: with | and `more`'
status 0
cp docs/tested.md "$tmp/out"
lines 0 'tests/a.t'
lines 1 'tests/b.t'
row second | grep -q ' 23/0/0 .* passed$' || no "its results are gone"

it "what tests/run showed is recorded, as the quick tier or a part for each file"
printf 'tests/x.t\tcheck-all\tfalse\troom\ntests/y.t\tcheck-all\tfalse\troom\n' >>scripts/parts
commit
mkdir -p "$tmp/o/tests"
{
	for n in 1 2 3 4 5; do printf 'passed\ttests/x.t\t%s\t\n' $n; done
	printf 'skipped\ttests/x.t\ts\twhy\npassed\ttests/y.t\ta\t\nfailed\ttests/y.t\tb\twhy\n'
	printf 'passed\ttests/z.t\ta\t\nflaky\ttests/x.t\t2\n'
} >"$tmp/o/tests/results"
O=$tmp/o run scripts/tested results files
lines 1 '^tested: not passed: tests/y.t$'
has tests/x.t 5 '5/0/1'
has tests/x.t 7 passed
row tests/y.t | grep -q "failed on $(now), .*: 1/1/0" || no "$(row tests/y.t)"
grep -q '^| `tests/x.t` | 2 | 1 |' docs/tested.md || no "no flake"
printf 'passed\ttests/x.t\ta\t\npassed\ttests/y.t\tb\t\n' >"$tmp/o/tests/results"
O=$tmp/o fails 2 "tested: no part 'quick'" scripts/tested results quick
sed -i 's/^first/quick/' scripts/parts
commit
O=$tmp/o run scripts/tested results quick
has quick 5 '2/0/0'

it "a part without a pass since five landings is old"
run scripts/tested old
status 0
for n in 1 2 3 4 5; do
	[ $n != 3 ] || ends 0 '29 passed, 0 failed, 0 skipped'
	scripts/tested landing
done
# a minute may have begun since it passed
sed -i -E "s/^(quick +[a-z-]+ +)$date/\12099-02-03 04:05/" docs/tested.md
run scripts/tested old
status 1
lines 1 '^tests/y.t$'	# it never passed
sed -i -E "s/^(second +check-all +)$date/\12001-02-03 04:05/" docs/tested.md
run scripts/tested old
lines 1 '^second$'
lines 0 '^quick$'
sed -i -E "s/^(third.x +check-world +)$date/\12001-02-03 04:05/" docs/tested.md
run scripts/tested old
lines 0 '^third'	# of check-world
scripts/tested landing
equal "$(grep -c "^| .[0-9a-f]*. | $day" docs/tested.md)" 5

it "mistakes are named"
fails 2 "tested: no part 'fourth'" scripts/tested run second fourth
lines 0 ''
fails 2 'tested run PART' scripts/tested
fails 2 'tested run PART' scripts/tested walk
run scripts/tested run
status 1
echo 'third	column' >>scripts/parts
fails 2 'scripts/parts:12: expected part, tier, command and rooms' scripts/tested list
cd "$top" || leave
