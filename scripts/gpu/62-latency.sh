# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# Does dep measure a known latency, and how wrong are fence and simple?
# shellcheck shell=sh disable=SC2034,SC2086,SC2154
limit=120
believes=gpu/memtime_hist.gpu.c

q 8
has inside latency || return
alone chase 4096 128
known=$said
figure 'a load of a pointer chase through 512 KiB: cycles by the kernel itself' "$known"
for scheme in dep fence paper; do
	look cudamemtime -K chase --scheme $scheme -- "$inside" chase 4096 128
	cycles=$(mean "$load")
	case $scheme in
	dep) low=$((known * 7 / 10)) high=$((known * 13 / 10 + 30)) words="about $known" ;;
	*) low=$((known * 7 / 10)) high=1000000 words="$known or more" ;;
	esac
	only "$scheme: cycles of a load, 4,096 loads" "$words; 4096" "$cycles; $(sum "$load" count)" \
		"$([ "$(between "$low" "$cycles" "$high")" = yes ] && yes_if [ "$(sum "$load" count)" -eq 4096 ])"
done
# not of a chase, whose next load cannot be issued before this one is there
look cudamemtime -K sum -- "$inside" sum 1 4096
cycles=$(mean "$load")
look cudamemtime -K sum --scheme simple -- "$inside" sum 1 4096
only 'simple: loads of a sum; 256 of 32 lanes' "far below the $cycles by dep; 256" \
	"$(mean "$load"); $(sum "$load" count)" \
	"$([ "$(between 0 "$(mean "$load")" $((cycles / 2)))" = yes ] && yes_if [ "$(sum "$load" count)" -eq 256 ])"
[ -z "$sim" ] || return
alone chase 4096 32768
far=$said
look cudamemtime -K chase -- "$inside" chase 4096 32768
is 'dep: through 128 MiB' "about $far, more than $known" "$(mean "$load")" \
	"$(between "$((far * 7 / 10))" "$(mean "$load")" "$((far * 13 / 10 + 30))")"
