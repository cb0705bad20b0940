# shellcheck shell=sh disable=SC1091,SC2034,SC2086,SC2154 # the words'
# NVIDIA's own runtimes, old and new: without a driver each call fails, and is seen by its name, once.
. tests/clients.sh

for runtime in 11.8:11.0 12.0:12 12.9:12 13.5:13; do
	version=${runtime%:*} so=libcudart.so.${runtime#*:}
	it "CUDA $version: the probes find its functions, and each call is shown with its error"
	if ! client "cudart-$version"; then
		skip "$why_not"
		continue
	fi
	real=$(find "$clients/cudart-$version/lib" -name "$so")
	[ -n "$real" ] || { no "no $so"; continue; }
	# the program's own library would be the simulated one
	printf 'extern int %s();\nint main(void) { void *p; for (int i = 0; i < 23; i++) %s; %s; return 0; }\n' \
		'cudaMalloc(), cudaDeviceSynchronize' 'cudaMalloc(&p, 4096)' 'cudaDeviceSynchronize()' >"$tmp/main.c"
	${CC:-cc} -std=gnu11 -o "$tmp/main" "$tmp/main.c" "$real" -Wl,-rpath,"${real%/*}"
	run cudatrace -qj -e memory,sync -c "$tmp/main"
	json 23 '.func == "cudaMalloc" and .error == "cudaErrorInsufficientDriver" and .ret == 35'
	json 1 '.func == "cudaDeviceSynchronize" and .ret == 35'
	silent
	run cudamallocsnoop -qjx -c "$tmp/main"
	json 23 '.func == "cudaMalloc" and .size == 4096 and .ret == 35'

	it "CUDA $version: every function that it exports is in cuda_protos.tbl, at that version"
	nm -D --defined-only "$real" | sed -n 's/.* T \([^@]*\).*/\1/p' | sort -u >"$tmp/exports"
	awk -v v="$version" 'function n(t,  w) { split(t, w, "."); return w[1] * 1000 + (w[2] == "" ? 990 : w[2] * 10) }
		/^rt / { split($3, r, "-"); if (n(r[1]) > n(v) || (r[2] != "" && n(r[2]) < n(v))) next
			match($0, /[A-Za-z0-9_]+\(/); print substr($0, RSTART, RLENGTH - 1) }' common/api/cuda_protos.tbl |
		sort -u | comm -13 - "$tmp/exports" >"$tmp/diff"
	[ ! -s "$tmp/diff" ] || no "$(wc -l <"$tmp/diff") are not: $(head -n 5 "$tmp/diff" | tr '\n' ' ')"
	[ "$(wc -l <"$tmp/exports")" -gt 300 ] || no 'it exports few'
done
