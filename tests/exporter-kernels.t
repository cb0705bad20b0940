# shellcheck shell=sh
# cudaexporter --kernels, --kernel-map and --exemplars: whose launches count to which name.

it_has_kern=true
[ -e "$bin/kern" ] || it_has_kern=false

# exports N COMMAND [OPTION...]: a page after the command, with N names
exports() {
	names=$1 command=$2
	shift 2
	${live:-replayed} cudaexporter --once --by comm --max-overhead off --kernels "$names" "$@" -c "$command"
	status 0
}

# launched [FILE]: "launches name," by kernel
launched() {
	sed -n 's/^cuda_kernel_launches_total{.*kernel="\(.*\)"} \([0-9]*\)$/\2 \1/p' "${1:-$tmp/out}" |
		LC_ALL=C sort | tr '\n' ','
}

# adds_up N: all launches by kernel are N, and as many as those by kind, without graphs
adds_up() {
	equal "$(awk '/^cuda_launches_total/ && !/kind="graph"/ { all += $NF } /^cuda_kernel_launches_total/ { named += $NF }
		END { print all + 0, named + 0 }' "$tmp/out")" "$1 $1"
}

for program in kern kern-static kern-stripped kern-legacy kern-12 kern-ptsz; do
	it "$program: a kernel that is launched 1009 times has a name, 503 of another are other's"
	$it_has_kern || { skip "no nvcc here"; continue; }
	live=run
	exports 5 "$bin/$program"
	live=
	equal "$(launched)" '1009 scale,503 other,'
	adds_up 1512
	silent
	case $program in kern | kern-12) long || break ;; esac
done

for kind in $kinds; do
	it "--attach $kind: launches of both layers, each once, without those that fail"
	live=run
	exports 5 "$bin/mem launch 1009 coop 503 launchex 7 badlaunch 11 drvlaunch 2003" --attach "$kind"
	live=
	equal "$(launched)" '1519 mem_kernel,2003 drv_kernel,'
	adds_up 3522
done

it "without --kernels no launch is counted by kernel; functions that only name kernels are there for their errors"
exports 0 "$bin/mem launch 1009"
equal "$(launched)" ''
lines 1 '^cuda_launches_total.* 1009$'
run cudaexporter --list -l "$lib/libcuda.so.1"
lines 3 "^$lib/libcuda\.so\.1 .*(cuFuncGetName|cuKernelGetName|cuModuleUnload)"	# others may have mapped other files

it "999 launches do not make a name, 1000 do"
exports 5 "$bin/launches called few 999 called enough 1000"
equal "$(launched)" '1000 enough,999 other,'

it "as many names as --kernels says, of the kernels with the most launches"
exports 2 "$bin/launches called a 1009 called b 3001 called c 1013 called d 2003 called e 17"
equal "$(launched)" '2003 d,2039 other,3001 b,'
adds_up 7043

it "--kernel-map calls kernels by their full names, the first rule that matches; names that are the same add up"
exports 5 "$bin/launches called _Z4fillIiEvPT_S0_i 503 called _Z4fillIfEvPT_S0_i 509 called scale 1013 called other 7" \
	--kernel-map 'fill<int>\(int\*, int, int\)=ints' --kernel-map '^void (fill|none)<=fills' --kernel-map 'fill=late'
equal "$(launched)" '1013 scale,1019 other,'

it "--kernel-names short has a label for each kernel of a template, for reading; brief and full, the whole names"
add=$(grep -m1 CUDAFunctor_addIN3c108BFloat16 tests/data/torch-kernels.txt)
exports 5 "$bin/launches called $add 1009 called scale 1013" --kernel-names short
equal "$(launched)" '1009 add vectorized<bf16,8,F>,1013 scale,'
exports 5 "$bin/launches called $add 1009" --kernel-names brief
lines 1 'kernel="at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, [^#]*(#[0-9a-f]{8})?"\} 1009$'
exports 5 "$bin/launches called _Z4fillIiEvPT_S0_i 1009" --kernel-names full
equal "$(launched)" '1009 void fill<int>(int*, int, int),'
fails 2 '--kernel-names requires --kernels' cudaexporter --kernel-names short

it "what is no rule is a usage error"
fails 2 "--kernel-map a: expected RE=NAME" cudaexporter --kernels 1 --kernel-map a
fails 2 "--kernel-map a=: expected RE=NAME" cudaexporter --kernels 1 --kernel-map a=
fails 2 "--kernel-map =a: expected RE=NAME" cudaexporter --kernels 1 --kernel-map =a
fails 2 "--kernel-map (a=b: Unmatched ( or \\(" cudaexporter --kernels 1 --kernel-map '(a=b'
fails 2 '\1 is not supported' cudaexporter --kernels 1 --kernel-map '(a*)\1=b'
fails 2 "--kernel-map requires --kernels" cudaexporter --kernel-map a=b
fails 2 "the name has more than 120 bytes" cudaexporter --kernels 1 --kernel-map "a=$(printf '%0121d' 0)"

it "labels leave out the arguments of templates, and are cut at 120 bytes and where a character begins"
# '> ' is an operator where it stands in parentheses
cat >"$tmp/names" <<-'END'
	_Z4fillIiEvPT_S0_i	fill
	a<b	a<b
	a<b>c<d>::e	ac::e
	f<(a>b)>	f
	f<void (*)(b<int>)>::g	f::g
	f<decltype(a->b)>	f
	f<)>	f<)>
	operator<x>	operator<x>
	a<<<b	a<<<b
END
cut -f1 "$tmp/names" | "$bin/kernel-label" >"$tmp/out"
cut -f2 "$tmp/names" | diff - "$tmp/out" >"$tmp/diff" || no "$(cat "$tmp/diff")"
n120=$(printf '%0120d' 0) n119=$(printf '%0119d' 0)
printf '%s\n' "$n120" "${n120}1" "${n120}2" "${n119}é" "${n119}é3" | "$bin/kernel-label" >"$tmp/out"
lines 1 "^$n120\$"
lines 2 "^$n120#[0-9a-f]{8}\$"
lines 2 "^$n119#[0-9a-f]{8}\$"
equal "$(sort -u "$tmp/out" | wc -l)" 5

it "1009 kernels of PyTorch are few labels, all of them whole"
"$bin/kernel-label" <tests/data/torch-kernels.txt >"$tmp/out"
lines 1009 '.'
lines 0 '#|<'
[ "$(sort -u "$tmp/out" | wc -l)" -lt 101 ] || no "$(sort -u "$tmp/out" | wc -l) labels"

it "quotes, backslashes, newlines, other control characters and bad UTF-8 in names are escaped"
printf 'quote"back\\slash\nnew\033line\377' >"$tmp/name"
"$bin/launches" called "$(cat "$tmp/name")" 1
printf '%s' "$bin/launches called \"\$(cat $tmp/name)\" 1009 long 1013" >"$tmp/command"
exports 5 "sh $tmp/command"
lines 1 '^cuda_kernel_launches_total\{comm="launches",kernel="quote\\"back\\\\slash\\nnew\\\\x1bline\\\\xff"\} 1009$'
lines 1 '^cuda_kernel_launches_total\{comm="launches",kernel="a_kernel_whose_name_goes_on_n{92}#[0-9a-f]{8}"\} 1013$'
if command -v promtool >/dev/null; then
	promtool check metrics <"$tmp/out" >"$tmp/said" 2>&1 || no "$(cat "$tmp/said")"
fi

# serve OPTION...: the exporter of process $pid, at $address; scrape ACCEPT: its page
serve() {
	tool cudaexporter -p "$pid" --web.listen-address 127.0.0.1:0 "$@"
	address=$(sed -n 's|.*: listening on http://\([^/]*\)/.*|\1|p' "$tmp/err")
}
scrape() { curl -sf -H "Accept: $1" "http://$address/metrics" >"$tmp/page"; }
scraped() { scrape application/openmetrics-text && grep -q "$1" "$tmp/page"; }

# in_buckets: the exemplars of the page that are larger than their bucket, or not larger than the one below it
in_buckets() {
	awk '/_bucket/ { name = $1; sub(/,?le=.*/, "", name); le = $1; sub(/.*le="/, "", le); sub(/".*/, "", le)
		below = name == last ? bound : -1; last = name; bound = le
		for (i = 2; i < NF; i++) if ($i == "#" && ((le != "+Inf" && $(i + 2) > le + 0) || $(i + 2) <= below + 0)) print }' \
		"$tmp/page"
}

it "--exemplars: each bucket has the last call that fell into it, its thread, value and time"
program "$bin/mem" malloc 1 64 wait copy 5 4096 h2d copy 7 3001 h2d copyasync 3 70001 d2h sync 11 drvlaunch 1 \
	thread '(' copy 2 1009 d2h ')' join wait
serve --exemplars
echo >&3
until_true scraped 'copy_size_bytes_count{[^}]*direction="d2h",async="false"} 2$'
cp "$tmp/page" "$tmp/out"
lines 1 "^cuda_copy_size_bytes_bucket\\{pid=\"$pid\",.*direction=\"h2d\".*le=\"4096.0\"} 12 # \\{tid=\"$pid\",function=\"cudaMemcpy\"} 3001 [0-9]{10}\\.[0-9]{3}\$"
lines 1 "direction=\"d2h\",async=\"true\",le=\"1048576.0\"} 3 # \\{tid=\"$pid\",function=\"cudaMemcpyAsync\"} 70001 "
lines 1 'direction="d2h",async="false",le="4096.0"} 2 # .*function="cudaMemcpy"} 1009 '
lines 0 "direction=\"d2h\",async=\"false\",.*tid=\"$pid\""
lines 3 '^cuda_copy_size_bytes.* # '
[ "$(grep -c '^cuda_sync_duration_seconds_bucket.* # {tid="[0-9]*",function="cudaDeviceSynchronize"}' "$tmp/out")" -ge 1 ] ||
	no "no exemplar of a wait"
[ "$(grep -c '^cuda_code_load_duration_seconds_bucket.* # {tid="[0-9]*",function="cuModule\(LoadData\|GetFunction\)"}' "$tmp/out")" -ge 1 ] ||
	no "no exemplar of a load"
equal "$(in_buckets)" ''
equal "$(sed -n 's/.* # .* \([0-9]*\)\.[0-9]*$/\1/p' "$tmp/out" | awk -v now="$(date +%s)" '$1 > now || $1 < now - 60')" ''

it "the text format has no exemplars"
scrape text/plain
! grep -q ' # ' "$tmp/page" || no "$(grep ' # ' "$tmp/page" | head -n 1)"
go
wait "$tracer"

it "a kernel that a graph captures counts at each launch of the graph"
exports 5 "$bin/graphs eager a 1500 begin launch a 2 launch b 3 end make destroy replay 1009 create other 1 make replay 5"
lines 1 'cuda_launches_total.*kind="kernel"} 1500$'
lines 1 'cuda_launches_total.*kind="graph"} 1014$'
equal "$(launched)" '3027 b,3518 a,'
exports 5 "$bin/graphs driver eager c 1000 begin launch a 2 fork b 3 end make replay 503"
lines 1 'cuda_launches_total.*kind="kernel"} 1000$'
equal "$(launched)" '1000 c,1006 a,1509 b,'

for layer in '' driver; do
	it "${layer:-runtime}: nodes and copies of graphs count at each launch, and launches of graphs"
	exports 5 "$bin/graphs $layer copy-beside 3 200 begin launch a 2 copy 5 4097 alloc 100 end make replay 7 \
create copy-node 2 100 fill-node 1 400 call-node 1 other 3 make replay 11"
	lines 1 'cuda_graph_launches_total.*known="true"} 18$'
	lines 0 'cuda_graph_launches_total.*known="false"'
	lines 1 'cuda_graph_nodes_total.*node="kernel"} 14$'
	lines 1 'cuda_graph_nodes_total.*node="memcpy"} 57$'
	lines 1 'cuda_graph_nodes_total.*node="memset"} 11$'
	lines 1 'cuda_graph_nodes_total.*node="host"} 11$'
	lines 1 'cuda_graph_nodes_total.*node="alloc"} 7$'
	lines 1 'cuda_graph_nodes_total.*node="other"} 33$'
	# 3 of 200, 22 of 100, 35 of 4097 bytes
	lines 1 'cuda_copy_size_bytes_bucket.*direction="h2d",async="true",le="256"} 25$'
	lines 1 'cuda_copy_size_bytes_count.*direction="h2d",async="true"} 60$'
	lines 1 'cuda_copy_size_bytes_sum.*direction="h2d",async="true"} 146195$'
done
exports 5 "$bin/graphs many 4100 make replay 5"
lines 1 'cuda_graph_launches_total.*known="false"} 5$'
says 'graphs not followed, launches of their kernels do not count: more than 4096 graphs or 65536 nodes in a process'

long || leave

for kind in $kinds; do
	it "--attach $kind: a graph's kernels count at its launches, not when they are captured"
	live=run
	exports 5 "$bin/mem launch 1009 graph 13 drvlaunch 2003" --attach "$kind"
	live=
	lines 1 'cuda_launches_total.*kind="kernel"} 3012$'
	lines 1 'cuda_launches_total.*kind="graph"} 13$'
	lines 1 'cuda_kernel_launches_total.*kernel="mem_kernel"} 1048$'
	lines 1 'cuda_kernel_launches_total.*kernel="drv_kernel"} 2003$'
done

it "processes that ended have names of their own, and stay in the sum"
exports 1 "$bin/launches called a 1009 called b 11 & $bin/launches called a 1013 & $bin/launches called b 1019 called a 7; wait"
equal "$(launched)" '1019 b,18 other,2022 a,'
adds_up 3059

it "a kernel in a module that is unloaded, and others at its address, count for themselves"
exports 3 "$bin/launches jit 1009 called last 1009"
equal "$(launched)" '1009 last,5645 jit,'
adds_up 6654

it "a child has its parent's kernels, which it was given before it forked"
exports 3 "$bin/launches heir 23" --kernel-map 'registered=mine'
equal "$(launched)" "$(awk 'BEGIN { for (i = 12; i < 23; i++) n += i % 5 + 2; print n " other," }')"
exports 3 "$bin/launches runtime 1009"
equal "$(launched)" '1009 first,'

it "-p names the kernels of a process that has launched before"
if $it_has_kern; then
	program "$bin/kern" 1009 503 1 1 1 again again
	serve --kernels 5
	echo >&3
	until_true scraped 'kernel="scale"} 1009$'	# while it lives, as the names are in its memory
	equal "$(launched "$tmp/page")" '1009 scale,503 other,'
	go
	wait "$tracer"
else
	skip "no nvcc here"
fi

it "the first rule that matches names a kernel, and what others are called is no rule's business"
exports 5 "$bin/launches called _Z4fillIiEvPT_S0_i 503 called _Z4fillIfEvPT_S0_i 509 called scale 1013" \
	--kernel-map 'fill|scale=all'
equal "$(launched)" '2025 all,'
exports 5 "$bin/launches called _Z4fillIiEvPT_S0_i 503 called _Z4fillIfEvPT_S0_i 509"
equal "$(launched)" '1012 fill,'

it "without --exemplars there are none"
program "$bin/mem" wait copy 5 4096 h2d wait
serve
echo >&3
until_true scraped 'copy_size_bytes_count{[^}]*} 5$'
! grep -q ' # ' "$tmp/page" || no "$(grep ' # ' "$tmp/page" | head -n 1)"
go
wait "$tracer"

it "thousands of functions that nothing has named are other's, all of them"
exports 7 "$bin/launches handles 5003 called a 1009"
equal "$(launched)" '1009 a,5003 other,'
adds_up 6012

it "thousands of kernels have as many names as there may be"
i=0
while [ $i -lt 499 ]; do i=$((i + 1)); printf ' called k%d 1009' $i; done >"$tmp/words"
exports 101 "$bin/launches $(cat "$tmp/words")"
lines 102 '^cuda_kernel_launches_total'
lines 1 'kernel="other"} 401582$'
adds_up 503491

it "211 processes, eight at a time, each with a kernel of its own: all launches are in the sum"
cat >"$tmp/many" <<-END
	i=0
	while [ \$i -lt 211 ]; do
		i=\$((i + 1))
		$bin/launches called a 1009 called b\$i 503 &
		[ \$((i % 8)) -ne 0 ] || wait
	done
	wait
END
live=run
exports 1 "sh $tmp/many"
live=
equal "$(launched)" '106133 other,212899 a,'
adds_up 319032

it "Prometheus keeps the exemplars"
if command -v prometheus >/dev/null; then
	program "$bin/mem" wait copy 5 4096 h2d wait
	serve --exemplars
	mkdir "$tmp/prometheus"
	at=127.0.0.1:$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	cat >"$tmp/prometheus.yml" <<-END
		global: { scrape_interval: 1s }
		scrape_configs: [ { job_name: cuda, static_configs: [ { targets: [ "$address" ] } ] } ]
	END
	prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/prometheus" \
		--enable-feature=exemplar-storage --web.listen-address="$at" >"$tmp/said" 2>&1 & prometheus=$!
	pids="$pids $prometheus"
	query() {
		curl -sf "http://$at/api/v1/query_exemplars" --data-urlencode \
			'query=cuda_copy_size_bytes_bucket' -d "start=$(($(date +%s) - 60))&end=$(($(date +%s) + 60))" >"$tmp/out"
	}
	kept() { query && jq -e '.data[].exemplars[] | select(.value == "4096")' "$tmp/out" >/dev/null; }
	until_true curl -sf "http://$at/-/ready" -o /dev/null
	sleep 2
	echo >&3
	until_true kept
	equal "$(jq -r '.data[].exemplars[0].labels | "\(.tid) \(.function)"' "$tmp/out" | sort -u)" "$pid cudaMemcpy"
	kill "$prometheus"
	wait "$prometheus"
	go
	wait "$tracer"
else
	skip "no Prometheus here"
fi

it "a kernel keeps what was other's when it gets its name, and the name when others have more"
program "$bin/launches" wait called a 499 wait called a 1013 wait called b 5003 called a 11 wait
tool cudaexporter --textfile "$tmp/page" --interval 1 --kernels 1 -p "$pid"
page_has() { equal_now=$(launched "$tmp/page"); [ "$equal_now" = "$1" ]; }
echo >&3
until_true page_has '499 other,'
echo >&3
until_true page_has '1013 a,499 other,'
echo >&3
until_true page_has '1024 a,5502 other,'
go
stop
