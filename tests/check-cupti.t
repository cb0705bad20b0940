# shellcheck shell=sh disable=SC2154 # the words'
# agent/gputime/cupti.h agrees with NVIDIA's headers, and scripts/check-cupti would see it if it did not.

header=agent/gputime/cupti.h

# there: is there a CUPTI to compare with?
there() {
	run env CUDA="${CUDA:-/usr/local/cuda}" scripts/check-cupti "$@"
	! grep -q skipped "$tmp/out" || { skip "$(sed 's/.*skipped: //' "$tmp/out")"; return 1; }
}

it "the header agrees with the installed CUPTI"
if there; then
	status 0
	lines 1 '^[0-9.]+ +[0-9]+ +agrees  '
fi

# wrong SED MESSAGE: the header with this change differs
wrong() {
	sed "$1" "$header" >"$tmp/wrong.h"
	! cmp -s "$header" "$tmp/wrong.h" || no "'$1' changes nothing"
	run env CUDA="${CUDA:-/usr/local/cuda}" scripts/check-cupti "$tmp/wrong.h"
	status 1
	lines 1 'differs'
	grep -qE "error: .*$2" "$tmp/err" || no "'$1' is not reported as '$2': $(head -c 300 "$tmp/err")"
}

# of the script that checks
long || leave

it "a wrong place, size, value, number of parameters or version is found"
if there; then
	wrong 's/int32_t grid\[3\], block\[3\];/int32_t block[3], grid[3];/' 'grid\[0\]'
	wrong 's/uint64_t completed;/uint32_t completed, more;/' 'completed'
	wrong 's/void \*reserved;/uint32_t reserved, more;/' 'reserved'
	wrong 's/CUPTI_KIND_MEMSET = 2/CUPTI_KIND_MEMSET = 3/' 'CUPTI_KIND_MEMSET'
	wrong 's/CUPTI_COPY_DTOH, CUPTI_COPY_HTOA/CUPTI_COPY_HTOA, CUPTI_COPY_DTOH/' 'CUPTI_COPY_HTOA'
	wrong 's/EACH(RUNTIME, LAUNCHES, 430, 431)/EACH(RUNTIME, LAUNCHES, 432, 433)/' 'RUNTIME.*430'
	wrong 's/uint32_t process, thread;/uint32_t thread, process;/' 'thread'
	wrong 's/(void \*context, uint32_t stream, size_t/(uint32_t stream, size_t/' 'cuptiActivityGetNumDroppedRecords'
	wrong 's/(uint8_t \*buffer, size_t valid, struct/(uint8_t buffer, size_t valid, struct/' 'cuptiActivityGetNextRecord'
	wrong 's/ROW(\(1[0-9]*\), \(2[0-9]*\), /ROW(\1, 232, /; s/ROW(1303, 232/ROW(1303, 240/; s/ROW(1304, 232/ROW(1304, 240/' 'size of kernel'
	wrong 's/CUPTI_OLDEST = CUPTI_11_8/CUPTI_OLDEST = CUPTI_13_5/' 'version outside'
fi

it "it agrees with the newest CUPTI of each CUDA from 11.8 on"
if there --wheels; then
	if [ "$rc" != 0 ] && grep -q 'pip cannot download it' "$tmp/err" && ! grep -q differs "$tmp/out"; then
		skip "$(grep -m 1 pip "$tmp/err")"
	else
		status 0
		lines 16 '^1[1-3]\.[0-9] +[0-9]+ +agrees  '
	fi
fi
