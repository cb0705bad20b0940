# shellcheck shell=sh disable=SC2086,SC2154 # words; lib.sh's
words='copy 23 4096 h2d copy 19 1000 d2h copyasync 17 77 d2d'
for how in -j -jk; do
	run cudamemcpysize --attach "$kind" $how -c "$bin/mem $words"
	status 0
	json 1 '.direction == "HtoD" and .async == false and .count == 23 and .bytes == 94208'
	json 1 '.direction == "DtoH" and .async == false and .count == 19 and .bytes == 19000'
	json 1 '.direction == "DtoD" and .async == true and .count == 17 and .bytes == 1309'
	json 3 true
	silent
done
json 3 '.stack[0].sym == "do_copy" or .stack[0].sym == "do_copyasync"'
for how in '--memset -P' --time '--bandwidth -k' '--direction HtoD -m 1k'; do
	loads cudamemcpysize $how
done
