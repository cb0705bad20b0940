# shellcheck shell=sh disable=SC2154,SC2016,SC2086 # rc: the words'; jq's variables; options are words
# A real Prometheus on loopback: what it has of cudaexporter is what the programs did, the dashboard's queries have
# answers, and the alerts fire.
# shellcheck source=/dev/null
. tests/exporter-web.sh
python=$(PATH=/usr/bin:/bin command -v python3)

it "what this needs is there"
for program in cudaexporter prometheus promtool curl openssl mkpasswd; do
	command -v $program >/dev/null && continue
	skip "no $program here"
	leave
done

# programs of a name that no others have: the exporter sees these alone
mkdir "$tmp/bin"
ln -s "$lib" "$tmp/lib"
cp "$bin/mem" "$tmp/bin/promwork"
work=$tmp/bin/promwork
mkdir "$tmp/nccl"
cp "$bin/nccl" "$tmp/nccl/promwork"

free_port() { "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
port=$(free_port)

# exporter OPTION...: serves on $port until `stop`
answers() { curl -sf "http://127.0.0.1:$1/-/ready" >/dev/null; }
exporter() {
	tool cudaexporter --comm promwork --web.listen-address "127.0.0.1:$port" "$@"
	until_true answers "$port"
}

# traced: the library of a program that runs is probed; what it called before is unknown
traced() { curl -s "http://127.0.0.1:$port/metrics" | grep -qx 'cuda_exporter_processes{state="traced"} [1-9]'; }

# holds: memory is on the page; pages within a second are one collection
holds() { curl -s "http://127.0.0.1:$port/metrics" | grep -q '^cuda_memory_held_bytes{'; }

# judge TITLE OPTION...: promtool and the strict reader take the pages of an exporter with these
judge() {
	it "promtool and a strict reader of both formats take the metrics with $1"
	shift
	exporter "$@"
	program "$work" wait malloc 23 4096 free 7 host 3 4096 copy 13 64k h2d copyasync 11 4k d2h launch 1009 graph 5 sync 17 fail 3 wait
	until_true traced
	echo >&3
	until_true twice_ready
	until_true holds
	curl -s "http://127.0.0.1:$port/metrics" >"$tmp/text"
	curl -s -H 'Accept: application/openmetrics-text; version=1.0.0' "http://127.0.0.1:$port/metrics" >"$tmp/openmetrics"
	go
	stop
	for metric in cuda_launches_total cuda_errors_total cuda_copy_size_bytes_bucket cuda_sync_duration_seconds_sum; do
		grep -q "^$metric{" "$tmp/text" || no "no $metric"
	done
	grep -qx '# EOF' "$tmp/openmetrics" || no "it is no OpenMetrics"
	run promtool check metrics <"$tmp/text"
	status 0
	silent
	run "$python" tests/openmetrics.py --text "$tmp/text"
	status 0
	run "$python" tests/openmetrics.py "$tmp/openmetrics"
	status 0
}
twice_ready() { [ "$(grep -c ready "$tmp/ready")" -ge 2 ]; }

all=pid,comm,exe,uid,container_id,pod_uid,slurm_job
judge "no options"
judge "all labels" --labels $all
for by in pod container comm uid job; do
	judge "--by $by" --by $by
done
everything='--sync-functions --collect.off-cpu --self-time --exemplars --kernels 20 --gpu-time'
judge "all that can be collected" $everything

# What follows is one run of everything.  This has memory from before, and frees it later.
mkfifo "$tmp/before"
"$work" malloc 5 4096 wait free 5 wait <"$tmp/before" >"$tmp/ready" & before=$!
pids="$pids $before"
exec 5>"$tmp/before"
until_true grep -q ready "$tmp/ready"
{
	echo "gpu GPU-aaaa H200 150000000000 5000000000 1 0"
	echo "process 0 $before 6000000"
} >"$tmp/nvml"
LD_LIBRARY_PATH=$lib SIM_NVML=$tmp/nvml exporter $everything --ages 2,600,3600
sed -E 's/\[(1h|20m)\]/[20s]/; s/\[(5|10)m\]/[30s]/; s/for: .*/for: 4s/; s/> 300$/> 6/; s/> 3600$/> 8/; s/age="600"/age="2"/; s/> 600$/> 16/; s/< 60*$/< 8/' \
	etc/prometheus/alerts.yml >"$tmp/alerts.yml"
cat >"$tmp/prometheus.yml" <<END
global: { scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 1s }
rule_files: [ $tmp/alerts.yml ]
scrape_configs:
  - job_name: cudaexporter
    static_configs: [ targets: [ "127.0.0.1:$port" ] ]
END

# scrapes CONFIG: a Prometheus, on $prom
scrapes() {
	prom=$(free_port)
	prometheus --config.file="$1" --storage.tsdb.path="$1.tsdb" --web.listen-address="127.0.0.1:$prom" >"$1.log" 2>&1 &
	pids="$pids $!"
}
scrapes "$tmp/prometheus.yml"

# ask QUERY: its results, one an object a line, in $tmp/out
ask() {
	curl -s --data-urlencode "query=$1" "http://127.0.0.1:$prom/api/v1/query" >"$tmp/answer"
	jq -e '.status == "success"' "$tmp/answer" >/dev/null && jq -c '.data.result[]?' "$tmp/answer" >"$tmp/out"
}
# has QUERY: it has a result
has() { ask "$1" && [ -s "$tmp/out" ]; }

it "Prometheus scrapes it"
until_true has 'up{job="cudaexporter"} == 1'
until_true has "cuda_process_info{pid=\"$before\",complete=\"0\"}"
echo >&5
# two ranks, of which one does not come to five operations
mkfifo "$tmp/ranks.go"
SIM_NCCL_DIR=$tmp "$tmp/nccl/promwork" 2 wait init allreduce 7 1000 bad 3 late 5 wait <"$tmp/ranks.go" >"$tmp/ranks" & ranks=$!
pids="$pids $ranks"
exec 6>"$tmp/ranks.go"
until_true grep -q ready "$tmp/ranks"
until_true has 'cuda_exporter_probes{layer="nccl"} > 0'
echo >&6

it "the increase of each counter is the number of calls, and each begins at 0"
SIM_LATENCY_US=cudaDeviceSynchronize=20000 SIM_FAIL=cudaStreamSynchronize:5=700 SIM_KERNEL_NS=1000 \
	CUDA_INJECTION64_PATH=$O/libcudagputime.so \
	program "$work" wait freenull 1 sleep 3000 malloc 23 4096 free 7 host 3 4096 async 19 4096 copy 13 64k h2d copyasync 11 4k d2h launch 2003 coop 7 \
	graph 5 sync 17 streamsync 5 fail 3 malloc 1 1100m wait
# it has been seen before it does anything
until_true has "cuda_process_info{pid=\"$pid\",complete=\"1\"}"
echo >&3
until_true twice_ready
until_true has 'cuda_sync_duration_seconds_count{comm="promwork"} >= 17'
ask 'max(timestamp(up))'
since=$(jq -r '.value[1]' "$tmp/out")
until_true has "max(timestamp(up)) > $since + 3"
# counted N SELECTOR: so much more at the end of its samples than at the beginning, which is 0
counted() {
	ask "$2[5m]"
	equal "$(jq -s --arg pid "$pid" 'map(select(.metric.pid == $pid)) | map((.values[-1][1] | tonumber) - (.values[0][1] | tonumber)) | add' "$tmp/out")" "$1"
	json 0 '.values[0][1] != "0"'
}
counted 26 'cuda_memory_allocations_total{memory="device"}'	# 2 are the copies' buffers
counted 19 'cuda_memory_allocations_total{memory="pool"}'
counted 7 'cuda_memory_frees_total'
counted 12288 'cuda_memory_allocated_bytes_total{memory="host"}'
counted 2003 'cuda_launches_total{kind="kernel"}'
counted 7 'cuda_launches_total{kind="cooperative"}'
counted 5 'cuda_launches_total{kind="graph"}'
counted 13 'cuda_copy_size_bytes_count{direction="h2d",async="false"}'
counted 851968 'cuda_copy_size_bytes_sum{direction="h2d",async="false"}'
counted 13 'cuda_copy_duration_seconds_count{direction="h2d"}'
counted 11 'cuda_copy_size_bytes_bucket{direction="d2h",async="true",le=~"4096(\\.0)?"}'
until_true has "sum(cuda_kernel_gpu_seconds_total{pid=\"$pid\"}) > 0.00200999 < 0.00201001"
counted 22 'cuda_sync_duration_seconds_count'
counted 3 'cuda_errors_total{error="cudaErrorMemoryAllocation"}'
counted 1 'cuda_sticky_errors_total{error="cudaErrorIllegalAddress"}'

it "quantiles of waits of 20 ms are in their bucket"
until_true has 'histogram_quantile(0.5, sum by (le) (increase(cuda_sync_duration_seconds_bucket[5m]))) > 0.0167'
ask 'histogram_quantile(0.5, sum by (le) (increase(cuda_sync_duration_seconds_bucket[5m]))) < 0.0672'
json 1 .

it "the number of samples is what the exporter says, at every scrape"
ask '(scrape_samples_scraped - on (instance) cuda_exporter_series)[5m:2s]'
json 1 '(.values | length) > 2 and all(.values[]; .[1] == "0")'

it "every query of the dashboard has an answer"
# none is below 1 here
jq -r '.. | .expr? // empty | gsub("\n"; " ") | sub("probed_ratio{(?<labels>[^}]*)} < 1"; "probed_ratio{\(.labels)}")' etc/grafana/cuda.json | sed 's/\$__rate_interval/30s/g; s/\$__range/5m/g
	s/\[15m\]/[30s]/g; s/\$top/10/g; s/\$job/.*/g; s/\$instance/.*/g' >"$tmp/queries"
[ "$(wc -l <"$tmp/queries")" -gt 30 ] || no "few queries"
while read -r query; do
	has "$query" || echo "$query: $(cut -c1-200 "$tmp/answer")"
done <"$tmp/queries" >"$tmp/without"
[ ! -s "$tmp/without" ] || no "$(cat "$tmp/without")"

# firing ALERT [SELECTOR]: with the labels of the program
firing() { has "ALERTS{alertname=\"$1\",alertstate=\"firing\"${2:+,$2}}"; }

it "alerts fire: out of memory, a sticky error, memory that nobody uses"
until_true firing CudaOutOfMemory "pid=\"$pid\",comm=\"promwork\""
until_true firing CudaStickyError "pid=\"$pid\",error=\"cudaErrorIllegalAddress\""
until_true firing CudaIdleHolder "pid=\"$pid\""
! firing CudaCallStuck || no "no call is stuck yet"
! firing CudaMemoryLeak || no "nothing leaks yet"
go
exec 5>&-

it "what ranks of NCCL did"
until_true has 'sum(cuda_nccl_operations_total) == 19'
until_true has 'sum(cuda_nccl_bytes_total) == 56020'
ask 'sum(increase(cuda_nccl_operations_failed_total[5m])) > 5'	# extrapolated
json 1 .
ask 'cuda_nccl_collectives_behind'
json 1 '.metric.rank == "0" and .value[1] == "0"'
json 1 '.metric.rank == "1" and .metric.nranks == "2" and .value[1] == "5"'

it "alerts fire: a rank of NCCL that does not come, and ranks that stand still"
until_true firing CudaNcclStraggler 'rank="1"'
! firing CudaNcclStraggler 'rank="0"' || no "the first rank is none"
until_true firing CudaNcclHang 'rank="0"'
until_true firing CudaNcclHang 'rank="1"'
exec 6>&-
wait $ranks

it "alerts fire: a call that does not return, and memory that grows, each of its process alone"
SIM_LATENCY_US=cudaDeviceSynchronize:3=-1 "$work" sync 5 & hung=$!
"$work" loop 600 \( malloc 1 1m sleep 100 \) & leaks=$!
pids="$pids $hung $leaks"
until_true firing CudaCallStuck "pid=\"$hung\",group=\"sync\""
until_true firing CudaMemoryLeak "pid=\"$leaks\""
! firing CudaCallStuck "pid!=\"$hung\"" || no "another is stuck"
! firing CudaMemoryLeak "pid!=\"$leaks\"" || no "another leaks"
kill -9 $hung $leaks
wait $hung $leaks 2>/dev/null

it "nothing was lost; Prometheus has no complaint about any sample"
says_not 'restarting it'
! has 'increase(cuda_exporter_lost_events_total[10m]) > 0' || no "$(cat "$tmp/out")"
! has 'ALERTS{alertname="CudaEventsLost"}' || no "the alert says so"
grep -iE 'duplicate|out.of.order|level=(error|warn)' "$tmp/prometheus.yml.log" >"$tmp/out"
lines 0 ''
ask 'up[10m]'
json 1 'all(.values[]; .[1] == "1")'

it "an exporter that is gone is said to be down"
stop
status 0
until_true firing CudaExporterDown "instance=\"127.0.0.1:$port\""

it "Prometheus scrapes over TLS, another path and with the user's password, and is refused with a wrong one"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
	-addext subjectAltName=IP:127.0.0.1 -keyout "$tmp/key.pem" -out "$tmp/cert.pem" 2>/dev/null
cat >"$tmp/web.yml" <<END
tls_server_config: { cert_file: cert.pem, key_file: key.pem }
basic_auth_users: { alice: '$(bcrypt 'open sesame')' }
END
# job NAME PASSWORD
job() {
	cat <<-END
		  - job_name: $1
		    scheme: https
		    metrics_path: /m
		    tls_config: { ca_file: $tmp/cert.pem }
		    basic_auth: { username: alice, password: '$2' }
		    static_configs: [ targets: [ "127.0.0.1:$port" ] ]
	END
}
{
	echo 'global: { scrape_interval: 1s, scrape_timeout: 1s }'
	echo 'scrape_configs:'
	job right 'open sesame'
	job wrong 'open sesam'
} >"$tmp/secure.yml"
tool cudaexporter --comm promwork --web.listen-address "127.0.0.1:$port" --web.config.file "$tmp/web.yml" --web.telemetry-path /m
scrapes "$tmp/secure.yml"
until_true has 'up{job="right"} == 1'
until_true has 'cuda_exporter_build_info{job="right"}'
until_true has 'up{job="wrong"} == 0'
! has 'cuda_exporter_build_info{job="wrong"}' || no "a wrong password has the metrics"
curl -s "http://127.0.0.1:$prom/api/v1/targets" | jq -r '.data.activeTargets[] | "\(.labels.job): \(.lastError)"' >"$tmp/out"
lines 1 '^right: $'
lines 1 '^wrong: .* 401 '
stop
status 0
