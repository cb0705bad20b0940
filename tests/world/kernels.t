# shellcheck shell=sh disable=SC2154 # the words'
# Some of the kernels that `make check-kernels` boots; the results there are the tests here.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

it "Linux 6.1 and 6.12 are tried, and 6.12 locked down"
run make -s -j2 "O=$O" static
status 0
scripts/check-kernels 6.1 6.12 6.12,lockdown=confidentiality >"$tmp/out" 2>"$tmp/err"
[ -s "$O/kernels/results" ] || no "without a result"
verdict

while IFS='	' read -r kernel title verdict why_not; do
	it "Linux $kernel: $title"
	case $verdict in
	skip) skip "$why_not" ;;
	FAIL) no "$why_not" ;;
	esac
done <"$O/kernels/results"
