# shellcheck shell=sh
# 23 allocations and 7 frees: primes, so that a count that is right is right for the reason.

for kind in session multi perf; do
	it "--attach $kind sees each call once, as text"
	run cudamallocsnoop --attach $kind --layer runtime -c "$bin/mem malloc 23 4096 free 7"
	status 0
	lines 23 ' cudaMalloc +alloc device +4096 0x[0-9a-f]+ +[0-9.]+ ok$'
	lines 7 ' cudaFree +free +device +4096 0x[0-9a-f]+ +[0-9.]+ ok$'
	lines 31 ''
	silent
done
