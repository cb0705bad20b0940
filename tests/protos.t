# shellcheck shell=sh
# The prototypes: what the reader makes of common/api/cuda_protos.tbl and nccl_protos.tbl, and what scripts/gen-protos makes
# of NVIDIA's headers, of one version and of several: copies with small changes stand for others.

CUDA=${CUDA:-/usr/local/cuda}
table=common/api/cuda_protos.tbl
nccl_table=common/api/nccl_protos.tbl
number=$(awk '$2 == "CUDA_VERSION" { print $3; exit }' "$CUDA/include/cuda.h" 2>/dev/null)
nccl_number=$(awk '$2 == "NCCL_MAJOR" { n = $3 * 1000 } $2 == "NCCL_MINOR" { n += $3 * 10 } END { print n }' "$CUDA/include/nccl.h" 2>/dev/null)
v=$((${number:-0} / 1000)).$((${number:-0} % 1000 / 10))

machine=$(uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')

# reader TABLE NAME [TABLE]: builds tests/protos/dump.c with these tables, as $tmp/NAME/dump; status in $rc
reader() {
	mkdir -p "$tmp/$2"
	{
		LC_ALL=C awk -f scripts/gen_protos.awk -f arch/x86/place.awk "$1" ${3+"$3"} >"$tmp/$2/cuda_protos.def" &&
			${CC:-cc} -std=gnu11 -iquote common -iquote arch/x86 -iquote "$tmp/$2" -iquote "$O" tests/protos/dump.c \
				common/api/cuda_protos.c -o "$tmp/$2/dump"
	} >"$tmp/out" 2>"$tmp/err"
	rc=$?
}

# functions: those of the headers whose parameters have not changed since, into $tmp/functions.inc
functions() {
	awk -v number="$number" -v nccl="${nccl_number:-0}" '/^(rt|drv|nccl)/ && $2 !~ /^(interop|internal)$/ && $3 ~ /-$/ && !/\(\?\)$/ {
		split($3, since, /[.-]/)
		if (since[1] * 1000 + since[2] * 10 > ($1 == "nccl" ? nccl : number)) next
		match($0, /[A-Za-z0-9_]+\(/)
		print "FUNCTION(" substr($0, RSTART, RLENGTH - 1) ")"
	}' "$table" "$nccl_table" >"$tmp/functions.inc"
}

# places MACHINE CC CXX [EMULATOR]: calls all functions, compiled for the machine
places() {
	mkdir -p "$tmp/$1"
	LC_ALL=C awk -f scripts/gen_protos.awk -f "arch/$1/place.awk" "$table" "$nccl_table" >"$tmp/$1/cuda_protos.def"
	functions
	# shellcheck disable=SC2086 # the compilers may be several words
	$2 -std=gnu11 -iquote common -iquote "arch/$1" -iquote "$tmp/$1" -iquote "$O" -c common/api/cuda_protos.c \
		-o "$tmp/$1/protos.o"
	# shellcheck disable=SC2086
	run $3 -std=c++17 -w -D__CUDA_API_VERSION_INTERNAL -isystem "$CUDA/include" \
		-iquote common -iquote "arch/$1" -iquote "$tmp/$1" -iquote "$tmp" -iquote "$O" \
		tests/protos/abi.cpp "arch/$1/tests/callee.S" "$tmp/$1/protos.o" -o "$tmp/$1/abi"
	status 0
	# shellcheck disable=SC2086 # there may be no emulator
	run $4 "$tmp/$1/abi"
	status 0
	lines 1 "^$(wc -l <"$tmp/functions.inc") functions, [0-9]+ parameters, 0 wrong$"
}

# shows TEXT: that is the whole output
shows() { equal "$(cat "$tmp/out")" "$1"; }

# without WHAT TEST...: skips where the test fails
without() {
	lacks=$1
	shift
	"$@" && return 1
	skip "there is no $lacks"
}

it "the reader gives places, kinds, and what parameters point to"
reader "$table" here "$nccl_table"
status 0
dump=$tmp/here/dump
run "$dump" proto cudaLaunchKernel_ptsz
shows "rt launch cudaLaunchKernel_ptsz 7000-0 cudaError_t enum/4
1 func: void * ptr/8
2 gridDim: dim3 dim3/12
4 blockDim: dim3 dim3/12
6 args: void ** ptr/8 to void * ptr/8
7 sharedMem: size_t uint/8
8 stream: cudaStream_t handle/8"
run "$dump" proto cuMemAllocPitch_v2
shows "drv memory cuMemAllocPitch_v2 11080-0 CUresult enum/4
1 dptr: CUdeviceptr * ptr/8 out to CUdeviceptr ptr/8
2 pPitch: size_t * ptr/8 out to size_t uint/8
3 WidthInBytes: size_t uint/8
4 Height: size_t uint/8
5 ElementSizeBytes: unsigned int uint/4"
run "$dump" proto cudaIpcOpenMemHandle
shows "rt device cudaIpcOpenMemHandle 4010-0 cudaError_t enum/4
1 devPtr: void ** ptr/8 out to void * ptr/8
7 handle: cudaIpcMemHandle_t struct/64
2 flags: unsigned int uint/4"

it "a string that is passed, one that is written, floats, a result in memory"
run "$dump" proto cuDeviceGetName
lines 1 '^1 name: char \* str/8 out$'
run "$dump" proto cuModuleGetFunction
lines 1 '^1 hfunc: CUfunction \* ptr/8 out to CUfunction handle/8$'
lines 1 '^3 name: char \* str/8$'
run "$dump" proto cuGetErrorName
lines 1 '^2 pStr: char \*\* ptr/8 out to char \* str/8$'
run "$dump" proto cuTexRefSetMipmapLevelBias
lines 1 '^0 bias: float float/4$'
run "$dump" proto cudaCreateChannelDesc
lines 1 ' cudaChannelFormatDesc struct/20$'
lines 1 '^2 x: int int/4$'
run "$dump" proto cudaGetErrorString
lines 1 ' char \* str/8$'
run "$dump" proto __cudaPopCallConfiguration
lines 1 '^1 gridDim: dim3 \* ptr/8 out to dim3 dim3/12$'

it "NCCL's functions: an id of 128 bytes on the stack takes no register, what is only read is not stored"
run "$dump" proto ncclCommInitRankConfig
shows "nccl comm ncclCommInitRankConfig 2160-0 ncclResult_t enum/4
1 comm: ncclComm_t * ptr/8 out to ncclComm_t handle/8
2 nranks: int int/4
7 commId: ncclUniqueId struct/128
3 rank: int int/4
4 config: ncclConfig_t * ptr/8 to ncclConfig_t struct/0"
run "$dump" proto ncclReduce
shows "nccl operation ncclReduce 2160-0 ncclResult_t enum/4
1 sendbuff: void * ptr/8
2 recvbuff: void * ptr/8
3 count: size_t uint/8
4 datatype: ncclDataType_t enum/4
5 op: ncclRedOp_t enum/4
6 root: int int/4
7 comm: ncclComm_t handle/8
8 stream: cudaStream_t handle/8"
run "$dump" proto ncclCommGetAsyncError
lines 1 '^2 asyncError: ncclResult_t \* ptr/8 out to ncclResult_t enum/4$'
run "$dump" proto pncclReduce
shows 'not found'
run "$dump" name ncclResult_t 7
shows ncclInProgress
run "$dump" name ncclRedOp_t 5
shows 'no name'

it "every function is found by its name, and no other name"
run "$dump" lost
shows 0
for word in cudaMallo cudaMallocc main cu __cuda nccl ncclReduc ''; do
	run "$dump" proto "$word"
	shows 'not found'
done

it "a function that has changed is known in its older form too"
run "$dump" proto cudaMemAdvise 13000
lines 1 '^4 location: cudaMemLocation struct/8$'
for version in 12999 12040 8000; do
	run "$dump" proto cudaMemAdvise $version
	lines 1 '^rt memory cudaMemAdvise 8000-12999 '
	lines 1 '^4 device: int int/4$'
done
run "$dump" proto cudaMemAdvise 7050
lines 1 '^4 location: '

it "an enum is found by each of its names, a value by number and by name"
for type in CUmemorytype CUmemorytype_enum 'enum CUmemorytype_enum'; do
	run "$dump" name "$type" 2
	shows CU_MEMORYTYPE_DEVICE
done
run "$dump" name cudaError_t 35
shows cudaErrorInsufficientDriver
run "$dump" name CUctx_flags_enum 4
shows CU_CTX_SCHED_BLOCKING_SYNC
run "$dump" name cudaMemcpyKind 5
shows 'no name'
run "$dump" name cudaStream_t 0
shows 'no such type'
run "$dump" value cudaMemcpyDefault
shows 4
run "$dump" value CU_STREAM_CAPTURE_STATUS_INVALIDATED
shows 2
run "$dump" value cudaMemcpy
shows 'no value'

it "a mistake in a row is found when building, with file and line"
for change in 's/^type uint .* size_t$/type unsigned 8 size_t/' '/^type .* size_t$/d' '/^type .* size_t$/p' \
	's/^type enum .* cudaError_t = .*/type enum 4 cudaError_t = cudaEror/' \
	's/^value cudaError 35 /value cudaError 0x23 /' 's/^value cudaError 35 /value cudaEror 35 /' \
	'/^value cudaError 35 /p' 's/^value cudaError_enum 1 .*/&\nvalue cudaError 7777 cudaErrorX 1.0-/' \
	's/^rt  memory/run memory/' \
	's/ cudaMalloc(.*/ cudaMalloc/' 's/cudaMalloc(.*/cudaMalloc(void **devPtr, size_t)/' \
	's/ cudaMalloc(/ zudaMalloc(/' 's/ [0-9.]*-  *cudaError_t cudaMalloc(/ 11 cudaError_t cudaMalloc(/' \
	's/cudaMalloc(.*/cudaMalloc(cudaDeviceProp prop)/' 's/^versions .*/versions 13/'; do
	LC_ALL=C sed "$change" "$table" >"$tmp/wrong.tbl"
	! cmp -s "$table" "$tmp/wrong.tbl" || no "'$change' changes nothing"
	reader "$tmp/wrong.tbl" wrong
	[ "$rc" -ne 0 ] || no "'$change' is not refused"
	grep -qE 'wrong.tbl:[0-9]+: ' "$tmp/err" || no "$change: no line"
done
sed 's/^\(rt  *\)memory\(.* cudaMalloc(\)/\1memroy\2/' "$table" >"$tmp/wrong.tbl"
reader "$tmp/wrong.tbl" wrong
line=$(grep -n ' cudaMalloc(' "$table" | cut -d: -f1)
grep -qE "wrong.tbl:$line:.* error: .*CUDA_GROUP_memroy" "$tmp/err" ||
	no "an unknown group is not reported in its line"

# the compiler takes 17 seconds for a program of all of them
if long; then
	it "arguments are where the compiler puts them, of all functions of the headers of CUDA and NCCL"
	if ! without "CUDA 13 in $CUDA" [ "${number:-0}" -ge 13000 ]; then
		places "$machine" "${CC:-cc}" "${CXX:-c++}" ''
		[ "$(wc -l <"$tmp/functions.inc")" -gt 900 ] || no "there are few functions"
	fi

	it "and where compilers for arm64 put them"
	if ! without "CUDA 13 in $CUDA" [ "${number:-0}" -ge 13000 ] &&
		! without "cross compiler: g++-aarch64-linux-gnu" command -v aarch64-linux-gnu-g++ >/dev/null &&
		! without "qemu-aarch64-static: qemu-user-static" command -v qemu-aarch64-static >/dev/null; then
		places arm64 aarch64-linux-gnu-gcc "aarch64-linux-gnu-g++ -static" qemu-aarch64-static
	fi
fi

it "every function that the libraries export is in the table: over 400, and over 500 of the driver"
if ! without "CUDA in $CUDA" [ -e "$CUDA/lib64/stubs/libcuda.so" ]; then
	sed -nE 's/^(rt|drv) .*[ *]([A-Za-z0-9_]+)\(.*/\1 \2/p' "$table" | sort -u >"$tmp/rows"
	for file in "rt $CUDA/lib64/libcudart.so" "drv $CUDA/lib64/stubs/libcuda.so"; do
		nm -D --defined-only "${file#* }" | sed -nE "s/.* T ([^@]*).*/${file%% *} \1/p"
	done | sort -u >"$tmp/exported"
	equal "$(comm -13 "$tmp/rows" "$tmp/exported")" ''
	[ "$(grep -c ^rt "$tmp/exported")" -gt 400 ] || no "the runtime exports few functions"
	[ "$(grep -c ^drv "$tmp/exported")" -gt 500 ] || no "the driver exports few functions"
	[ "$(grep -c '(?)$' "$table")" -eq 6 ] || no "not six functions without a prototype"
fi

it "every function that libnccl exports is in the table"
if ! without "NCCL in $CUDA" [ -e "$CUDA/lib64/libnccl.so.2" ]; then
	sed -nE 's/^nccl .*[ *]([A-Za-z0-9_]+)\(.*/\1/p' "$nccl_table" | sort -u >"$tmp/rows"
	nm -D --defined-only "$CUDA/lib64/libnccl.so.2" | sed -nE 's/.* [TW] (nccl[A-Z][^@]*).*/\1/p' | sort -u >"$tmp/exported"
	equal "$(comm -13 "$tmp/rows" "$tmp/exported")" ''
	[ "$(wc -l <"$tmp/exported")" -gt 25 ] || no "it exports few functions"
fi

# --- Other versions of CUDA: their headers are read, which takes seconds

long || leave

# other NAME: a copy of CUDA in $tmp/NAME, to be changed
other() {
	mkdir -p "$tmp/$1/include"
	ln -s "$CUDA"/include/* "$tmp/$1/include"
	ln -s "$CUDA/lib64" "$tmp/$1/lib64"
}

# change NAME HEADER SED
change() {
	sed "$3" "$CUDA/include/$2" >"$tmp/changed"
	! cmp -s "$CUDA/include/$2" "$tmp/changed" || no "'$3' changes nothing"
	mv "$tmp/changed" "$tmp/$1/include/$2"
}

# generate CUDA TABLE: into $tmp/out; to TABLE then
generate() {
	run env CUDA="$1" scripts/gen-protos "$2"
	status 0
	cp "$tmp/out" "$2"
}

if [ -e "$CUDA/include/cuda.h" ]; then
	other newer
	change newer cuda.h 's/^#define CUDA_VERSION .*/#define CUDA_VERSION 99010/'
	change newer driver_types.h '/^enum .*cudaMemcpyKind$/i \
enum cudaNews { cudaNewsNone, cudaNewsSome = 7, cudaNewsMore };
s/^    cudaErrorNotYetImplemented .*/    cudaErrorBrandNew = 998,/
s/^\(    cudaMemcpyDefault  *=  *\)4/\16/'
	change newer cuda_runtime_api.h '/ cudaDeviceReset(void);/d
s/ cudaMalloc(void \*\*devPtr, size_t size);/ cudaMalloc(void **devPtr, float share, struct cudaExtent extent, enum cudaNews news);/
/ cudaFree(void \*devPtr);/a \
extern __host__ cudaError_t CUDARTAPI cudaFreeWell(const enum cudaNews *news);'
fi

it "of a newer CUDA the table has what is new, and keeps what is gone, both with versions"
if ! without "CUDA in $CUDA" [ -e "$CUDA/include/cuda.h" ]; then
	generate "$CUDA" "$tmp/old.tbl"
	cp "$tmp/old.tbl" "$tmp/both.tbl"
	generate "$tmp/newer" "$tmp/both.tbl"
	diff "$tmp/old.tbl" "$tmp/both.tbl" | grep '^[<>]' | sort >"$tmp/out"
	shows "< rt  device    $v-     cudaError_t cudaDeviceReset()
< rt  memory    $v-     cudaError_t cudaMalloc(void **devPtr, size_t size)
< value cudaError 31 cudaErrorNotYetImplemented $v-
< value cudaMemcpyKind 4 cudaMemcpyDefault $v-
< versions $v
> rt  device    $v-$v cudaError_t cudaDeviceReset()
> rt  memory    $v-$v cudaError_t cudaMalloc(void **devPtr, size_t size)
> rt  memory    99.1-     cudaError_t cudaFreeWell(const cudaNews *news)
> rt  memory    99.1-     cudaError_t cudaMalloc(void **devPtr, float share, cudaExtent extent, cudaNews news)
> type enum     4 cudaNews
> value cudaError 31 cudaErrorNotYetImplemented $v-$v
> value cudaError 998 cudaErrorBrandNew 99.1-
> value cudaMemcpyKind 4 cudaMemcpyDefault $v-$v
> value cudaMemcpyKind 6 cudaMemcpyDefault 99.1-
> value cudaNews 0 cudaNewsNone 99.1-
> value cudaNews 7 cudaNewsSome 99.1-
> value cudaNews 8 cudaNewsMore 99.1-
> versions $v 99.1"
fi

it "reading a version again changes nothing, nor does it matter which is read first"
if ! without "CUDA in $CUDA" [ -e "$CUDA/include/cuda.h" ]; then
	cp "$tmp/both.tbl" "$tmp/again.tbl"
	for cuda in "$tmp/newer" "$CUDA"; do
		generate "$cuda" "$tmp/again.tbl"
		cmp -s "$tmp/both.tbl" "$tmp/again.tbl" || no "another table after reading $cuda again"
		generate "$cuda" "$tmp/reverse.tbl"
	done
	cmp -s "$tmp/both.tbl" "$tmp/reverse.tbl" || no "another table if the newer version is read first"
fi

it "the reader gives the form of each version, and the newest if none is asked for"
if ! without "CUDA in $CUDA" [ -e "$CUDA/include/cuda.h" ]; then
	reader "$tmp/both.tbl" both
	status 0
	run "$tmp/both/dump" proto cudaMalloc
	shows "rt memory cudaMalloc 99010-0 cudaError_t enum/4
1 devPtr: void ** ptr/8 out to void * ptr/8
0 share: float float/4
7 extent: cudaExtent struct/24
2 news: cudaNews enum/4"
	run "$tmp/both/dump" proto cudaMalloc "$number"
	shows "rt memory cudaMalloc $number-$number cudaError_t enum/4
1 devPtr: void ** ptr/8 out to void * ptr/8
2 size: size_t uint/8"
	run "$tmp/both/dump" proto cudaDeviceReset
	lines 1 "^rt device cudaDeviceReset $number-$number "
	run "$tmp/both/dump" proto cudaFreeWell
	lines 1 '^1 news: cudaNews \* ptr/8 to cudaNews enum/4$'
	run "$tmp/both/dump" name cudaError_t 998
	shows cudaErrorBrandNew
	run "$tmp/both/dump" name cudaError_t 31
	shows cudaErrorNotYetImplemented
	run "$tmp/both/dump" name cudaMemcpyKind 4
	shows cudaMemcpyDefault
	run "$tmp/both/dump" value cudaMemcpyDefault
	shows 6
fi

it "the name of a number is the one that the newest version gives it"
if ! without "CUDA in $CUDA" [ -e "$CUDA/include/cuda.h" ]; then
	sed 's/^value cudaError 998 .*/value cudaError 998 cudaErrorBeforeThat 1.0-2.0\n&/' \
		"$tmp/both.tbl" >"$tmp/named.tbl"
	generate "$tmp/newer" "$tmp/named.tbl"
	grep '^value cudaError 998 ' "$tmp/named.tbl" >"$tmp/out"
	shows 'value cudaError 998 cudaErrorBrandNew 99.1-
value cudaError 998 cudaErrorBeforeThat 1.0-2.0'
fi

it "reading nccl.h again changes nothing; without it that is said"
if ! without "nccl.h in $CUDA" [ -e "$CUDA/include/nccl.h" ]; then
	run env NCCL="$CUDA" CUDA="$CUDA" scripts/gen-protos --nccl
	status 0
	cmp -s "$tmp/out" "$nccl_table" || no "another $nccl_table comes out"
	fails 1 "gen-protos: no nccl.h in $tmp/include" env NCCL="$tmp" CUDA="$CUDA" scripts/gen-protos --nccl
fi

it "a struct that functions take by value cannot have two sizes"
if ! without "CUDA in $CUDA" [ -e "$CUDA/include/cuda.h" ]; then
	other larger
	change larger driver_types.h '/^struct .*cudaExtent$/,/^}/s/^{/{ size_t more;/'
	fails 1 "gen-protos: cudaExtent has 32 bytes in CUDA $v, 24 in the table, which cannot have both" \
		env CUDA="$tmp/larger" scripts/gen-protos
fi

it "headers that are incomplete, or not C, end in a message"
if ! without "CUDA in $CUDA" [ -e "$CUDA/include/cuda.h" ]; then
	other broken
	rm "$tmp/broken/include/cudaProfiler.h"
	fails 1 "gen-protos: no cudaProfiler.h in $tmp/broken/include" \
		env CUDA="$tmp/broken" scripts/gen-protos
	ln -s "$CUDA/include/cudaProfiler.h" "$tmp/broken/include"
	change broken cudaProfiler.h 's/^CUresult/CUresulted/'
	fails 1 "gen-protos: clang cannot read the headers in $tmp/broken/include" \
		env CUDA="$tmp/broken" scripts/gen-protos
	echo 'rt memory' >"$tmp/broken.tbl"
	fails 1 "gen-protos: $tmp/broken.tbl:1: not a row" \
		env CUDA="$CUDA" scripts/gen-protos "$tmp/broken.tbl"
fi
