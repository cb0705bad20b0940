# shellcheck shell=sh disable=SC2154 # rc: the words'
# How many instructions of a stub of --attach inject a call takes: tests/bench/steps.c counts them exactly, whatever else the
# machine does, where nanoseconds are measured by tests/bench only.
steps="$O/bench/steps $O/bench/caller $lib"
clocksource=/sys/devices/system/clocksource/clocksource0/current_clocksource

# counted N COMMAND...: the program's calls of that name, N of them, each with its instructions: in the stub, and in all
counted() {
	echo "step $1 $2" >"$tmp/in"
	shift 2
	run "$@" <"$tmp/in"
	status 0
	grep -E '^[0-9]+ [0-9]+$' "$tmp/out" >"$tmp/counts"
}

# at_most INSTRUCTIONS CALL TOOL [OPTION]...: the least of eleven calls, as now and then one reads the kernel's clock; at least
# half of that, or the program did not run
at_most() {
	ceiling=$1 call=$2
	shift 2
	counted "$call" 11 "$@" --attach inject -c "$steps"
	silent
	[ "$(wc -l <"$tmp/counts")" -eq 11 ] || no "$(wc -l <"$tmp/counts") calls are counted, not 11"
	least=$(sort -n "$tmp/counts" | sed 's/ .*//;q')
	[ "$least" -le "$ceiling" ] || no "$least instructions, not $ceiling at most"
	[ "$least" -ge $((ceiling / 2)) ] || no "$least instructions, not $((ceiling / 2)) at least"
}

it "a call of a program that is not traced takes the same number of instructions each time, and none in a stub"
# shellcheck disable=SC2086 # words
counted drvcopy 11 $steps
[ "$(sort -u "$tmp/counts" | grep -c '^0 ')" -eq 1 ] || no "not the same each time"
[ "$(wc -l <"$tmp/counts")" -eq 11 ] || no "$(wc -l <"$tmp/counts") calls are counted, not 11"

# Where the clock is the kernel's, its code is called, which differs between kernels; other machines have other instructions.
if [ "$machine" != x86 ] || ! grep -qx tsc $clocksource; then
	it "a call takes as few instructions in the stub as it did"
	skip "the ceilings are for the counter of x86-64 as the clock"
	leave
fi

# The ceilings leave a sixth to other compilers.
it "a launch that is counted takes at most 440 instructions in the stub"
at_most 440 drvlaunch cudalaunchtop -b

it "a copy takes at most 980 at its entry and return"
at_most 980 drvcopy cudamemcpysize

long || leave

it "a copy by the runtime takes at most 1320, with the driver's inside"
at_most 1320 copy cudamemcpysize

it "a wait takes at most 970 at its entry and return"
at_most 970 drvwait cudasynclatency

it "an allocation and its free, each sent as a record, take at most 2920, with the driver's inside"
at_most 2920 alloc cudaleak -C

it "an allocation and its free, each printed, take at most 3700, with the driver's inside"
at_most 3700 alloc cudatrace -o /dev/null
