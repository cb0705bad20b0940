# shellcheck shell=sh disable=SC2016 # for eval
# Times and ages where a process has another clock than the kernel's probes, and where the clock is set.

# time namespaces whose clocks are 11 days ahead, and behind
ahead='unshare -T --monotonic 1000003 --boottime 1000003'
behind='unshare -T --monotonic -100 --boottime -100'

# of_now N: so many objects have a time of the last 90 s, and no other; aged N: so many are 0.3 to 90 s old
of_now() {
	now=$(date +%s)
	json "$1" ".time > $now - 90 and .time < $now + 2" \
		"$1" .time
}
aged() { json "$1" '.oldest_ns > 199000000 and .oldest_ns < 90000000000'; }

for kind in auto inject; do
	it "--attach $kind: the tool and its command in a time namespace"
	unshares -T || continue
	for in in "$ahead" "$behind"; do
		# shellcheck disable=SC2086 # words
		run $in cudaleak --attach="$kind" -jCc "$bin/mem malloc 23 4096 sleep 200"
		status 0
		of_now 1
		aged 1
		# shellcheck disable=SC2086 # words
		run $in cudatrace --attach="$kind" -je cudaMalloc -c "$bin/mem malloc 23 4096"
		of_now 23
	done

	it "--attach $kind: a command's programs in a time namespace, the tool outside"
	unshares -T || continue
	for in in "$ahead" ${LONG:+"$behind"}; do
		run cudaleak --attach="$kind" -jCc "$in $bin/mem malloc 23 4096 sleep 200"
		status 0
		of_now 1
		aged 1
		run cudatrace --attach="$kind" -je cudaMalloc -c "$in $bin/mem malloc 23 4096"
		of_now 23
	done
done

it "a child that fork(2) puts into a time namespace"
if unshares -T && [ -e "$bin/inject" ]; then
	cat >"$tmp/forks.c" <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <sched.h>
		#include <sys/wait.h>
		#include <unistd.h>

		int cudaMalloc(void **p, size_t n);

		static void call(int n)
		{
			void *p;

			while (n--)
				cudaMalloc(&p, 4096);
		}

		int main(void)
		{
			static const char offset[] = "monotonic 1000003 0";
			int fd;

			call(3);
			if (unshare(0x80 /* CLONE_NEWTIME */) || (fd = open("/proc/self/timens_offsets", O_WRONLY)) < 0 ||
			    write(fd, offset, sizeof(offset) - 1) < 0)
				return 1;
			call(5);
			if (!fork()) {
				call(7);
				_exit(0);
			}
			wait(NULL);
			return 0;
		}
	END
	$CC "$tmp/forks.c" -o "$tmp/forks" -L"$lib" -l:libcudart.so.13 -Wl,-rpath,"$lib"
	for kind in auto inject; do
		run cudatrace --attach=$kind -je cudaMalloc -c "$tmp/forks"
		status 0
		of_now 15
	done
fi

it "a running program in a time namespace, by inject/resident.so"
if [ ! -e "$O/inject/resident.so" ]; then
	skip "it is not built"
elif unshares -T; then
	# shellcheck disable=SC2086 # words
	program $ahead env "LD_AUDIT=$O/inject/resident.so" "$bin/mem" malloc 1 64 wait malloc 23 4096 wait
	tool cudatrace --attach=inject -je cudaMalloc -p "$pid"
	echo >&3
	until_true eval '[ "$(grep -c ready "$tmp/ready")" = 2 ]'
	stop
	of_now 23
	exec 3>&-
	wait "$pid"
fi

it "GPU time of a program in a time namespace has the times of its calls"
if unshares -T; then
	run cudatrace --gpu-time --chrome "$tmp/timeline" -c "$ahead $bin/mem launch 101"
	status 0
	jq -c '[.[] | select(.name == "cudaLaunchKernel(mem_kernel)" and .cat == "runtime") | .ts] as $calls |
		.[] | select(.name == "mem_kernel" and .cat == "gpu") | .ts - $calls[0]' "$tmp/timeline" >"$tmp/out"
	json 101 '. >= 0 and . < 60000000'
fi

# step: with it a tool's CLOCK_REALTIME is an hour behind once $tmp/step is there
cat >"$tmp/step.c" <<'END'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *t)
{
	const char *sign = getenv("STEP");
	int r = syscall(SYS_clock_gettime, id, t);

	if (id == CLOCK_REALTIME && sign && !access(sign, F_OK))
		t->tv_sec -= 3600;
	return r;
}
END
$CC -shared -fPIC "$tmp/step.c" -o "$tmp/step.so"
step="env STEP=$tmp/step LD_PRELOAD=$tmp/step.so"

it "the clock is set back while a tool runs: times are of the new one, ages and durations stay"
program "$bin/mem" malloc 23 4096 wait malloc 7 64 wait
# shellcheck disable=SC2086 # words
tool $step cudaleak -T 1 --unwind fp -jp "$pid" --pprof "$tmp/p" 1
echo >&3
until_true grep -q '"count":7,' "$tmp/out"
touch "$tmp/step"
: >"$tmp/out"
until_true grep -q '"count":7,' "$tmp/out"
stop
hour=$(($(date +%s) - 3600))
tail -n 1 "$tmp/out" >"$tmp/last"
mv "$tmp/last" "$tmp/out"
json 1 ".time > $hour - 90 and .time < $hour + 2 and .oldest_ns > 0 and .oldest_ns < 90000000000"
python3 tests/pprof.py "$tmp/p" >"$tmp/out"
json 1 ".time > ($hour - 90) * 1e9 and .time < ($hour + 2) * 1e9 and .duration > 0 and .duration < 90e9"
rm "$tmp/step"
exec 3>&-
wait "$pid"

it "the clock is set back while cudaexporter runs: exemplars of calls before and after have times of the new one"
program "$bin/mem" copy 1 64 h2d wait copy 3 4096 h2d wait copy 5 4096 h2d wait
# shellcheck disable=SC2086 # words
tool $step cudaexporter -p "$pid" --web.listen-address 127.0.0.1:0 --exemplars
address=$(sed -n 's|.*: listening on http://\([^/]*\)/.*|\1|p' "$tmp/err")
scraped() { curl -sf -H 'Accept: application/openmetrics-text' "http://$address/metrics" >"$tmp/out" && grep -q "$1" "$tmp/out"; }
of_exemplars() { sed -n 's/.*copy_size_bytes_bucket.* # .* \([0-9]*\)\.[0-9]*$/\1/p' "$tmp/out"; }
echo >&3
until_true scraped 'copy_size_bytes_count{[^}]*} 3$'
[ "$(of_exemplars)" -gt $(($(date +%s) - 90)) ] || no "before: $(of_exemplars)"
touch "$tmp/step"
scraped .
hour=$(($(date +%s) - 3600))
[ "$(of_exemplars)" -gt $((hour - 90)) ] && [ "$(of_exemplars)" -le $hour ] || no "the earlier call: $(of_exemplars), now is $hour"
echo >&3
until_true scraped 'copy_size_bytes_count{[^}]*} 8$'
[ "$(of_exemplars)" -gt $((hour - 2)) ] && [ "$(of_exemplars)" -le $((hour + 90)) ] || no "the later call: $(of_exemplars), it was $hour"
stop TERM
exec 3>&-
wait "$pid"
