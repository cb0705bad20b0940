# shellcheck shell=sh disable=SC2154 # the words'
# A new root of Debian 13, in which scripts/setup alone installs: the demo, and tests of what depends on its versions.
# `make check-roots` has all tests, and other releases.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

it "in a new root of trixie"
if unshares -m; then
	rm -f "$O/roots/results"
	ROOTS_TESTS='tests/cudabt.t tests/cudaleak.t tests/cudatrace.t tests/cudatrace-args.t tests/static.t' \
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
