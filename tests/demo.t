# shellcheck shell=sh disable=SC2154 # rc: the words'
it "the demo finds its leak"
run scripts/demo
status 0
lines 14 ' cudaMalloc +alloc device '
lines 2 '^leaky: 7 of 7 results right$'
lines 1 ' 7 allocations not freed'
lines 1 ' cache_result.*\+0x'

it "the demo works for who may not trace, too"
if ! setpriv --reuid 65534 --clear-groups true 2>/dev/null || ! setpriv --reuid 65534 test -x "$O/cudaleak"; then
	skip "another user cannot reach the tools here"
else
	run setpriv --reuid 65534 --clear-groups scripts/demo
	status 0
	lines 1 '^Found: 7 allocations that are never freed, made below cache_result\(\)\.$'
fi
