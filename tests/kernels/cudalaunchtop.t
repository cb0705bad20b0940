# shellcheck shell=sh disable=SC2086,SC2154 # words; lib.sh's
if [ -e "$bin/kern" ]; then
	run cudalaunchtop --attach "$kind" -jc "$bin/kern 1009 503"
	status 0
	json 1 '.kernel == "scale" and .launches == 1009 and .grid == [8,1,1]'
	json 1 '.kernel == "fill<int>" and .launches == 503'
	json 2 true
	silent
fi
run cudalaunchtop --attach "$kind" -jkxc "$bin/mem launch 23 badlaunch 7 graph 5"
json 1 '.kernel == "mem_kernel" and .launches == 23 and .failed == 0 and .stack[1].sym == "do_launch"'
json 1 '.launches == 7 and .failed == 7 and .stack[1].sym == "do_badlaunch"'
json 1 '.launches == 15 and .replayed == 15'
silent
run cudalaunchtop --attach "$kind" --gaps -j -- "$bin/mem" loop 13 '(' launch 1 sleep 5 ')'
status 0
json 1 '.type == "gaps" and .gaps == 12'
[ "$kind" = inject ] || json 1 '.state == "off CPU" and .gaps == 12 and any(.stack[]; .sym == "do_sleep")'
loads cudalaunchtop -P
loads cudalaunchtop --gaps
