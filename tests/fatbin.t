# shellcheck shell=sh disable=SC2154,SC2086
# CUDA's containers of images: those that nvcc writes in each of its modes, and broken ones.
data=tests/data/fatbin
fatbin=$bin/fatbin
# fatbinary takes comments and indents out
sed -E 's|//.*||; s/^\t//' $data/scale.ptx >"$tmp/scale"

# images LINE...: these are in the first container of $file, whatever their sizes
images() {
	run "$fatbin" list "$file"
	status 0
	printf '%s\n' "$@" >"$tmp/want"
	grep -v '^container' "$tmp/out" | sed -E 's/ [1-9][0-9]* *$//; s/ [1-9][0-9]* / /; s/ *$//' | cmp -s "$tmp/want" - ||
		no "$file has $(tr '\n' ';' <"$tmp/out")"
}

it "each way of compressing is read"
for mode in none size speed default; do
	file=$data/$mode.fatbin
	case $mode in
	none) images 'elf sm_75 plain' 'ptx sm_75 plain' ;;
	size) images 'elf sm_75 zstd' 'ptx sm_75 zstd' ;;
	speed) images 'elf sm_75 plain' 'ptx sm_75 lz4' ;;
	default) images 'elf sm_75 plain' 'ptx sm_75 zstd' ;;
	esac
	"$fatbin" text "$file" 75 | cmp -s "$tmp/scale" - || no "$mode: another text"
done

it "what is edited and not changed reads the same, plain and packed"
for mode in none size speed default archs; do
	run "$fatbin" same $data/$mode.fatbin
	lines 1 '^same, plain and packed$'
done

it "a container in the middle of a file is found, and those after it"
{
	head -c 4096 /dev/zero
	cat $data/none.fatbin $data/sass.fatbin
	printf 'P\355U\272 eight'	# the magic alone
} >"$tmp/file"
file=$tmp/file images 'elf sm_75 plain' 'ptx sm_75 plain' 'elf sm_75 zstd'
lines 2 '^container'

# edited SM FILE LINE...: these are in what is edited for a device
edited() {
	run "$fatbin" edit "$data/$2" "$1" "$tmp/edited"
	status 0
	shift 2
	file=$tmp/edited images "$@"
}

it "only the PTX that a device takes is new, and what it cannot run stays"
edited 75 archs.fatbin 'elf sm_80 zstd' 'elf sm_90 zstd' 'ptx sm_75 plain' 'ptx sm_90 zstd'
"$fatbin" text "$tmp/edited" 75 | grep -q '^// edited' || no "nothing new"
edited 80 archs.fatbin 'elf sm_75 zstd' 'elf sm_90 zstd' 'ptx sm_75 plain' 'ptx sm_90 zstd'
edited 89 archs.fatbin 'elf sm_75 zstd' 'elf sm_90 zstd' 'ptx sm_75 plain' 'ptx sm_90 zstd'
edited 90 archs.fatbin 'elf sm_75 zstd' 'elf sm_80 zstd' 'ptx sm_75 zstd' 'ptx sm_90 plain'
"$fatbin" text "$tmp/edited" 75 | grep -q '^// edited' && no "the PTX for sm_75 is new"
edited 120 archs.fatbin 'elf sm_75 zstd' 'elf sm_80 zstd' 'elf sm_90 zstd' 'ptx sm_75 zstd' 'ptx sm_90 plain'
edited 0 archs.fatbin 'ptx sm_75 plain' 'ptx sm_90 plain'

it "PTX for one device alone is taken by that one"
edited 90 specific.fatbin 'ptx sm_75 zstd' 'ptx sm_90a plain'
edited 100 specific.fatbin 'ptx sm_75 plain' 'ptx sm_90a zstd'

it "without PTX that the device can run nothing is changed"
fails 1 'nothing was changed' "$fatbin" edit $data/sass.fatbin 75 "$tmp/edited"
fails 1 'nothing was changed' "$fatbin" edit $data/archs.fatbin 70 "$tmp/edited"

it "packed, it is smaller, and has the same text"
run "$fatbin" edit $data/none.fatbin 75 "$tmp/packed" pack
file=$tmp/packed images 'ptx sm_75 zstd'
"$fatbin" text "$tmp/packed" 75 | sed '$d' | cmp -s "$tmp/scale" - || no "another text"

it "truncated or changed in any bit, it is read without harm"
for mode in size ${LONG:+speed specific}; do
	run "$fatbin" break $data/$mode.fatbin
	status 0
	lines 1 ' have fewer images, 0 not$'
	lines 1 "^$((8 * $(wc -c <$data/$mode.fatbin))) flips$"
done

if long; then
	it "a file of kilobytes that unpacks to gigabytes is read up to 256 MiB"
	"$fatbin" bomb $data/scale.ptx "$tmp/large" 1 257
	fails 0 'large: PTX for sm_75: larger than 256 MiB' cudamemtime --list "$tmp/large"
	"$fatbin" bomb $data/scale.ptx "$tmp/many" 43 101
	run cudamemtime --list "$tmp/many"
	status 0
	lines 2 '^image [12], PTX for sm_75: [1-9][0-9]* places in 1 kernel$'
	lines 2 '^image '
	says "PTX for sm_75: the file's images unpack to more than 256 MiB and 64 times its size"
	run cudamemtime --patch "$tmp/many" "$tmp/patched"
	status 3
	says 'the fat binary at 0x0: '
fi

it "what --patch writes does not grow with the images that are packed in a file"
"$fatbin" bomb $data/scale.ptx "$tmp/many" 101 1
fails 3 '1 fat binary does not fit with probes in: left alone' cudamemtime --patch "$tmp/many" "$tmp/patched"

nvcc=$CUDA/bin/nvcc
[ -x "$nvcc" ] || nvcc=$(command -v nvcc)
it "what nvcc writes in each of its modes is read"
if [ -z "$nvcc" ]; then
	skip "no nvcc"
	leave
fi
cat >"$tmp/scale.cu" <<-'END'
	__global__ void scale(float *x, float by, int n)
	{
		int i = blockIdx.x * blockDim.x + threadIdx.x;
		if (i < n)
			x[i] *= by;
	}
END
# makes FLAG...: into $file, by nvcc
makes() {
	file=$tmp/made
	"$nvcc" -fatbin "$@" -o "$file" "$tmp/scale.cu" 2>"$tmp/err" || no "nvcc $*"
}
both='-gencode arch=compute_75,code=[sm_75,compute_75]'
# shellcheck disable=SC2086 # words
for mode in ${LONG:+none size speed balance} default; do
	makes $both -Xfatbin -compress-mode=$mode
	case $mode in
	none) images 'elf sm_75 plain' 'ptx sm_75 plain' ;;
	size) images 'elf sm_75 zstd' 'ptx sm_75 zstd' ;;
	speed) images 'elf sm_75 plain' 'ptx sm_75 lz4' ;;
	*) images 'elf sm_75 plain' 'ptx sm_75 zstd' ;;
	esac
	"$fatbin" text "$file" 75 >"$tmp/text"
	grep -q '^.visible .entry _Z5scalePffi($' "$tmp/text" && [ "$(tail -c 3 "$tmp/text" | tr -d '\n')" = '}' ] ||
		no "$mode: not the text"
done

it "ptxas takes what is read back of an edited container"
# shellcheck disable=SC2086 # words
makes $both
run "$fatbin" edit "$file" 75 "$tmp/edited"
"$fatbin" text "$tmp/edited" 75 >"$tmp/text.ptx"
run "$CUDA/bin/ptxas" -arch=sm_75 "$tmp/text.ptx" -o "$tmp/cubin"
status 0

long || leave

it "line numbers, debugging, separate compilation, several devices, machine code or LTO alone"
makes -lineinfo -arch=compute_75
images 'ptx sm_75 zstd'
"$fatbin" text "$file" 75 | grep -q '\.loc' || no "no .loc"
makes -G -arch=compute_75
images 'ptx sm_75 zstd debug'
makes -rdc=true -gencode 'arch=compute_75,code=[sm_75,compute_75]'
images 'elf sm_75 zstd' 'ptx sm_75 zstd'
makes -gencode arch=compute_75,code=sm_75 -gencode 'arch=compute_80,code=[sm_80,compute_80]' \
	-gencode arch=compute_90a,code=compute_90a -gencode arch=compute_100f,code=compute_100f
images 'elf sm_75 plain' 'elf sm_80 plain' 'ptx sm_80 zstd' 'ptx sm_90a zstd' 'ptx sm_100f zstd'
run "$fatbin" same "$file"
status 0
makes -rdc=true -gencode arch=compute_75,code=lto_75
images 'lto sm_75 zstd 0 encrypted'
