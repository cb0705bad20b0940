# shellcheck shell=sh disable=SC1091,SC2034,SC2086,SC2154 # rc, pid, tracer: the words'
# NVIDIA's own runtimes, old and new: without a driver each call fails, and every tool sees it by its name, once.
. tests/clients.sh

# cuda_of CLIENT: what its packages have of an installation of CUDA, in $tmp/cuda; $real is the runtime
cuda_of() {
	rm -rf "$tmp/cuda"
	mkdir -p "$tmp/cuda/lib64" "$tmp/cuda/include"
	find "$clients/$1/lib" -path '*/nvidia/*' -type d -name include -exec cp -rsf {}/. "$tmp/cuda/include/" \;
	real=$(find "$clients/$1/lib" -name 'libcudart.so.1*')
	ln -s "$real" "$tmp/cuda/lib64/"
}

# mem_of RUNTIME: tests/workloads/mem.c with that runtime, as $tmp/mem.  The driver is the machine's: none
mem_of() {
	(cd "$O/tests/obj/workloads" && ${CXX:-c++} -o "$tmp/mem" mem.o mem_rt.o mem_copy.o mem_drv.o "$1" \
		-Wl,-rpath,"${1%/*}" -pthread -ldl)
}

for version in 11.8 12.0 12.9 13.5; do
	it "CUDA $version: the tables agree with its headers and with what it exports"
	if ! client "cudart-$version"; then
		skip "$why_not"
		continue
	fi
	cuda_of "cudart-$version"
	run env CUDA="$tmp/cuda" scripts/check-api
	status 0
	lines 1 "^check-api: [0-9]+ rows, [0-9]+ symbols agree with CUDA $version; not in its headers: 0; no .*libcuda"

	it "CUDA $version: every function that it exports is in cuda_protos.tbl, at that version"
	nm -D --defined-only "$real" | sed -n 's/.* T \([^@]*\).*/\1/p' | sort -u >"$tmp/exports"
	awk -v v="$version" 'function n(t,  w) { split(t, w, "."); return w[1] * 1000 + (w[2] == "" ? 990 : w[2] * 10) }
		/^rt / { split($3, r, "-"); if (n(r[1]) > n(v) || (r[2] != "" && n(r[2]) < n(v))) next
			match($0, /[A-Za-z0-9_]+\(/); print substr($0, RSTART, RLENGTH - 1) }' common/api/cuda_protos.tbl |
		sort -u | comm -13 - "$tmp/exports" >"$tmp/diff"
	[ ! -s "$tmp/diff" ] || no "$(wc -l <"$tmp/diff") are not: $(head -n 5 "$tmp/diff" | tr '\n' ' ')"
	[ "$(wc -l <"$tmp/exports")" -gt 300 ] || no 'it exports few'

	it "CUDA $version: every tool sees each call, and that it fails"
	if ldconfig -p | grep -q 'libcuda\.so\.1'; then
		skip "there is a driver"
		continue
	fi
	mem_of "$real"
	run cudatrace -jc "$tmp/mem malloc 23 4096 host 5 64 sync 3"
	json 31 '.ret == 35 and .error == "cudaErrorInsufficientDriver"'
	json 23 '.func == "cudaMalloc" and .args.size == 4096'
	silent
	run cudamallocsnoop -jc "$tmp/mem malloc 23 4096 host 5 64"
	json 28 '.op == "alloc" and .ret == 35 and .error == "cudaErrorInsufficientDriver" and .ptr == null'
	silent
	run cudaleak -jc "$tmp/mem malloc 23 4096 host 5 64"
	json 0 '.count > 0'
	silent
	run cudamemcpysize -jc "$tmp/mem copy 23 4096 h2d copyasync 7 64 d2h"
	json 1 '.direction == "HtoD" and .async == false and .failed == 23 and .count == 0'
	json 1 '.direction == "DtoH" and .async and .failed == 7'
	silent
	run cudasynclatency -jc "$tmp/mem sync 13 streamsync 7"
	json 1 '.func == "cudaDeviceSynchronize" and .count == 13'
	json 1 '.func == "cudaStreamSynchronize" and .count == 7'
	silent
	run cudalaunchtop -xjc "$tmp/mem launch 23 launchex 5"
	equal "$(kernels true)" '28 mem_kernel'
	json 1 '.failed == 28'
	silent
	run cudabt scripts/bt/failures.bt -c "$tmp/mem malloc 23 4096 sync 3"
	lines 1 'cudaMalloc, cudaErrorInsufficientDriver\]: 23$'
done
