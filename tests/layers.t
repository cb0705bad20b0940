# shellcheck shell=sh
# Two libraries that both are the driver: libcuda.so.1 is a layer that shares the GPU, or a loader (WSL), and each of its
# functions calls the real one.  A call through both is one call, of every tool, however it attaches.

chmod 755 "$tmp"	# for inject, as another user
mkdir "$tmp/calls" "$tmp/jumps"
nm -D --defined-only "$lib/libcuda.so.1" | awk '$2 == "T" && !/ (_init|_fini)$/ { print "WRAP(" $3 ")" }' >"$tmp/layer.def"
for how in calls jumps; do
	cp "$lib/libcuda.so.1" "$tmp/$how/libcuda.so.1.1"
	siblings=-foptimize-sibling-calls
	[ "$how" = jumps ] || siblings=-fno-optimize-sibling-calls
	$CC -O2 $siblings -w -shared -fPIC -fvisibility=hidden -Wl,-soname,libcuda.so.1 -Wl,-rpath,"\$ORIGIN" -I"$tmp" \
		tests/workloads/layer.c -o "$tmp/$how/libcuda.so.1" -ldl || no "no layer that $how"
done

# words, and what they are in the runtime's or the driver's functions
rt='malloc 23 4096 free 7 copy 13 100 h2d memset 11 64 launch 31 sync 17 streamsync 5'
drv='drvmalloc 23 4096 drvfree 7 drvlaunch 31 drvsync 17'

# sums KEY N: the sum of a key over the objects that have a function
sums() { sum "$2" "select(.func or .kernel) | .$1 // 0"; }

# tests/attach-kinds.t has the other kinds
[ -e "$bin/inject" ] || LONG=1
kinds="${LONG:+session }$([ ! -e "$bin/inject" ] || echo inject)"
for how in calls jumps; do
	for kind in $kinds; do
		through="env LD_LIBRARY_PATH=$tmp/$how"
		it "a layer that $how: cudalaunchtop counts each launch once: $kind"
		run cudalaunchtop --attach "$kind" -jc "$through $bin/mem-drv $drv"
		sum 31 .launches
		run cudalaunchtop --attach "$kind" -jc "$through $bin/mem $rt"
		sum 31 .launches
		run cudalaunchtop --attach "$kind" --layer driver -jc "$through $bin/mem $rt"
		sum 31 .launches

		it "… and with -x also each that fails"
		run cudalaunchtop --attach "$kind" -xjc "$through env SIM_FAIL=cuLaunchKernel:3=1,cuLaunchKernel:5=1 $bin/mem-drv $drv"
		sum 31 .launches 2 .failed
		run cudalaunchtop --attach "$kind" -xjc "$through env SIM_FAIL=cuLaunchKernel:3=1,cuLaunchKernel:5=1 $bin/mem $rt"
		sum 31 .launches 2 .failed

		it "a layer that $how: cudatrace has each call once, and the real driver's with --tree: $kind"
		run cudatrace --attach "$kind" -jS -e memory,launch,sync -c "$through $bin/mem-drv $drv"
		json 1 '.func == "cuLaunchKernel" and .calls == 31' \
			1 '.func == "cuMemAlloc_v2" and .calls == 23' \
			1 '.func == "cuCtxSynchronize" and .calls == 17'
		run cudatrace --attach "$kind" --tree -j -e launch -c "$through $bin/mem-drv $drv"
		json 62 '.func == "cuLaunchKernel"'
		run cudatrace --attach "$kind" -jS -e memory,launch,sync -c "$through $bin/mem $rt"
		json 1 '.func == "cudaLaunchKernel" and .calls == 31'

		it "a layer that $how: cudaleak and cudamallocsnoop have each allocation and free once: $kind"
		for program in "mem-drv $drv" "mem $rt"; do
			run cudaleak --attach "$kind" -qjCc "$through $bin/$program"
			json 1 '.memory == "device" and .bytes >= 16 * 4096' \
				0 '.unknown_frees > 0 or .replaced > 0'
			run cudamallocsnoop --attach "$kind" -qjc "$through $bin/$program"
			json 23 '.op == "alloc" and .size == 4096' \
				7 '.op == "free" and .size == 4096'
		done

		it "a layer that $how: cudamemcpysize and cudasynclatency count each copy and wait once: $kind"
		run cudamemcpysize --attach "$kind" -qjc "$through $bin/mem $rt"
		sum 13 'select(.direction == "HtoD") | .count'
		run cudamemcpysize --attach "$kind" -qjc "$through $bin/mem-drv drvcopy 13 100 h2d"
		sum 13 'select(.direction == "HtoD") | .count'
		run cudasynclatency --attach "$kind" -qjc "$through $bin/mem $rt"
		sum 22 'select(.func) | .count'
		run cudasynclatency --attach "$kind" -qjc "$through $bin/mem-drv $drv"
		sum 17 'select(.func) | .count'

		it "a layer that $how: cudatop has the memory held, each launch, copy and error once: $kind"
		for program in "mem-drv drvmalloc 23 4096 drvfree 7 wait drvlaunch 31 drvcopy 13 100 h2d" \
			"mem malloc 23 4096 free 7 wait launch 31 copy 13 100 h2d"; do
			mkfifo "$tmp/go"
			exec 3<>"$tmp/go"
			fail=SIM_FAIL=cuLaunchKernel:3=1,cuLaunchKernel:5=1
			tool cudatop --attach "$kind" -jc "$through $fail $bin/$program >/dev/null" 100ms <"$tmp/go"
			until_true grep -q "\"held\":$((16 * 4096))," "$tmp/out"
			echo >&3
			wait "$tracer"
			exec 3>&-
			rm "$tmp/go"
			json 0 ".held > $((16 * 4096 + 13 * 100))"
			equal "$(jq -s -c '[.[] | [.launches, .copies, .copied, .errors]] | transpose | map(add)' "$tmp/out")" '[29,13,1300,2]'
			silent
		done
	done
done

it "cudaexporter counts each launch once"
for program in "mem-drv $drv" "mem $rt"; do
	for more in '' ${LONG:+--kernels=3}; do
		# shellcheck disable=SC2086 # no word or one
		run cudaexporter $more --once -c "env LD_LIBRARY_PATH=$tmp/calls $bin/$program"
		equal "$(sed -n 's/^cuda_launches_total{.*} //p' "$tmp/out")" 31
	done
done
