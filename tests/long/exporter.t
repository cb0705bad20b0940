# shellcheck shell=sh disable=SC2154 # rc: the words'
# cudaexporter in a storm: processes that come and go, too many of them, that die in a call, with names that are hostile,
# and an exporter that is held up.  What it counts is what they did, or is said to be lost, and nothing stays behind.
python=$(PATH=/usr/bin:/bin command -v python3)
# shellcheck source=/dev/null
. tests/own.sh
slow=SIM_LATENCY_US=cuMemAllocManaged=20000000	# the calls to die in last until then

it "what this needs is there"
for program in promtool curl bpftool setpriv iconv; do
	command -v $program >/dev/null && continue
	skip "no $program here"
	leave
done
root=$(grep -s ' cgroup2 ' /proc/mounts | cut -d' ' -f2 | head -n 1)
group=$root/churn$$
mkdir "$group" 2>/dev/null || { skip "no cgroup can be made here"; leave; }

chmod 755 "$tmp"
# with their own libraries: see own() in tests/own.sh
mkdir "$tmp/bin" "$tmp/lib"
cp "$lib/libcuda.so.1" "$lib/libcudart.so.13" "$tmp/lib"
cp "$bin/mem" "$bin/storm" "$bin/jump" "$tmp/bin"
mem=$tmp/bin/mem storm=$tmp/bin/storm

# one that does nothing: all functions of its libraries are probed before others begin
"$mem" sleep 1000000 & pids="$pids $!"

# what runs here is in a cgroup of its own: the exporter sees that alone
was=$root$(sed -n 's/^0:://p' /proc/self/cgroup)
echo $$ >"$group/cgroup.procs"

# soon COMMAND...: tries it for some 30 seconds
soon() {
	tried=$(date +%s)
	until "$@" 2>/dev/null; do
		[ $(($(date +%s) - tried)) -le 30 ] || { no "not soon: $*"; return 1; }
		sleep .1
	done
}

# serve OPTION...: an exporter, until `stop`; its pages are at $url
serve() {
	# programs beside it would make it sample: what it counts is looked at here
	tool cudaexporter --max-overhead off --cgroup "$group" --web.listen-address 127.0.0.1:0 "$@"
	url=$(sed -n 's/.*: listening on //p' "$tmp/err")
	soon curl -sf -o "$tmp/answer" "${url%/metrics}/-/ready"
	maps
}

# scrape [OPTION...]: a page, in $tmp/out
scrape() { curl -sf -m 20 -o "$tmp/out" "$@" "$url"; }

# total REGEX: what the samples of the page whose names and labels match add up to; "none": there are none
total() { grep -v '^#' "$tmp/out" | grep -E -- "$1" | awk '{ n += $NF; any = 1 } END { printf any ? "%.12g" : "none", n }'; }
is() {
	got=$(total "$2")
	[ "$got" = "$1" ] || no "$2 is $got, not $1"
}

# comes N REGEX: a page comes where it is so
shows_total() { scrape && [ "$(total "$2")" = "$1" ]; }
comes() {
	tried=$(date +%s)
	until shows_total "$@" || [ $(($(date +%s) - tried)) -gt 30 ]; do
		sleep .1
	done
	is "$@"
}

# maps: the exporter's, a line each, in $tmp/maps
maps() {
	sed -n 's/^map_id:[[:space:]]*//p' "/proc/$tracer/fdinfo/"* | sort -un | while read -r id; do
		bpftool -j map show id "$id" | jq -r '"\(.id) \(.name)"'
	done >"$tmp/maps"
}

# entries MAP [FILTER]: how many entries of it jq's filter selects
entries() {
	id=$(awk -v "name=$1" '$2 == name { print $1 }' "$tmp/maps")
	bpftool -j map dump id "$id" | jq "[.[] | select(${2:-true})] | length"
}
no_entries() { [ "$(entries "$@")" = 0 ]; }

# nothing_left: what the kernel keeps of processes is gone; in a slot its state comes first, of shares their sum
nothing_left() {
	soon no_entries processes
	soon no_entries export_counts
	soon no_entries export_errors
	soon no_entries export_slots '.value[:8] | any(. != "0x00")'
	soon no_entries .data.export_sh '.value[:8] | any(. != "0x00")'
	soon no_entries .data.export_er '.value[:8] | any(. != "0x00")'
	comes 0 '^cuda_exporter_processes.*state="(traced|over_limit)"'
}

# takes_page: both formats are as strict readers will have them
takes_page() {
	scrape -H 'Accept: application/openmetrics-text; version=1.0.0'
	"$python" tests/openmetrics.py "$tmp/out" >"$tmp/wrong" 2>&1 || no "OpenMetrics: $(head -c 300 "$tmp/wrong")"
	scrape
	"$python" tests/openmetrics.py --text "$tmp/out" >"$tmp/wrong" 2>&1 || no "text: $(head -c 300 "$tmp/wrong")"
	promtool check metrics <"$tmp/out" >"$tmp/wrong" 2>&1 || no "promtool: $(head -c 300 "$tmp/wrong")"
}

# ---- Ten thousand

# crowd N: 14 N processes, half of which exec; each launches 3, copies 5, allocates with the copies' buffers 3, and fails once
crowd() {
	each='malloc 1 64 launch 3 copyasync 5 64 h2d badlaunch 1'
	# shellcheck disable=SC2086 # words
	timeout 120 "$mem" loop "$1" '(' loop 7 '(' fork '(' $each ')' ')' loop 7 '(' forkexec '(' $each ')' ')' join ')'
}

# counted PROCESSES: as many of them
counted() {
	comes $(($1 * 3)) '^cuda_launches_total'
	is $(($1 * 3)) '^cuda_memory_allocations_total'
	is $(($1 * 5)) '^cuda_copy_size_bytes_count'
	is $(($1 * 5 * 64)) '^cuda_copy_size_bytes_sum'
	is "$1" '^cuda_errors_total'
	is 0 '^cuda_exporter_lost_events_total'
}

it "--by comm: ten thousand processes are counted once each, and nothing is left of them"
serve --by comm
crowd 101
counted 1414
nothing_left
before=$(total '^process_resident_memory_bytes') files=$(total '^process_open_fds')
crowd 617
counted 10052
nothing_left
after=$(total '^process_resident_memory_bytes')
[ "$after" -le $((before + 1048576)) ] || no "$before bytes were resident, and $after are now"
# libraries that others have brought have links, too
now=$(total '^process_open_fds')
[ "$now" -le $((files + 500)) ] || no "$files descriptors were open, and $now are now"
is 5026 '^cuda_errors_total.comm="mem"'
is 5026 '^cuda_errors_total.comm="exe"'
takes_page
stop
status 0

# scraped ADDRESS: a page for the Prometheus there
scraped() { scrape --interface "$1" -H 'X-Prometheus-Scrape-Timeout-Seconds: 10'; }

it "by pid: those beyond --max-processes are one series, and those that ended make room"
serve --max-processes 13
crowd 11
counted 154
[ "$(grep -c '^cuda_launches_total' "$tmp/out")" -le 27 ] || no "more have series"	# twice as many, by all users
rest=$(total '^cuda_launches_total.pid="other",comm="other"')
nothing_left
one_left() { scraped 127.0.0.1 && [ "$(grep -c '^cuda_launches_total' "$tmp/out")" -eq 1 ]; }
sleep 25		# they stay for half a minute at least
soon one_left
"$mem" launch 7
comes 7 '^cuda_launches_total.*comm="mem"'
is "$rest" '^cuda_launches_total.pid="other",comm="other"'
stop
says "reached the limit on processes"

# ---- Many at once

many='malloc 3 4k launch 7 copyasync 2 64 h2d'
# many N COMMAND...: N processes that do this and then stay, up to `go`
many() {
	half=$(($1 / 2))
	shift
	# shellcheck disable=SC2086 # words
	program "$@" "$mem" fork '(' loop $half '(' fork '(' $many wait ')' ')' join ')' loop $half '(' fork '(' $many wait ')' ')' join
	soon all_ready $((half * 2))
}
all_ready() { [ "$(grep -c ready "$tmp/ready")" -ge "$1" ]; }
for most in 256 10; do
	it "--max-processes $most and 300 processes at once: all are counted, and each format is right"
	serve --max-processes $most --max-series 20000
	many 300
	comes 2100 '^cuda_launches_total'
	comes 1500 '^cuda_memory_held_allocations'	# records come later than counts on a busy machine
	is 600 '^cuda_copy_size_bytes_count'
	is $most '^cuda_exporter_processes.*state="traced"'
	[ "$(total '^cuda_exporter_processes.*state="over_limit"')" -ge $((300 - most)) ] || no "not as many are over the limit"
	[ "$(grep -c '^cuda_launches_total.pid="[0-9]' "$tmp/out")" -le $most ] || no "more have series"
	takes_page
	go
	nothing_left
	is 2100 '^cuda_launches_total'
	is 1500 '^cuda_memory_allocations_total'
	is none '^cuda_memory_held_allocations'
	stop
done

it "another user who makes 500 processes takes neither the series nor the places of the first"
serve --max-processes 32 --max-series 1000
many 500 setpriv --reuid 65534 --regid 65534 --clear-groups
comes 3500 '^cuda_launches_total'
[ "$(grep -c '^cuda_launches_total.pid="[0-9]' "$tmp/out")" -le 32 ] || no "more have series"
mkfifo "$tmp/mine"
for n in 11 13 17 19 23; do
	"$mem" launch $n malloc $n 64 wait <"$tmp/mine" >"$tmp/first-$n" & pids="$pids $!"
done
exec 7>"$tmp/mine"
comes 3583 '^cuda_launches_total'
lines 5 '^cuda_process_info.*uid="0"'
for n in 11 13 17 19 23; do
	lines 1 "^cuda_launches_total.pid=\"[0-9]+\".* $n\$"
	lines 1 "^cuda_memory_held_allocations.pid=\"[0-9]+\".* $n\$"
done
exec 7>&-
go
nothing_left
stop

# ---- Names

it "names of processes and files are escaped, whatever is in them"
serve --labels pid,comm,exe
odd=$tmp/bin/$(printf 'e"\\x\ny\377\033]0;')
mkdir "$tmp/odd"
ln -s "$tmp/lib" "$tmp/odd/lib"
mkdir "$tmp/odd/$(basename "$odd")"
odd="$tmp/odd/$(basename "$odd")/mem"
cp "$mem" "$odd"
# shellcheck disable=SC2016 # the inner shell is to expand it
program sh -c '"$1" rename "$(printf "a\"b\\\\c\nd")" launch 3 wait <&0 &
	exec 3<&0; "$2" rename "$(printf "\377\303(\033[2J")" launch 5 wait <&3' sh "$mem" "$odd"
comes 8 '^cuda_launches_total'
is 3 '^cuda_launches_total.*comm="a\\"b\\\\c\\nd"'
is 5 '^cuda_launches_total.*comm="\\\\xff\\\\xc3\(\\\\x1b\[2J",exe="/.*e\\"\\\\x\\ny\\\\xff\\\\x1b\]0;/mem"'
! LC_ALL=C grep -q "[$(printf '\001-\037\177-\377')]" "$tmp/out" || no "there are bytes that are not printable"
takes_page
go
stop

# ---- Threads, and calls that do not return

it "64 threads at once on a few CPUs: every launch, copy, wait and error"
serve --by comm
"$mem" loop 64 '(' thread '(' launch 1009 copyasync 503 64 h2d copy 251 64 d2h sync 17 badlaunch 7 ')' ')' join
comes 64576 '^cuda_launches_total'
is 48256 '^cuda_copy_size_bytes_count'
is 16064 '^cuda_copy_duration_seconds_count'
is 1088 '^cuda_sync_duration_seconds_count'
is 448 '^cuda_errors_total'
is 0 '^cuda_exporter_lost_events_total'
nothing_left
stop

# allocates CALLS LOST COMMAND...: the calls of this are counted, and as many lost
allocates() {
	calls=$1 lost=$2
	shift 2
	serve --by comm
	timeout 60 env "$@" >"$tmp/did"
	comes "$calls" '^cuda_memory_allocations_total'
	is "$lost" '^cuda_exporter_lost_events_total.*never_returned'
	is "$lost" '^cuda_exporter_lost_events_total'
	comes none '^cuda_calls_running.* [1-9][0-9]*$'
	nothing_left
	stop
}

it "exec in place, a hundred times: each program's calls"
allocates 303 0 "$storm" replaced 101 3

it "vfork and exec"
allocates 303 0 "$storm" vforks 101 7 3

it "processes that all have one pid, one after another"
allocates 303 0 "$storm" reused 101 3

it "threads that end in a call: it is lost"
allocates 51 17 $slow "$storm" dying 17 3

it "threads that are in a call while another one execs: they are lost"
allocates 18 5 $slow "$storm" usurped 5 3

it "a process that is killed in a call: it is neither counted nor lost"
allocates 51 0 $slow "$storm" killed 17 3

it "calls that are left by longjmp are lost"
allocates 13 7 SIM_LATENCY_US=cudaMalloc=200000 "$tmp/bin/jump" 7 13

it "an exporter that comes while calls are in flight counts none of them, and one that comes later only what follows"
SIM_LATENCY_US=cuCtxSynchronize:1=6000000 program "$mem" thread '(' sync 1 ')' launch 7 wait launch 11 wait launch 13 wait
serve
echo >&3
comes 11 '^cuda_launches_total'
stop
serve
echo >&3
comes 13 '^cuda_launches_total'
is 1 '^cuda_process_info.*complete="0"'
is none '^cuda_sync_duration_seconds_count'
is 0 '^cuda_exporter_lost_events_total'
go
stop

# ---- The exporter is held up

it "an exporter that is stopped in a storm says what it lost, goes on, and has no process that is gone"
serve --by comm
kill -STOP "$tracer"
# shellcheck disable=SC2086 # words
$another "$storm" calls 300007
"$storm" forks 1009 4 2 >"$tmp/did"
"$mem" launch 7
kill -CONT "$tracer"
scrape
all_there() { scrape && [ $(($(total '^cuda_memory_allocations_total') + $(total '^cuda_exporter_lost.*ring_buffer'))) -eq 302025 ]; }
soon all_there
[ "$(total '^cuda_exporter_lost.*ring_buffer')" -gt 1000 ] || no "nothing was lost"
comes 7 '^cuda_launches_total'	# the record that names the process may be one of those
nothing_left
"$storm" calls 101
comes "$(($(total '^cuda_memory_allocations_total') + 101))" '^cuda_memory_allocations_total'
stop

# ---- Readers

sample() { scraped "$1" && equal "$(total '^cuda_launches_total')" "$2"; }
it "each reader's first sample of a counter is 0, unless it comes after others, and each gets its last value before it goes"
serve
program "$mem" wait launch 7 wait launch 4 wait
for reader in 1 1 2 2; do sample 127.0.0.$reader none; done
echo >&3
comes 7 '^cuda_launches_total'	# of no reader
sample 127.0.0.1 0
sample 127.0.0.1 7
sample 127.0.0.2 0
sample 127.0.0.2 7
sample 127.0.0.3 7	# it may be an old one that has a new address
echo >&3
comes 11 '^cuda_launches_total'
go
nothing_left
is 11 '^cuda_launches_total'
for _ in 1 2 3 4; do scraped 127.0.0.1; done
sample 127.0.0.1 11
sample 127.0.0.2 11
both_gone() { scraped 127.0.0.1 && scraped 127.0.0.2 && [ "$(total '^cuda_launches_total')" = none ]; }
sleep 25
soon both_gone
stop

# ---- The end

# server: the process that speaks HTTP
server() {
	# shellcheck disable=SC2013 # words of one line
	for child in $(cat "/proc/$tracer/task/$tracer/children"); do
		! tr '\0' '\n' <"/proc/$child/cmdline" 2>/dev/null | grep -qx cudaexporter-server || echo "$child"
	done
}

# code mem|file: of the libraries of $pid, as it is in its memory, or in their files
code() {
	grep ' r-xp .*/lib/libcuda' "/proc/$pid/maps" | while IFS='- ' read -r from to _ _ offset _ _ path; do
		source=/proc/$pid/mem at=$((0x$from / 4096))
		[ "$1" = mem ] || source=$path at=$((0x$offset / 4096))
		dd "if=$source" bs=4096 skip=$at count=$(((0x$to - 0x$from) / 4096)) 2>/dev/null | od -An -tx1 -v
	done | cksum
}
has_breakpoints() { [ "$(code mem)" != "$(code file)" ]; }
has_none() { ! has_breakpoints; }
is_gone() { ! kill -0 "$1"; }

# bpf_programs: those that the exporter holds; are_gone ID...: the kernel has none of them, and so nothing calls them
bpf_programs() { sed -n 's/^prog_id:[[:space:]]*//p' "/proc/$tracer/fdinfo/"* | sort -un; }
are_gone() { for id; do ! bpftool prog show id "$id" >"$tmp/program" || return 1; done; }

for signal in TERM KILL; do
	it "no breakpoint, no BPF program and no server is left after SIG$signal"
	program "$mem" malloc 1 64 wait malloc 2 64 wait
	others=$(has_none || echo "trace it")	# then there are theirs
	serve -p "$pid"
	soon has_breakpoints
	server=$(server) programs=$(bpf_programs)
	[ -n "$server" ] || no "there is no server"
	[ -n "$programs" ] || no "there are no programs"
	stop $signal
	# shellcheck disable=SC2086 # words
	soon are_gone $programs
	[ -n "$others" ] || soon has_none
	soon is_gone "$server"
	go || no "the program's status is $?"
done

# ---- Privileges

it "another user with the five capabilities of the unit counts as much, and its server has none"
if setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$O/cudaexporter"; then
	few=+bpf,+perfmon,+checkpoint_restore,+sys_ptrace,+dac_read_search
	tool setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs --bounding-set=-all,$few \
		--inh-caps=-all,$few --ambient-caps=-all,$few cudaexporter --by comm --cgroup "$group" \
		--web.listen-address 127.0.0.1:0
	url=$(sed -n 's/.*: listening on //p' "$tmp/err")
	crowd 1
	counted 14
	equal "$(awk '/^CapEff|^Seccomp:/ { print $2 }' "/proc/$(server)/status" | tr '\n' ' ')" '0000000000000000 2 '
	stop
	status 0
else
	skip "other users cannot run the programs in $O"
fi

# ---- All is gone

it "nothing that ran here is left"
echo $$ >"$was/cgroup.procs"
rmdir "$group" || no "the cgroup is in use"
