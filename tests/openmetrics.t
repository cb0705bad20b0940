# shellcheck shell=sh disable=SC2154,SC2016,SC2086 # rc: the words'; a command of several words
# tests/openmetrics.py, by which the exporter's pages are judged: does it refuse what is wrong?
python=$(PATH=/usr/bin:/bin command -v python3)
page="$python tests/openmetrics.py"

cat >"$tmp/page" <<'END'
# TYPE cuda_memory_held_bytes gauge
# UNIT cuda_memory_held_bytes bytes
# HELP cuda_memory_held_bytes Bytes held, with a \\ and a \n in it.
cuda_memory_held_bytes{pid="181",comm="tr\"a\\i\nn é"} 23
cuda_memory_held_bytes{pid="191",comm="}, "} 4.096e+03
# HELP cuda_launches Launches.
# TYPE cuda_launches counter
cuda_launches_total{kind="kernel"} 7
cuda_launches_total{kind="graph"} 0
# TYPE cuda_sync_duration_seconds histogram
# UNIT cuda_sync_duration_seconds seconds
cuda_sync_duration_seconds_bucket{pid="181",le="1.024e-06"} 2 # {tid="181",function="cudaDeviceSynchronize"} 1e-06 1700000000.5
cuda_sync_duration_seconds_bucket{pid="181",le="0.001048576"} 5
cuda_sync_duration_seconds_bucket{pid="181",le="+Inf"} 7
cuda_sync_duration_seconds_count{pid="181"} 7
cuda_sync_duration_seconds_sum{pid="181"} 0.5
# TYPE cuda_exporter_build info
cuda_exporter_build_info{version="0.1.0"} 1
# EOF
END

it "a page that is right is taken, and its samples are told"
run $page --json "$tmp/page"
status 0
silent
json 10 '.family | startswith("cuda_")' 1 '.labels.comm == "tr\"a\\i\nn é" and .value == 23' \
	1 '.labels.comm == "}, "' \
	2 '.type == "counter" and .family == "cuda_launches" and .name == "cuda_launches_total"' \
	1 '.exemplar == 1e-06'

# wrong WHY SED: the page that sed makes of the right one is refused for that
wrong() {
	sed "$2" "$tmp/page" >"$tmp/bad"
	! cmp -s "$tmp/page" "$tmp/bad" || no "nothing is changed by $2"
	run $page "$tmp/bad"
	{ [ "$rc" -eq 1 ] && grep -qF -- "$1" "$tmp/err"; } || no "not '$1' by $2: $(cat "$tmp/err")"
}

it "lines that are none are refused"
wrong 'no # EOF at the end' '$d'
wrong 'no # EOF at the end' '$a\
# HELP x y'
wrong '# EOF before the end' '3i # EOF'
wrong 'neither a sample nor a descriptor' '5s/^/# a comment\n/'
wrong 'neither a sample nor a descriptor' '5s/^/\n/'
wrong 'neither a sample nor a descriptor' '1s/# /#/'
wrong 'a carriage return' '4s/$/\r/'
wrong "can't decode" '4s/23/\xff/'
wrong "can't decode" '4s/é/\xc3/'

it "descriptors that are late, doubled, missing or wrong are refused"
wrong 'HELP of cuda_launches after its samples' '6{h;d};8G'
wrong 'TYPE of cuda_launches twice' '7p'
wrong 'HELP of cuda_launches twice' '6p'
wrong 'belongs to no family' '7d'
wrong "'counters' is no type" '7s/counter/counters/'
wrong 'called cuda_launches_total' '6,7s/cuda_launches/&_total/'
wrong 'does not end in its unit' '2s/bytes$/seconds/'
wrong 'a wrong escape in HELP' '3s/ \\n/ \\t/'
wrong 'has an empty HELP' '6s/Launches.//'
wrong 'stands in several places' '4{h;d};9G'
wrong "is a name of cuda_launches, too" '10i # TYPE cuda_launches_total gauge'

it "names, labels and escapes that are wrong are refused"
wrong 'belongs to no family' '8s/_total//'
wrong 'belongs to no family' '8s/_total/_count/'
wrong 'neither a sample' '8s/^/9/'
wrong 'label pid twice' '4s/comm=/pid=/'
wrong 'is reserved' '4s/comm=/__comm=/'
wrong 'no label at' '4s/comm=/co-mm=/'
wrong 'no label at' '4s/\\n/\\t/'
wrong 'not separated by commas' '4s/\\"/"/'
wrong 'not separated by commas' '4s/,/ /'
wrong 'not separated by commas' '4s/}/,}/'
wrong 'twice' '4p'
wrong 'twice' '9s/graph/kernel/'

it "values that are none, or cannot be, are refused"
wrong "'0x17' is not a number" '4s/23$/0x17/'
wrong "'inf' is not a number" '4s/23$/inf/'
wrong "'1_000' is not a number" '4s/23$/1_000/'
wrong "'' is not a number" '4s/ 23$/  23/'
wrong 'a value and perhaps a time' '4s/ 23$//'
wrong 'cuda_launches_total is -7' '8s/7/-7/'
wrong 'cuda_launches_total is nan' '8s/7/NaN/'
wrong 'is not 1' '18s/1$/2/'

it "histograms that cannot be are refused"
wrong 'the last bucket is not +Inf' '14d'
wrong 'le does not rise' '12s/le="[^"]*"/le="0.5"/;12s/ #.*//'
wrong 'counts of buckets fall' '13s/5$/1/'
wrong '_count is not that of +Inf' '15s/7/6/'
wrong '_count is not that of +Inf' '15d'
wrong 'no _sum' '16d'
wrong 'no whole number' '13s/5$/5.5/'
wrong 'le belongs to buckets' '13s/,le="[^"]*"//'
wrong 'le belongs to buckets' '16s/pid="181"/&,le="1.0"/'
wrong 'is not as OpenMetrics has it' '13s/0.001048576/1e-3/'
wrong 'is not as OpenMetrics has it' '13s/0.001048576/1/'
wrong 'is not as OpenMetrics has it' '14s/+Inf/1e999/'
wrong "'Inf' is not a number" '14s/+Inf/Inf/'
wrong 'its samples stand in several places' '14s/181/191/'

it "exemplars that are misplaced or too long are refused"
wrong 'cannot have an exemplar' '4s/$/ # {tid="1"} 1/'
wrong 'an exemplar without labels' '12s/# {[^}]*}/#/'
wrong 'not in its bucket' '12s/} 1e-06/} 1/'
wrong 'a value and perhaps a time' '12s/} 1e-06 .*/}/'
wrong 'too long' "12s/tid=\"181\"/tid=\"$(printf %0110d 1)\"/"

it "format 0.0.4 has other types and names, no end, no exemplars"
cat >"$tmp/page" <<'END'
# HELP cuda_launches_total Launches, with a " in it.
# TYPE cuda_launches_total counter
cuda_launches_total{kind="kernel"} 7
# TYPE cuda_copy_size_bytes histogram
cuda_copy_size_bytes_bucket{le="256"} 2
cuda_copy_size_bytes_bucket{le="+Inf"} 7
cuda_copy_size_bytes_sum 4096
cuda_copy_size_bytes_count 7
END
run $page --text --json "$tmp/page"
status 0
json 5 .
page="$page --text"
wrong 'has no _total' '1,3s/_total//'
wrong "'info' is no type" '2s/counter/info/'
wrong 'UNIT is OpenMetrics' '4a # UNIT cuda_copy_size_bytes bytes'
wrong 'exemplars are OpenMetrics' '5s/$/ # {tid="1"} 1/'
wrong '# EOF before the end' '$a # EOF'
wrong 'counts of buckets fall' '5s/2$/8/'
