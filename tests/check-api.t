# shellcheck shell=sh
# The tables agree with NVIDIA's headers and libraries, and scripts/check-api would see it if they
# did not: each of these mistakes is found, in its line.

CUDA=${CUDA:-/usr/local/cuda}
table=common/api/cuda_api.tbl

# wrong SED MESSAGE: the table with this change is refused
wrong() {
	sed "$1" "$table" >"$tmp/wrong.tbl"
	! cmp -s "$table" "$tmp/wrong.tbl" || no "'$1' changes nothing"
	run env CUDA="$CUDA" scripts/check-api "$tmp/wrong.tbl"
	status 1
	cat "$tmp/out" "$tmp/err" >"$tmp/both"
	grep -qE "wrong.tbl:[0-9]+: .*$2|wrong.tbl:[0-9]+:[0-9]+: .*$2" "$tmp/both" ||
		no "'$1' is not reported as '$2': $(head -c 300 "$tmp/both")"
}

it "functions and probes are found by their names, whatever others there are"
{ cat "$table"; printf 'usdt alloc  pytorch:%s(ptr, dev, size) memory=tensor\n' oom alloc_more segment; } >"$tmp/more.tbl"
LC_ALL=C awk -f arch/x86/place.awk -f scripts/gen_api.awk "$tmp/more.tbl" >"$tmp/out"
sed -n 's/^CUDA_API_BY_NAME(\(.*\))$/\1/p; s/^CUDA_API_BY_NAME(pytorch_/&/p' "$tmp/out" | sed '/(/d; s/^pytorch_/pytorch:/' >"$tmp/names"
[ "$(grep -c '^pytorch:' "$tmp/names")" = 5 ] || no 'not all probes are there'
LC_ALL=C sort -c "$tmp/names" 2>"$tmp/err" || no "$(cat "$tmp/err")"

it "a mistake in a row's words is found when building, with file and line"
for change in 's/cudaFree(ptr)/cudaFree(pointer)/' 's/memory=managed/memory=manged/' '/cudaFree(ptr)/p' \
	's/^rt  free /run free /' 's/\(cudaMemcpy(.*\)+ptds/\1+pdts/' 's/^rt  sync /rt  sink /'; do
	sed "$change" "$table" >"$tmp/wrong.tbl"
	run awk -f scripts/gen_api.awk -f arch/x86/place.awk "$tmp/wrong.tbl"
	status 1
	grep -qE 'wrong.tbl:[0-9]+: ' "$tmp/err" || no "$change: no line"
done

it "a device, place, context, pool or stream that a row leaves out is found when building, unless it says why"
forgets() {
	sed "$1" "$table" >"$tmp/wrong.tbl"
	! cmp -s "$table" "$tmp/wrong.tbl" || no "'$1' changes nothing"
	run awk -f scripts/gen_api.awk -f arch/x86/place.awk "$tmp/wrong.tbl"
	status 1
	line=$(diff "$table" "$tmp/wrong.tbl" | sed -n '1s/[^0-9].*//p')
	grep -qE "wrong.tbl:$line: '$2" "$tmp/err" || no "$1: $(head -n 2 "$tmp/err")"
}
forgets 's/cuMemCreate(\*handle, size, location@8/cuMemCreate(*handle, size, _/' "_' of cuMemCreate is a location"
forgets 's/cudaMemPoolImportPointer(\*ptr, pool/cudaMemPoolImportPointer(*ptr, _/' "_' of cudaMemPoolImportPointer is a pool"
forgets 's/cuCtxCreate_v3(\*ctx, _, _, _, dev/cuCtxCreate_v3(*ctx, _, _, _, _/' "_' of cuCtxCreate_v3 is a dev"
forgets 's/cuGreenCtxStreamCreate(\*stream, ctx/cuGreenCtxStreamCreate(*stream, _/' "_' of cuGreenCtxStreamCreate is a ctx"
forgets 's/\(cudaMemsetAsync(dst, _, size, \)stream/\1_/' "_' of cudaMemsetAsync(_ptsz)? is a stream"
forgets 's/\(cudaMemcpyPeerAsync(dst, \)to, src, from/\1_, src, _/' "_' of cudaMemcpyPeerAsync is a dev"
forgets 's/\(cudaMemcpyBatchAsync@12(dst, src, size, count, \).*)/\1...)/' "\.\.\.' of cudaMemcpyBatchAsync(_ptsz)?@12 is a stream"
forgets 's/\(cudaMemPrefetchAsync@12(ptr, size, \)dev/\1_/' "_' of cudaMemPrefetchAsync(_ptsz)?@12 is a dev"
forgets 's/\(cuMemPrefetchAsync(ptr, size, \)dev/\1_/' "_' of cuMemPrefetchAsync(_ptsz)? is a dev"
forgets 's/\(cuMemAdvise_v2(ptr, size, advice, \)location/\1_/' "_' of cuMemAdvise_v2 is a location"
forgets 's/\(cudaMemAdvise(ptr, size, \)advice/\1_/' "_' of cudaMemAdvise is a advice"
forgets 's/\(cuMemPrefetchBatchAsync(_, size, count, \)location@0/\1_/' "_' of cuMemPrefetchBatchAsync(_ptsz)? is a location"
forgets 's/\(cudaMemDiscardBatchAsync(_, size, count, _, \)stream/\1_/' "_' of cudaMemDiscardBatchAsync(_ptsz)? is a stream"
sed 's/cuMemCreate(\*handle, size, location@8, _)/cuMemCreate(*handle, size, _, _) unused=for-a-test/' "$table" >"$tmp/right.tbl"
run awk -f scripts/gen_api.awk -f arch/x86/place.awk "$tmp/right.tbl"
status 0

it "a form that older runtimes have, with such an argument elsewhere, is missed when building"
sed '/cudaMemPrefetchAsync@12/d' "$table" >"$tmp/wrong.tbl"
run awk -f scripts/gen_api.awk -f arch/x86/place.awk "$tmp/wrong.tbl"
status 1
line=$(grep -n ' cudaMemPrefetchAsync(' "$table" | cut -d: -f1)
grep -q "wrong.tbl:$line: no row for cudaMemPrefetchAsync@12," "$tmp/err" || no "$(head -n 2 "$tmp/err")"

it "without CUDA it says that it checked nothing"
run env CUDA=/nonexistent scripts/check-api
status 0
lines 1 '^check-api: skipped: no CUDA headers in /nonexistent/include$'

it "new-tool makes a tool of each class: scripts/templates/classes.tbl has a row for it"
scripts/new-tool --help | sed -n 's/^Classes.*: //p' | tr ' ' '\n' | sort >"$tmp/known"
sed -n 's/^\([a-z]*\) *|.*/\1/p' scripts/templates/classes.tbl | sort >"$tmp/rows"
[ "$(wc -l <"$tmp/known")" -gt 10 ] || no "few classes: $(cat "$tmp/known")"
equal "$(cat "$tmp/rows")" "$(cat "$tmp/known")"

# of the script that checks
long || leave

it "wrong arguments are found against the headers"
if [ ! -e "$CUDA/include/cuda.h" ]; then
	skip "there is no CUDA in $CUDA"
else
	wrong 's/cuMemcpyHtoD_v2(dst, src/cuMemcpyHtoD_v2(src, dst/' 'is parameter'
	wrong 's/cudaHostAlloc(\*ptr, size, _)/cudaHostAlloc(*ptr, size)/' 'has 3 parameters'
	wrong 's/cudaLaunchKernel(func, grid, block/cudaLaunchKernel(func, _, _/' ''
	wrong 's/_:64/_:56/' ''
	wrong 's/size@24/size@16/' ''
	wrong 's/\(cuMemPoolCreate(\*pool, location\)@8/\1@16/' 'location is not at byte 16'
	wrong 's/\(cuMemPrefetchBatchAsync(.*\)locations/\1_/' "'_' is parameter '.* numPrefetchLocs' of"
	wrong 's/cudaGetFuncBySymbol(\*func, stub/cudaGetFuncBySymbol(*func, _/' "'_' is parameter '.* symbolPtr' of"
	wrong 's/\(cudaMemcpy2DArrayToArray(.*, _, _, \)src/\1_/' "'_' is parameter '.* src' of"
fi

it "the kind of memory is compared with the function's name"
if [ ! -e "$CUDA/include/cuda.h" ]; then
	skip "there is no CUDA in $CUDA"
else
	wrong 's/\(cuMemAllocPitch_v2(.*\)memory=device/\1memory=host/' 'cuMemAllocPitch_v2 has not memory=device'
	wrong 's/\(cuIpcOpenMemHandle(.*\)memory=ipc/\1memory=device/' 'cuIpcOpenMemHandle has not memory=ipc'
	wrong 's/\(cudaFreeAsync(.*\)memory=pool/\1memory=device/' 'cudaFreeAsync has not memory=pool'
fi

it "whether a function returns before the work is done is compared with its variants"
if [ ! -e "$CUDA/include/cuda.h" ]; then
	skip "there is no CUDA in $CUDA"
else
	wrong 's/\(cuLaunchKernel(.*\) async/\1/' 'cuLaunchKernel is not async'
	wrong 's/\(cudaGraphLaunch(.*\) async/\1/' 'cudaGraphLaunch is not async'
	wrong 's/\(cudaMallocAsync(.*\) async/\1/' 'cudaMallocAsync is not async'
	wrong 's/\(cudaMemcpy(.*\)+ptds/\1+ptds async/' 'cudaMemcpy is async'
fi

it "a function or variant that the libraries do not have is found"
if [ ! -e "$CUDA/include/cuda.h" ]; then
	skip "there is no CUDA in $CUDA"
else
	wrong 's/\(cudaMemcpy(.*\)+ptds/\1+ptsz/' 'libcudart has no cudaMemcpy_ptsz'
	wrong 's/cudaMalloc(/cudaMaloc(/' 'libcudart has no cudaMaloc'
fi

it "a function that the table has forgotten is found"
if [ ! -e "$CUDA/include/cuda.h" ]; then
	skip "there is no CUDA in $CUDA"
else
	sed '/cuMemRelease(/d; /cuMulticastCreate(/d; /cuMemAdvise_v2(/d' "$table" >"$tmp/wrong.tbl"
	run env CUDA="$CUDA" scripts/check-api "$tmp/wrong.tbl"
	status 1
	for f in cuMemRelease cuMulticastCreate cuMemAdvise_v2; do
		grep -q "no row for $f," "$tmp/out" "$tmp/err" || no "$f is not missed"
	done
fi

it "an error code that the table lacks is found, and generating the codes again changes nothing"
if [ ! -e "$CUDA/include/cuda.h" ]; then
	skip "there is no CUDA in $CUDA"
else
	sed '/InsufficientDriver/d' common/api/cuda_protos.tbl >"$tmp/wrong.tbl"
	run env CUDA="$CUDA" scripts/check-api "$table" "$tmp/wrong.tbl"
	status 1
	says "wrong.tbl: does not match the headers: run scripts/gen-protos"
	says "> value cudaError 35 cudaErrorInsufficientDriver"
	run env CUDA="$CUDA" scripts/gen-protos
	cmp -s "$tmp/out" common/api/cuda_protos.tbl || no "another common/api/cuda_protos.tbl comes out"
fi

it "a prototype of NCCL's that nccl.h does not have so is found"
if [ ! -e "$CUDA/include/nccl.h" ] || [ ! -e "$CUDA/lib64/libnccl.so.2" ]; then
	skip "there is no NCCL in $CUDA"
else
	sed 's/ncclRecv(void \*recvbuff, size_t count/ncclRecv(void *recvbuff, int count/' common/api/nccl_protos.tbl >"$tmp/wrong.tbl"
	run env CUDA="$CUDA" scripts/check-api "$table" common/api/cuda_protos.tbl "$tmp/wrong.tbl"
	status 1
	says "wrong.tbl: does not match the headers: run scripts/gen-protos --nccl"
	says "> nccl operation"
fi

it "the table agrees with NVIDIA's headers and libraries"
if [ ! -e "$CUDA/include/cuda.h" ]; then
	skip "there is no CUDA in $CUDA"
else
	run env CUDA="$CUDA" scripts/check-api
	status 0
	lines 1 '^check-api: [0-9]+ rows, [0-9]+ symbols agree with CUDA [0-9]+\.[0-9]+'
fi
