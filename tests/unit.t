# shellcheck shell=sh disable=SC2154,SC2016 # rc: the words'; jq's variables
# etc/systemd/cudaexporter.service: what it allows is enough to trace, and no more than that.
unit=etc/systemd/cudaexporter.service
setting() { sed -n "s/^$1=//p" "$unit"; }
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"	# it forbids the ptrace(2) of who looks for leaks
caps=$(setting CapabilityBoundingSet | tr 'A-Z ' 'a-z\n' | sed 's/^cap_//')

it "the unit grants five capabilities, as the DaemonSet does"
equal "$(setting AmbientCapabilities)" "$(setting CapabilityBoundingSet)"
equal "$(echo "$caps" | tr '\n' ' ')" 'bpf perfmon checkpoint_restore sys_ptrace dac_read_search '
equal "$(sed -n 's/^ *add: \[\(.*\)\]$/\1/p' etc/kubernetes/daemonset.yaml | tr -d ' ' | tr 'A-Z,' 'a-z\n')" "$caps"

it "systemd has nothing to say about the unit, and rates it better than medium"
if command -v systemd-analyze >/dev/null; then
	sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' "$unit" >"$tmp/cudaexporter.service"
	run systemd-analyze verify --man=no "$tmp/cudaexporter.service"
	status 0
	silent
	run systemd-analyze security --offline=yes --threshold=35 "$tmp/cudaexporter.service"
	status 0
	sed 's/^RestrictNamespaces=.*/Nonsense=yes/' "$unit" >"$tmp/cudaexporter.service"
	run systemd-analyze verify --man=no "$tmp/cudaexporter.service"
	says Nonsense
else
	skip "no systemd-analyze here"
fi

it "the file of defaults is one of variables, and sets ARGS, which the unit runs"
equal "$(sed '/^#/d; /^ARGS="[^"]*"$/d' etc/default/cudaexporter)" ''
equal "$(sed -n 's/^#*\(ARGS\)=.*/\1/p' etc/default/cudaexporter | sort -u)" ARGS
# shellcheck disable=SC2016 # systemd is to expand it
equal "$(setting ExecStart | cut -d' ' -f2-)" '$ARGS'
equal "$(setting EnvironmentFile)" -/etc/default/cudaexporter

reachable() { setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$1" 2>/dev/null; }
it "what the tests run can be reached by other users"
if ! reachable "$bin/mem" || ! unshare -m true 2>/dev/null; then
	skip "other users cannot run the programs in $O, or no mounts are allowed here"
	leave
fi

if ! command -v systemd-analyze >/dev/null; then	# it knows the groups of system calls
	skip "no systemd-analyze here"
	leave
fi

# as_unit CAPS COMMAND...: another user with these capabilities alone, in the unit's view of /proc and /sys, by its filter
as_unit() {
	plus=$(echo "$1" | sed '/^$/d; s/^/,+/' | tr -d '\n')
	shift
	# shellcheck disable=SC2016 # the inner shell is to expand it
	unshare -m sh -c '
		mount -o bind,ro,nosuid /sys /sys && mount --bind /dev/null /proc/kallsyms &&
		mount -o bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys || exit 111
		plus=$1 unit=$2
		shift 2
		exec python3 tests/confine.py "$unit" setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs --bounding-set="-all$plus" \
			--inh-caps="-all$plus" --ambient-caps="-all$plus" "$@"' sh "$plus" "$unit" "$@"
}

# seen CAPS: how much of 18 allocations of another user's program cudaleak sees as the unit would run it
begun_or_gone() { grep -q ': tracing' "$tmp/err" || ! kill -0 "$tracer"; }
seen() {
	program setpriv --reuid 65533 --regid 65533 --clear-groups "$bin/mem" wait malloc 23 4096 free 5
	: >"$tmp/err"
	as_unit "$1" cudaleak -Cj -d 2 >"$tmp/out" 2>"$tmp/err" & tracer=$!
	pids="$pids $tracer"
	until_true begun_or_gone
	go
	wait "$tracer"
	rc=$?
	jq -s --arg pid "$pid" 'map(select(.pid == ($pid | tonumber)).count // 0) | add // 0' "$tmp/out"
}

it "a tool with the unit's capabilities, mounts and calls sees the allocations of another user"
seen "$caps" >"$tmp/seen"
equal "$(cat "$tmp/seen")" 18
status 0

it "the exporter serves what it traces as the unit runs it; the process that serves has no capability"
if command -v cudaexporter >/dev/null && command -v curl >/dev/null; then
	page() { curl -sf "$(sed -n 's/.*listening on //p' "$tmp/err")" >"$tmp/page"; }
	page_has() { page && grep -qE -- "$1" "$tmp/page"; }
	program setpriv --reuid 65533 --regid 65533 --clear-groups "$bin/mem" wait malloc 23 4096 free 5 wait
	tool as_unit "$caps" cudaexporter --web.listen-address 127.0.0.1:0
	until_true page_has "^cuda_process_info.*pid=\"$pid\".*uid=\"65533\""
	echo >&3
	until_true page_has "^cuda_memory_held_allocations.*pid=\"$pid\".* 18\$"
	collector=$(pgrep -P "$tracer" -x cudaexporter || echo "$tracer")
	for p in $(pgrep -P "$collector"); do
		grep -q cudaexporter-server "/proc/$p/cmdline" && grep -xF "$(printf 'CapEff:\t0000000000000000')" "/proc/$p/status"
	done >"$tmp/out"
	lines 1 CapEff
	kill -INT "$collector"
	wait "$tracer"
	go
else
	skip "no cudaexporter or no curl here"
fi

it "the filter forbids what the unit does not name"
as_unit "$caps" unshare -r true >"$tmp/out" 2>"$tmp/err"
says 'Operation not permitted'
python3 tests/confine.py --calls "$unit" >"$tmp/out"
lines 0 '^(ptrace|mount|init_module|kexec_load|reboot|swapon)$'
lines 3 '^(bpf|perf_event_open|seccomp)$'

long || leave

for cap in $caps; do
	name_of=CAP_$(echo "$cap" | tr '[:lower:]' '[:upper:]')
	it "without $name_of it sees none, and says so"
	seen "$(echo "$caps" | grep -vx "$cap")" >"$tmp/seen"
	equal "$(cat "$tmp/seen")" 0
	says "$name_of is missing"
done
