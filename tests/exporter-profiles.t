# shellcheck shell=sh
# cudaexporter --profiles: pages of call stacks, decoded by tests/pprof.py, and read by Go's pprof.

# serve [OPTION]...: follows the program $pid; $address
serve() {
	tool cudaexporter -p "$pid" --web.listen-address 127.0.0.1:0 "$@"
	address=$(sed -n 's|.*: listening on https*://\([^/]*\)/.*|\1|p' "$tmp/err")
}

# get PAGE [CURL'S OPTION]...: its status in $code, the decoded profile in $tmp/out
get() {
	at=$1
	shift
	code=$(curl -sS -D "$tmp/head" -o "$tmp/p" -w '%{http_code}' "$@" "${scheme:-http}://$address/debug/pprof/$at" 2>/dev/null)
	[ "$code" = 200 ] && python3 tests/pprof.py "$tmp/p" >"$tmp/out" 2>"$tmp/decoded"
}
# has NAME N FOLDED: the decoded samples of stacks that match have this value, added up
has() { [ "$(jq -s "map(select(.folded // \"\" | test(\"$3\")) | .values.$1) | add // 0" "$tmp/out")" = "$2" ]; }
# shows PAGE NAME N FOLDED: it has it now
shows() { get "$1" && has "$2" "$3" "$4"; }
# refuses CODE TEXT PAGE
refuses() {
	get "$3"
	equal "$code" "$1"
	grep -qF "$2" "$tmp/p" || no "$3: $(head -c 200 "$tmp/p")"
}

calls='wait malloc 23 4096 free 4 host 3 100 launch 13 graph 2 sync 7 wait'
for _ in 1 2 3 4 5; do calls="$calls launch 17 sync 11 wait"; done

it "held memory, launches and waits by call stack, with the process"
# shellcheck disable=SC2086 # words
program "$bin/mem" rename prof $calls
serve --profiles
echo >&3
until_true shows cuda_waits waits 7 ';run;do_sync;cudaDeviceSynchronize$'
json 1 '.types == ["wait/nanoseconds", "waits/count"] and .period_type == "wait"'
json 1 '.values.wait > 0 and .labels.comm == "prof" and .labels.pid == '"$pid"
until_true shows cuda_launches launches 13 ';run;do_launch;launch;mem_kernel$'
has launches 6 ';do_graph;mem_kernel$' || no "graphs: $(jq -c '[.folded, .values]' "$tmp/out")"
json 2 '.labels.kernel == "mem_kernel"'
until_true shows cuda_held held 77824 ';run;do_malloc;\\[device]$'
has allocations 19 ';do_malloc;\\[device]$' || no "$(jq -c '[.folded, .values]' "$tmp/out")"
has held 300 ';do_host;\\[host]$' || no "$(jq -c '[.folded, .values]' "$tmp/out")"

it "the answer is a file, compressed already, as Go's pages are"
get cuda_held -H 'Accept-Encoding: gzip'
tr -d '\r' <"$tmp/head" >"$tmp/out"
lines 1 '^Content-Type: application/octet-stream$'
lines 1 '^Content-Disposition: attachment; filename="profile"$'
lines 0 '^Content-Encoding'

it "without seconds, the next profile has all since tracing began"
echo >&3
until_true shows cuda_waits waits 18 ';cudaDeviceSynchronize$'
until_true shows cuda_launches launches 30 ';do_launch;launch;mem_kernel$'

# whether the calls are in the window depends on when it begins: all are, or none
it "with seconds=N, a profile has what comes within them, exactly"
window() {
	curl -sS -o "$tmp/launches" "http://$address/debug/pprof/cuda_launches?seconds=2" & one=$!
	curl -sS -o "$tmp/waits" "http://$address/debug/pprof/cuda_waits?seconds=2" & two=$!
	sleep .2
	echo >&3
	wait $one $two
	python3 tests/pprof.py "$tmp/launches" >"$tmp/l" && python3 tests/pprof.py "$tmp/waits" >"$tmp/w"
	got="$(jq -s 'map(.values.launches? // 0) | add' "$tmp/l") $(jq -s 'map(.values.waits? // 0) | add' "$tmp/w")"
}
for _ in 1 2 3 4; do
	window
	[ "$got" != '17 11' ] || break
	case $got in '17 0' | '0 11' | '0 0') ;; *) break ;; esac
done
equal "$got" '17 11'
cp "$tmp/w" "$tmp/out"
json 1 '.duration >= 2e9 and .samples == 1'

it "what cannot be had"
refuses 400 'seconds: expected 1 to 30' 'cuda_waits?seconds=31'
refuses 400 'seconds: expected 1 to 30' 'cuda_waits?seconds=0'
refuses 400 'seconds: expected 1 to 30' 'cuda_waits?seconds=-1'
refuses 400 'seconds: expected 1 to 30' 'cuda_waits?seconds='
refuses 400 'it has no seconds' 'cuda_held?seconds=1'
refuses 404 'no such profile' heap

it "four profiles with seconds at the same time, and no more; scrapes go on"
curls=
for each in 1 2 3 4 5; do
	curl -s -o /dev/null -w '%{http_code}\n' "http://$address/debug/pprof/cuda_waits?seconds=4" >"$tmp/code.$each" & curls="$curls $!"
done
refused() { grep -q 503 "$tmp"/code.?; }
until_true refused
equal "$(curl -s -o "$tmp/page" -w '%{http_code}' "http://$address/metrics")" 200
get cuda_waits
equal "$code" 200
# shellcheck disable=SC2086 # words
wait $curls
equal "$(cat "$tmp"/code.? | sort | uniq -c | tr -s ' ' | tr '\n' ,)" ' 4 200, 1 503,'

it "go tool pprof scrapes it, with and without seconds"
if ! env go version >/dev/null 2>&1; then
	skip "no go"
else
	env HOME="$tmp" go tool pprof -symbolize=none -nodefraction=0 -top "http://$address/debug/pprof/cuda_held" >"$tmp/out" 2>"$tmp/said" || no "$(tail -n 1 "$tmp/said")"
	lines 1 'accounting for .*, 100% of .* total$'
	env HOME="$tmp" go tool pprof -symbolize=none -raw -seconds 1 "http://$address/debug/pprof/cuda_waits" >"$tmp/out" 2>"$tmp/said" || no "$(tail -n 1 "$tmp/said")"
	lines 1 '^wait/nanoseconds\[dflt\] waits/count$'
fi
stop
status 0

it "memory of a process that has ended is not held; its launches and waits stay"
kill "$pid"
exec 3>&-
program "$bin/mem" malloc 1 64 wait
tool cudaexporter --profiles --web.listen-address 127.0.0.1:0
address=$(sed -n 's|.*: listening on http://\([^/]*\)/.*|\1|p' "$tmp/err")
"$bin/mem" malloc 3 4096 launch 13 sync 7 & child=$!
wait "$child"
of_child() { get "$1" && [ "$(jq -s "map(select(.labels.pid == $child) | .values.$2) | add // 0" "$tmp/out")" = "$3" ]; }
until_true of_child cuda_waits waits 7
until_true of_child cuda_launches launches 13
until_true of_child cuda_held allocations 0
stop
kill "$pid"
exec 3>&-

it "the profiles have the same TLS and users as the metrics"
program "$bin/mem" wait malloc 3 4096 wait
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-keyout "$tmp/key.pem" -out "$tmp/cert.pem" 2>/dev/null
printf 'tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\nbasic_auth_users:\n  alice: %s\n' \
	"$(mkpasswd -m bcrypt -R 4 sesame)" >"$tmp/web.yml"
serve --profiles --web.config.file "$tmp/web.yml"
scheme=https
echo >&3
for page in cuda_held cuda_launches cuda_waits 'cuda_waits?seconds=1'; do
	get "$page" -k
	equal "$page $code" "$page 401"
done
held() { get cuda_held -k -u alice:sesame && has allocations 3 ';do_malloc;\\[device]$'; }
until_true held
scheme=
stop
kill "$pid"
exec 3>&-

it "without --profiles there are none, and no stacks are taken"
program "$bin/mem" wait malloc 3 4096 wait
serve
refuses 404 'no profiles: see --profiles' cuda_held
refuses 404 'no profiles: see --profiles' 'cuda_waits?seconds=1'
stop
kill "$pid"
exec 3>&-

it "--profiles serves pages, and adds no series"
fails 2 '--profiles requires pages' cudaexporter --profiles --once
fails 2 '--profiles requires pages' cudaexporter --profiles --textfile "$tmp/x"
program "$bin/mem" wait launch 1009 wait
serve --profiles
echo >&3
launched() { curl -s "http://$address/metrics" >"$tmp/out"; grep -q '^cuda_launches_total.* 1009$' "$tmp/out"; }
until_true launched
lines 0 '^cuda_kernel_launches_total'
stop
go
