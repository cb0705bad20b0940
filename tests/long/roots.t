# shellcheck shell=sh disable=SC2154 # the words'
# A new root of Debian 13, in which scripts/setup alone installs: the demo, and a test of each tool.
# `make check-roots` has all tests, and other releases.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

it "in a new root of trixie"
if unshares -m; then
	rm -f "$O/roots/results"
	ROOTS_TESTS=$(for source in tools/*.c; do printf 'tests/%s.t ' "$(basename "$source" .c)"; done) \
		scripts/check-roots trixie >"$tmp/out" 2>"$tmp/err"
	[ -s "$O/roots/results" ] || no "without a result"
	verdict
fi

while read -r verdict title; do
	it "$title"
	case $verdict in
	skip) skip "${title#*: }" ;;
	FAIL) no "see $O/roots/trixie.log" ;;
	esac
done <"$O/roots/results"
