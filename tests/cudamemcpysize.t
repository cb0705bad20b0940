# shellcheck shell=sh
# shellcheck source=/dev/null
light
. tests/own.sh

# group N DIRECTION ASYNC COUNT BYTES: N objects have these values
group() {
	json "$1" ".direction == \"$2\" and .async == $3 and .count == $4 and .bytes == $5"
}

# whole: each histogram adds up to its count
whole() {
	jq -e -s 'all((.hist // .hist_ns // .hist_bytes_per_s | map(.[2]) | add // 0) == .count)' \
		"$tmp/out" >/dev/null || no "a histogram is not its count"
}

# totals: the output, added up by direction
totals() {
	jq -rs 'group_by([.direction, .async])[] |
		"\(.[0].direction) \(.[0].async) \(map(.count) | add) \(map(.bytes) | add)"' \
		"$tmp/out" | sort
}


every='copy 23 4096 h2d copy 23 1000 d2h copy 23 77 d2d copy 23 5 h2h copy 23 300 default
copyasync 23 4096 h2d copyasync 23 1000 d2h copyasync 23 77 d2d copyasync 23 5 h2h
copyasync 23 300 default peer 23 70000'
every=$(echo "$every" | tr '\n' ' ')

${CC:-cc} -std=gnu11 -D_GNU_SOURCE -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	tests/workloads/copies.c "$lib/libcudart.so.13" "$lib/libcuda.so.1" -Wl,-rpath,"$lib" \
	-o "$tmp/copies"

it "23 copies of each direction, synchronous and asynchronous; one that goes through both layers is one"
replayed cudamemcpysize -jc "$bin/mem $every drvcopy 23 50 d2h"
status 0
for async in false true; do
	group 1 HtoD $async 23 $((23 * 4096))
	group 1 DtoD $async 23 $((23 * 77))
	group 1 HtoH $async 23 $((23 * 5))
	group 1 default $async 23 6900
done
group 1 DtoH false 46 $((23 * 1050))
group 1 DtoH true 23 23000
group 1 PtoP false 23 1610000
json 11 true
whole
silent

words='managed 1 1m host 2 17m register 1 1234567 copy 3 64k h2d copyof host 5 1m d2h copyof register 7 1m h2d
copyof managed 11 1k h2d hostfree 2 unregister 1 copyasync 13 17m d2h copy 17 100 d2d copy 19 100 default'
words=$(echo "$words" | tr '\n' ' ')
for how in '' '--attach multi' '--attach inject' '-k --layer driver'; do
	it "--host: memory that was allocated, registered or freed is pinned or not, and pageable copies have a time $how"
	# shellcheck disable=SC2086 # words
	run cudamemcpysize $how --host -jc "$bin/mem $words"
	json 1 '.direction == "HtoD" and (.async | not) and .host == "pageable" and .count == 3' \
		1 '.direction == "DtoH" and .host == "pinned" and .count == 5 and .total_ns == null' \
		1 '.direction == "HtoD" and .host == "pinned" and .count == 7' \
		1 '.direction == "HtoD" and .host == "managed" and .count == 11' \
		1 '.direction == "DtoH" and .async and .host == "pageable" and .count == 13 and .total_ns > 0 and .bytes_per_s > 0' \
		1 '.direction == "DtoD" and .host == null and .count == 17' \
		0 '.host == "unknown" and .direction != "default"'
	silent
done
run cudamemcpysize --host -c "$bin/mem copyasync 3 4096 d2h host 1 4096 copyof host 5 16 d2h"
lines 1 '^DtoH, asynchronous, pageable; not asynchronous, as the driver stages it: .* at .*B/s$' \
	1 '^DtoH, asynchronous, pinned; time and bandwidth unknown: the calls may return before the copy is done$'

it "--host: a copy whose direction the driver finds out has pinned memory on either side"
cat >"$tmp/default.c" <<'END'
int cudaMalloc(void **, unsigned long), cudaMallocHost(void **, unsigned long), cudaMemcpyAsync(void *, const void *, unsigned long, int, void *);
int main(void)
{
	enum { DEFAULT = 4 };
	static char pageable[64];
	void *device, *host;

	if (cudaMalloc(&device, 64) || cudaMallocHost(&host, 64))
		return 1;
	for (int i = 0; i < 7; i++)
		cudaMemcpyAsync(host, device, 64, DEFAULT, 0);
	for (int i = 0; i < 5; i++)
		cudaMemcpyAsync(device, host, 64, DEFAULT, 0);
	for (int i = 0; i < 3; i++)
		cudaMemcpyAsync(device, pageable, 64, DEFAULT, 0);
}
END
${CC:-cc} -w "$tmp/default.c" "$lib/libcudart.so.13" -Wl,-rpath,"$lib" -o "$tmp/default"
run cudamemcpysize --host -jc "$tmp/default"
json 1 '.host == "pinned" and .count == 12' 1 '.host == "unknown" and .count == 3'

it "--host: of memory that a process had before tracing it is not known, what it allocates then is"
program "$bin/mem" host 1 64k copyof host 1 16 h2d wait copyof host 3 16 h2d copyasync 5 64 h2d hostfree 1 host 1 64k copyof host 7 16 h2d
tool cudamemcpysize --host -jp "$pid"
echo >&3
exec 3>&-
wait "$pid"
stop
json 1 '.host == "unknown" and .count == 8' 1 '.host == "pinned" and .count == 7' 0 '.host == "pageable"'

for how in '' '--stacks --unwind fp'; do
	it "every copying function and memset, every variant, batches: 23 of each $how"
	# shellcheck disable=SC2086 # words
	run env SIM_DEVICES=2 cudamemcpysize --attach session $how --memset -jc "$tmp/copies 23 >$tmp/want"
	sort "$tmp/want" >"$tmp/sorted"
	totals | diff "$tmp/sorted" - >"$tmp/diff" || no "$(tr '\n' ' ' <"$tmp/diff")"
	[ "$(wc -l <"$tmp/want")" -eq 14 ] || no "the program fails"
	whole
	silent
done

it "a batch of more pieces than can be summed up is reported"
run cudamemcpysize --attach session -jc "$tmp/copies 0 524288"
group 1 default true 1 524288
silent
run cudamemcpysize --attach session -jc "$tmp/copies 0 524289"
group 1 default true 1 524288
json 1 '.lost == 1'
says "1 copy batch too long to sum up: bytes are missing"

chmod 755 "$tmp"	# for inject, as another user
# its runtime of CUDA 12 or 13, as a library and linked in: the stream is the ninth argument or the eighth
for major in 12 13; do
	mkdir "$tmp/$major"
	echo "libcudart.so.$major { global: *; };" >"$tmp/$major/map"
	$CC -DMAJOR=$major -DRUNTIME -shared -fPIC -Wl,-soname,libcudart.so.$major -Wl,--version-script="$tmp/$major/map" \
		tests/workloads/batch.c -o "$tmp/$major/libcudart.so.$major"
	$CC -DMAJOR=$major -DPROGRAM tests/workloads/batch.c "$tmp/$major/libcudart.so.$major" -Wl,-rpath,"$tmp/$major" \
		-o "$tmp/batch-$major"
	$CC -DMAJOR=$major -rdynamic tests/workloads/batch.c -o "$tmp/linked-$major"
done
for major in 12 13; do
	for kind in $command_kinds; do
		it "a batch copy of CUDA $major is in its stream, with all of its 1009 or 65,537 copies: $kind"
		for n in 1009 65537; do
			run cudamemcpysize --attach "$kind" --per-stream -jc "$tmp/batch-$major $n"
			json 1 ".stream == \"0x5500\" and .count == 3 and .bytes == $((3 * 8 * n * (n + 1) / 2))" \
				1 true
			silent
		done
	done
	it "… also if that runtime is linked in: $major"
	run cudamemcpysize --attach session --per-stream -jc "$tmp/linked-$major 1009"
	json 1 ".stream == \"0x5500\" and .count == 3 and .bytes == $((3 * 8 * 1009 * 1010 / 2))"
done

it "memsets are counted only with --memset"
replayed cudamemcpysize -jc "$bin/mem memset 23 4096 copy 7 100 h2d drvmemset 5 64"
json 1 '.direction == "HtoD" and .count == 7' 1 true
replayed cudamemcpysize --memset -jc "$bin/mem memset 23 4096 copy 7 100 h2d drvmemset 5 64"
group 1 memset false 28 $((23 * 4096 + 5 * 64))
json 2 true

it "failed copies are counted apart, and move no bytes"
replayed cudamemcpysize -jc "env SIM_FAIL=cuMemcpyHtoD_v2:3=1,cuMemcpyHtoD_v2:5=1 $bin/mem copy 23 4096 h2d"
json 1 '.count == 21 and .failed == 2 and .bytes == 86016'
whole
replayed cudamemcpysize -c "env SIM_FAIL=cuMemcpyHtoD_v2=1 $bin/mem copy 23 4096 h2d"
lines 1 '^HtoD, synchronous; 23 calls failed$'
lines 0 COUNT
replayed cudamemcpysize -kjc "env SIM_FAIL=cuMemcpyHtoD_v2:3=1 $bin/mem copy 23 4096 h2d"
json 1 '.count == 22 and .failed == 1 and .min == 4096'

it "smallest, largest, slots: 0 and 1 are in the first, 2 and 3 in the second"
replayed cudamemcpysize -jc "$bin/mem copy 7 4096 h2d copy 5 4095 h2d copy 3 1 h2d copy 2 2 h2d copy 1 3 h2d"
json 1 '.min == 1 and .max == 4096 and .p50 > 3840 and .p50 < 4096 and .p99 == 4096 and .hist == [[0,1,3],[2,3,3],[2048,4095,5],[4096,8191,7]]'

thirds="copy 1009 16k h2d copy 1009 32k h2d copy 1009 48k h2d"
for how in '' '--stacks --unwind fp'; do
	it "percentiles are sizes that copies had: of 16, 32 and 48 KiB in equal parts $how"
	# shellcheck disable=SC2086 # words
	replayed cudamemcpysize $how -jc "$bin/mem loop 1 '(' $thirds ')'"
	json 1 '.count == 3027 and .min == 16384 and .p50 == 32768 and .p95 == 49152 and .p99 == 49152 and .max == 49152 and
		.hist == [[16384,32767,1009],[32768,65535,2018]]'
done
replayed cudamemcpysize -c "$bin/mem $thirds"
lines 1 '^      3027    94\.6 MiB    16\.0 KiB    32\.0 KiB    48\.0 KiB    48\.0 KiB    48\.0 KiB$'

it "… also of more groups than a CPU has room for: 101 processes"
replayed cudamemcpysize -Pjc "for i in \$(seq 101); do $bin/mem $thirds & done; wait"
json 101 '.count == 3027 and .min == 16384 and .p50 == 32768 and .p95 == 49152 and .p99 == 49152 and .max == 49152 and
	.hist == [[16384,32767,1009],[32768,65535,2018]] and .comm == "mem"'
json 101 true
silent

it "… or at most 6 % off, then with ~"
replayed cudamemcpysize -jc "$bin/mem copy 1009 1000 h2d copy 1009 70000 h2d copy 23 2m h2d"
json 1 '.p50 > 70000 * 0.94 and .p50 < 70000 * 1.06 and .p95 > 70000 * 0.94 and .p95 < 70000 * 1.06 and .p99 == 2097152'
replayed cudamemcpysize -c "$bin/mem copy 1009 1000 h2d copy 1009 70000 h2d copy 23 2m h2d"
lines 1 '^      2041   114\.3 MiB  1000 bytes   ~67\.8 KiB   ~67\.8 KiB     2\.0 MiB     2\.0 MiB$'

it "text and JSON agree"
replayed cudamemcpysize -c "$bin/mem copy 23 4096 h2d copy 7 100 h2d copyasync 19 1000 d2h"
lines 1 '^HtoD, synchronous; [0-9.]+ .?s at [0-9.]+ .?B/s$'
lines 1 '^DtoH, asynchronous; time and bandwidth unknown: the calls may return before the copy is done$'
lines 2 '^     COUNT       TOTAL         MIN         P50         P95         P99         MAX$'
lines 1 '^        30    92\.7 KiB   100 bytes     4\.0 KiB     4\.0 KiB     4\.0 KiB     4\.0 KiB$'
lines 1 '^        19    18\.6 KiB  1000 bytes  1000 bytes  1000 bytes  1000 bytes  1000 bytes$'
lines 2 '^      bytes                : count    distribution$'
lines 1 '^         4K -> 8K          : 23       \|\*{40}\|$'
lines 1 '^         64 -> 128         : 7        \|\*{12} {28}\|$'
lines 1 '^        512 -> 1K          : 19       \|\*{40}\|$'
lines 1 '^         1K -> 2K          : 0        \| {40}\|$'
silent

it "synchronous copies have their time and bandwidth, asynchronous ones have none"
replayed cudamemcpysize -jc "$ahead env SIM_LATENCY_US=cuMemcpyHtoD_v2=20000 $bin/mem copy 13 1m h2d copyasync 3 64 d2h"
json 1 '.async == false and .total_ns >= 260000000 and .total_ns < 390000000 and .bytes_per_s > 35000000 and .bytes_per_s <= 52428800' \
	1 '.async and .total_ns == null and .bytes_per_s == null'

it "--time and --bandwidth: histograms of synchronous copies"
replayed cudamemcpysize --time -jc "$ahead env SIM_LATENCY_US=cuMemcpyHtoD_v2=20000 $bin/mem copy 13 1m h2d copyasync 3 64 d2h"
json 1 '.hist_ns == [[16777216,33554431,13]] and .hist == null and .p50 == null and
	.p50_ns >= .min_ns and .p50_ns < .max_ns and .p95_ns == .max_ns and .p99_ns == .max_ns and .min == null and .max == null and
	.min_ns >= 20000000 and .min_ns * 13 < .total_ns and .max_ns * 13 > .total_ns and .max_ns < 33554432'
json 1 true
replayed cudamemcpysize --bandwidth -jc "$ahead env SIM_LATENCY_US=cuMemcpyHtoD_v2=20000 $bin/mem copy 13 1m h2d copyasync 3 64 d2h"
json 1 '.hist_bytes_per_s == [[33554432,67108863,13]] and .p50_bytes_per_s > 33554432 and .p95 == null and
	.min == null and .max == null and .min_bytes_per_s >= 33554432 and .max_bytes_per_s <= 52428800 and
	.min_bytes_per_s < .bytes_per_s and .max_bytes_per_s > .bytes_per_s'
replayed cudamemcpysize --bandwidth -c "$ahead env SIM_LATENCY_US=cuMemcpyHtoD_v2=20000 $bin/mem copy 13 1m h2d"
lines 1 '^  33\.6 MB/s -> 67\.1 MB/s   : 13       \|\*{40}\|$'
lines 1 '^      bandwidth  '
lines 1 '^        13           -   [345][0-9]\.[0-9] MB/s  ~[45][0-9.]+ MB/s   (5[0-9]\.[0-9] MB/s)   \1   \1$'

uneven="$ahead env SIM_LATENCY_US=cuMemcpyHtoD_v2:3=20000,cuMemcpyHtoD_v2:5=70000 $bin/mem copy 13 1m h2d copy 7 3 h2d"
for how in '' '--stacks --unwind fp'; do
	it "… the smallest and largest are of the values in the histogram $how"
	# shellcheck disable=SC2086 # words
	replayed cudamemcpysize --time $how -jc "$uneven"
	json 1 '.count == 20 and .min_ns < 2000000 and .max_ns >= 70000000 and .max_ns < 120000000 and .p50_ns >= .min_ns'
	# shellcheck disable=SC2086 # words
	replayed cudamemcpysize --bandwidth $how -m 1m -jc "$uneven"
	json 1 '.count == 13 and .min_bytes_per_s > 8000000 and .min_bytes_per_s <= 14979657 and .max_bytes_per_s > 200000000'
	# shellcheck disable=SC2086 # words
	replayed cudamemcpysize $how -jc "$uneven"
	json 1 '.count == 20 and .min == 3 and .max == 1048576 and .min_ns == null and .max_bytes_per_s == null'
done
replayed cudamemcpysize --time -jc "env SIM_FAIL=cuMemcpyHtoD_v2=1 $bin/mem copy 5 64 h2d"
json 1 '.failed == 5 and has("min_ns") and .min_ns == null and .max_ns == null and .p99_ns == null'
replayed cudamemcpysize --time -c "$uneven"
lines 1 '^        20 +[0-9.]+ .?s +[0-9.]+ [nu]s +~[0-9.]+ [nu]s +~[0-9.]+ ms +([0-9.]+ ms) +\1$'

it "--direction and --min omit the others, and the calls nested in them"
replayed cudamemcpysize --direction DtoH -jc "$bin/mem $every"
json 2 '.direction == "DtoH" and .count == 23' 2 true
replayed cudamemcpysize -m 1k -jc "$bin/mem copy 23 1023 h2d copy 7 1024 h2d copy 5 1025 d2h"
group 1 HtoD false 7 7168
group 1 DtoH false 5 5125
json 2 true
fails 2 "'up' is not one of" cudamemcpysize --direction up

nth() { echo "cuMemcpyHtoD_v2:$1=20000"; }
some="$ahead env SIM_LATENCY_US=$(nth 2),$(nth 11),$(nth 19),cuMemcpyDtoHAsync_v2=20000 SIM_FAIL=cuMemcpyHtoD_v2:7=1,cuMemcpyHtoD_v2:11=1"
some="$some $bin/mem copy 23 4096 h2d copy 7 1000 d2h copyasync 5 77 d2h copyasync 13 64 h2d"
for how in '' '--stacks --unwind fp'; do
	it "--slower counts slow calls only, failed ones too; an asynchronous copy is slow if its call is $how"
	# shellcheck disable=SC2086 # words
	replayed cudamemcpysize $how --slower 10ms -jc "$some"
	group 1 HtoD false 2 8192
	json 1 '.direction == "HtoD" and .failed == 1 and .total_ns >= 40000000'
	group 1 DtoH true 5 385
	json 1 '.async and .failed == 0 and .total_ns == null' 2 true
	whole
	silent
done

it "… in text, in microseconds, and with histograms of times"
replayed cudamemcpysize --slower 10000 -c "$some"
lines 1 '^HtoD, synchronous; [4-9][0-9.]+ ms at .*; 1 call failed$'
lines 1 '^         2     8\.0 KiB '
lines 1 '^DtoH, asynchronous; '
lines 1 '^         5   385 bytes '
lines 2 '^     COUNT '
replayed cudamemcpysize --slower 10000 --time -jc "$some"
json 1 '.direction == "HtoD" and .hist_ns == [[16777216,33554431,2]]' 1 true
replayed cudamemcpysize --slower 3000ms -jc "$some"
json 0 .

it "-k names the callers, one group each, most bytes first"
replayed cudamemcpysize -kjc "$bin/mem copy 23 4096 h2d copy2d 7 10 10 h2d"
json 2 '.direction == "HtoD"'
jq -se '.[0].stack[0].sym == "do_copy" and .[1].stack[0].sym == "do_copy2d"' "$tmp/out" >/dev/null ||
	no "not the callers"
sum 30 .count
whole
replayed cudamemcpysize -kc "$bin/mem copy 23 4096 h2d"
lines 1 '^        do_copy\+0x[0-9a-f]+ \(.*/mem\)$'
lines 1 '^        main\+0x[0-9a-f]+ \(.*/mem\)$'

if long; then
	it "-p: each interval has its own copies, and they add up to the whole"
	program "$bin/mem" wait loop 29 '(' copy 23 4096 h2d sleep 100 ')' copy 11 64 d2h
	tool cudamemcpysize -jp "$pid" 1
	go
	wait "$tracer"
	rc=$?
	status 0
	sum $((29 * 23)) 'select(.direction == "HtoD").count'
	sum $((29 * 23 * 4096)) 'select(.direction == "HtoD").bytes'
	sum 11 'select(.direction == "DtoH").count'
	[ "$(jq -s 'map(.time) | unique | length' "$tmp/out")" -ge 3 ] || no "fewer than three reports"
	whole
	silent
fi

it "two threads' copies add up"
replayed cudamemcpysize -jc "$bin/mem thread '(' copy 1009 64 h2d ')' thread '(' copy 1009 64 h2d ')' join"
group 1 HtoD false 2018 $((2018 * 64))
whole
silent

it "copies that failed before they reached the driver do not hide the next"
replayed cudamemcpysize -jc "env SIM_FAIL=cudaMemcpy:*=1 $bin/mem copy 23 4096 h2d drvcopy 7 64 h2d"
json 1 '.direction == "HtoD" and .failed == 23 and .count == 7'
