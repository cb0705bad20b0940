# shellcheck shell=sh disable=SC2154 # the words'
# The simulated CUPTI (tests/sim/cupti.c), which the tests of GPU time stand on: records, exact times, and each of its faults.

kernel=10 copy=1 set=2 overhead=17 peer=22 graphs=51

# cupti WORD...: tests/workloads/cupti.c with the simulated CUPTI 13; FAULT=…
cupti() { run env SIM_CUPTI="${FAULT-}" "$bin/cupti" "$lib/libcupti.so.13" "$@"; status 0; }

# shows LINE...: the output has each, once
shows() {
	for line; do
		[ "$(grep -cxF "$line" "$tmp/out")" = 1 ] || no "no '$line'"
	done
}

# nothing_else: no record was odd, out of order, dropped or unreadable
nothing_else() { shows 'odd 0' 'order 0' 'dropped 0' 'ends 0' 'beyond 0'; }

it "each kernel, copy and memset gives a record with its exact time"
export SIM_KERNEL_NS='_Z3foov=13,_Z3barv=101,1000'
cupti enable $kernel enable $copy enable $set enable $peer kernel 1009 _Z3foov streams 31 _Z3barv kernel 7 _Z3foovx \
	copy 11 17 back 5 19 beside 3 23 set 37 8 flush
unset SIM_KERNEL_NS
shows 'version 130001' 'kernel _Z3foov 1009 13117 7 32' 'kernel _Z3barv 31 3131 7 32' 'kernel _Z3foovx 7 7000 7 32' \
	'copy 1 11 5500 187' 'copy 2 5 2500 95' 'peer 0 1 3 1500 69' 'set 37 7400 296' 'nodes 0'
nothing_else

it "only enabled kinds give records, from when they are enabled until they are disabled"
cupti kernel 11 early enable $kernel kernel 13 seen copy 3 8 set 5 8 disable $kernel kernel 17 late enable $set set 7 8 flush
shows 'kernel seen 13 13000 7 32' 'set 7 1400 56'
lines 0 'early|late|copy'
nothing_else

it "a launch of a graph gives a record for each of its nodes"
cupti enable $kernel enable $copy enable $set graph 13 7 inside graph 3 5 inside flush
shows 'kernel inside 106 106000 7 32' 'copy 1 16 8000 1024' 'set 16 3200 1024' 'nodes 16'
nothing_else

it "with graph trace it gives a single one, and goes on so when that is disabled"
cupti enable $kernel enable $copy enable $graphs graph 13 7 inside kernel 3 outside flush
shows 'graph 13 100100' 'kernel outside 3 3000 7 32' 'nodes 0'
lines 0 'inside|copy'
nothing_else
cupti enable $kernel enable $graphs disable $graphs graph 13 7 inside kernel 3 outside flush
shows 'kernel outside 3 3000 7 32'
lines 0 'inside|graph'
cupti enable $kernel enable $graphs finalize enable $kernel graph 13 7 inside flush
shows 'kernel inside 91 91000 7 32'

it "graphs whose kernels run give the same records"
export SIM_KERNELS=1
cupti enable $kernel enable $copy enable $set kernel 11 outside graph 13 7 inside flush
unset SIM_KERNELS
shows 'kernel outside 11 11000 7 32' 'kernel inside 91 91000 7 32' 'copy 1 13 6500 832' 'set 13 2600 832' 'nodes 9'
nothing_else

it "records have the size of the version"
for version in 18 20 21 22 26 28 130000 130101 130301 130401 130500 139900; do
	FAULT=version=$version cupti enable $kernel enable $copy enable $set enable $peer kernel 101 foo copy 11 17 beside 3 23 \
		set 37 8 flush
	shows "version $version" 'kernel foo 101 101000 7 32' 'copy 1 11 5500 187' 'peer 0 1 3 1500 69' 'set 37 7400 296'
	nothing_else
done
run "$bin/cupti" "$lib/libcupti.so.12" enable $kernel kernel 7 foo flush
shows 'version 28' 'kernel foo 7 7000 7 32'

it "full buffers are delivered without a flush, also with a flush period, and others are not"
cupti most 7 enable $kernel kernel 1009 foo await 144
shows 'kernel foo 1008 1008000 7 32'
nothing_else
cupti period 1 buffer 1600 enable $kernel kernel 1009 foo await 144
shows 'kernel foo 1008 1008000 7 32'
nothing_else
cupti most 7 enable $kernel kernel 1009 foo flush
shows 'kernel foo 1009 1009000 7 32'
FAULT=late cupti most 7 enable $kernel kernel 101 foo
lines 0 'kernel'
FAULT=late cupti most 7 enable $kernel kernel 101 foo flush
shows 'kernel foo 101 101000 7 32'
nothing_else

it "records without a buffer are dropped, and counted"
cupti buffer 0 enable $kernel kernel 101 foo buffer 65536 kernel 13 bar flush
shows 'dropped 101' 'kernel bar 13 13000 7 32'
lines 0 'kernel foo'
FAULT=nobuffer cupti enable $kernel kernel 101 foo flush
shows 'dropped 101'
lines 0 'kernel'
FAULT=drop=13 cupti enable $kernel kernel 101 foo flush
shows 'dropped 13' 'kernel foo 88 88000 7 32'

it "what CUPTI can refuse, it refuses"
FAULT=refuse cupti enable $kernel kernel 101 foo flush
shows 'CUPTI_ERROR_UNKNOWN of enable'
lines 0 'kernel'
FAULT=refuse=35 cupti enable $kernel
shows 'CUPTI_ERROR_INSUFFICIENT_PRIVILEGES of enable'
FAULT=subscribed cupti subscribe
shows 'CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED of subscribe'
cupti subscribe subscribe finalize subscribe
shows 'CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED of subscribe'
cupti enable $kernel enable 3
shows 'CUPTI_ERROR_NOT_COMPATIBLE of enable'
cupti enable 55
shows 'CUPTI_ERROR_INVALID_KIND of enable'
cupti hw
shows 'CUPTI_ERROR_NOT_SUPPORTED of hw'
FAULT=hw cupti hw
lines 0 'hw'
FAULT=hw,version=24 cupti hw
shows 'CUPTI_ERROR_NOT_SUPPORTED of hw'

it "a slow enabling is an overhead"
FAULT=slow=31,drop=3 cupti enable $overhead enable $kernel enable $copy kernel 101 foo flush
shows 'dropped 3' 'kernel foo 100 100000 7 32'
FAULT=slow=31 cupti enable $overhead enable $kernel kernel 101 foo flush
lines 1 '^overhead 1 '
shows 'kernel foo 101 101000 7 32'

it "hostile records come between right ones"
FAULT=hostile cupti enable $kernel kernel 1009 foo flush
shows 'kernel foo 1009 1009000 7 32' 'odd 865' 'ends 144' 'beyond 48' 'dropped 0' 'order 0'

it "without a driver CUPTI has a version and enables nothing"
if [ -x /usr/bin/python3 ]; then
	# beside no simulated driver
	cp "$lib/libcupti.so.12" "$lib/libcupti.so.13" "$tmp"
	for library in libcupti.so.12:28:15 libcupti.so.13:130001:999; do
		run /usr/bin/python3 -c "
import ctypes
cupti, version = ctypes.CDLL('$tmp/${library%%:*}'), ctypes.c_uint()
print(cupti.cuptiGetVersion(ctypes.byref(version)), version.value, cupti.cuptiActivityEnable($kernel))"
		status 0
		equal "$(tr ' ' ':' <"$tmp/out")" "0:${library#*:}"
	done
else
	skip "no /usr/bin/python3"
fi

it "cuInit() loads the library of CUDA_INJECTION64_PATH once, also if that calls cuInit()"
run env CUDA_INJECTION64_PATH="$lib/libinjected.so" "$bin/mem" malloc 3 64
status 0
lines 1 '^injected, cuInit\(\) 0$'
run env CUDA_INJECTION64_PATH="$lib/libinjected.so" "$bin/mem-static" malloc 3 64 malloc 5 64
status 0
lines 1 '^injected, cuInit\(\) 0$'

it "it passes over one that cannot be loaded in silence"
run env CUDA_INJECTION64_PATH="$tmp/none.so" "$bin/mem" malloc 3 64
status 0
lines 0 .
silent
run env CUDA_INJECTION64_PATH="$lib/libnvidia-ml.so.1" "$bin/mem" malloc 3 64
status 0
lines 0 .
silent
