# shellcheck shell=sh disable=SC2154,SC2016 # rc: the words'; jq's and Grafana's variables
# What users of Prometheus, Grafana and Kubernetes install from etc, without cudaexporter: is it right in itself?
light
alerts=etc/prometheus/alerts.yml
python=$(PATH=/usr/bin:/bin command -v python3)

# as_json FILE: all documents of a file of YAML, one a line; a key that is there twice is an error
as_json() {
	"$python" - "$1" <<-'END'
		import json, sys, yaml
		class Strict(yaml.SafeLoader):
		    def construct_mapping(self, node, deep=False):
		        keys = [self.construct_object(k) for k, _ in node.value]
		        assert len(keys) == len(set(keys)), f"{node.start_mark}: a key twice"
		        return super().construct_mapping(node, deep)
		for document in yaml.load_all(open(sys.argv[1]), Strict):
		    print(json.dumps(document))
	END
}

it "promtool finds no fault with the rules"
run promtool check rules --lint=all --lint-fatal "$alerts"
status 0
lines 1 'SUCCESS: 10 rules found'

it "each alert fires and does not fire, by process and with --by, as alerts_test.yml says"
run promtool test rules etc/prometheus/alerts_test.yml
status 0
lines 1 SUCCESS
as_json "$alerts" | jq -r '.groups[].rules[].alert' >"$tmp/alerts"
as_json etc/prometheus/alerts_test.yml >"$tmp/out"
while read -r alert; do
	for fires in true false; do
		jq -e --arg a "$alert" "[.tests[].alert_rule_test[] | select(.alertname == \$a and (.exp_alerts != []) == $fires)] | length > 0" \
			"$tmp/out" >/dev/null || no "$alert: fires: $fires"
	done
	case $alert in
	CudaExporterDown | CudaEventsLost) continue ;;
	esac
	jq -e --arg a "$alert" '[.tests[].alert_rule_test[] | select(.alertname == $a) | .exp_alerts[].exp_labels.pid == null] | any and (all | not)' \
		"$tmp/out" >/dev/null || no "$alert: with a pid and without"
done <"$tmp/alerts"

it "each alert says what it is, what it means and which tool is next; no command has a program's name in it"
as_json "$alerts" | jq -c '.groups[].rules[]' >"$tmp/out"
json 10 '(.annotations | keys) == ["description", "runbook", "summary"]' \
	10 '.labels.severity | IN("info", "warning", "critical")' \
	0 '.annotations.runbook | test("labels\\.(comm|exe|kernel)")'
jq -r '.annotations.runbook' "$tmp/out" | grep -oE '\<cuda[a-z]+ [^:;,]*' | grep -v cudaexporter |
	sed 's/{{[^}]*}}//g; s/\. *$//; s/-p  */-p 1 /g' >"$tmp/commands"
[ "$(wc -l <"$tmp/commands")" -ge 6 ] || no "few commands"
while read -r tool words; do
	for word in $words; do
		case $word in
		-*) "$tool" --help | grep -qE -- "(^|[ ,])$word( |,|\$)" || no "$tool has no $word" ;;
		esac
	done
done <"$tmp/commands"

# metrics FILE...: the names of metrics in them
metrics() { cat "$@" | grep -oE '\<cuda_[a-z0-9_]+' | sort -u; }

it "each metric in them is one that the exporter has"
if [ -e tools/cudaexporter/metrics.def ]; then
	metrics tools/cudaexporter/metrics.def >"$tmp/defined"
	metrics "$alerts" etc/prometheus/alerts_test.yml etc/grafana/cuda.json docs/kubernetes.md | sed -E 's/_(bucket|sum|count)$//' |
		sort -u | grep -vxFf "$tmp/defined" >"$tmp/out"
	lines 0 ''
	it "the manual has each metric once, in the order of the exporter's pages"
	sed -n 's/^METRIC([A-Z_]*, "\([a-z_]*\)".*/\1/p' tools/cudaexporter/metrics.def >"$tmp/defined"
	sed -nE 's/^\.It Li ((cuda|process)_[a-z_]+)$/\1/p' man/cudaexporter.8 | grep -vx process_end_missed | diff "$tmp/defined" - >"$tmp/out" ||
		no "$(grep '^[<>]' "$tmp/out" | tr '\n' ' ')"
	[ "$(wc -l <"$tmp/defined")" -gt 30 ] || no "few metrics"
else
	skip "there is no tools/cudaexporter/metrics.def yet"
fi

it "the manual has each reason of lost events"
# up to the next metric
sed -n '/^\.It Li cuda_exporter_lost_events_total$/,/^\.It Li cuda_exporter_probe_hits_total$/p' man/cudaexporter.8 |
	sed -n 's/^\.It Li \([a-z_]*\)$/\1/p' | grep -v '^cuda_' | sort >"$tmp/told"
grep -oE 'reason=\\"[a-z_]+' tools/cudaexporter/self.c | cut -d'"' -f2 | sort >"$tmp/reasons"
[ "$(wc -l <"$tmp/reasons")" -ge 10 ] || no "few reasons"
if [ -s "$tmp/told" ]; then
	equal "$(cat "$tmp/told")" "$(cat "$tmp/reasons")"
else
	skip "there is no list of reasons in man/cudaexporter.8 yet"
fi

board=etc/grafana/cuda.json
it "the dashboard is one: ids and titles unique, panels that do not overlap, variables that exist"
jq -c '.panels[]' "$board" >"$tmp/out"
equal "$(jq .id "$tmp/out" | sort | uniq -d)" ''
equal "$(jq -r .title "$tmp/out" | sort | uniq -d)" ''
equal "$(jq -r 'select(.type == "row").title' "$tmp/out" | tr '\n' ' ')" 'Memory Errors Launches Copies Waiting NCCL Exporter '
jq -rs 'map(.gridPos | range(.y; .y + .h) as $y | range(.x; .x + .w) as $x | "\($x) \($y)") | .[]' "$tmp/out" | sort >"$tmp/cells"
equal "$(uniq -d "$tmp/cells")" ''
json 0 '.gridPos.x + .gridPos.w > 24' \
	0 '.type != "row" and (.datasource.uid != "${datasource}" or (.targets | length) == 0 or any(.targets[]; .datasource.uid != "${datasource}"))' \
	0 '.targets // [] | map(.refId) | length != (unique | length)' \
	0 '.type != "row" and .fieldConfig.defaults.unit == null and .type != "table"'
grep -oE '\$\{?[a-z_]+' "$board" | tr -d '${' | grep -v '^__' | sort -u >"$tmp/used"
jq -r '.templating.list[].name' "$board" | sort >"$tmp/has"
equal "$(cat "$tmp/used")" "$(cat "$tmp/has")"

it "the panels of the dashboard's picture are the dashboard's"
sed -n '/^PANELS = /,/\]$/p' scripts/dashboard-picture | grep -o '"[^"]*"' | tr -d '"' >"$tmp/drawn"
jq -r '.panels[].title' "$board" >"$tmp/titles"
[ "$(wc -l <"$tmp/drawn")" -ge 8 ] || no "few panels"
while read -r panel; do
	grep -qxF "$panel" "$tmp/titles" || no "no panel $panel"
	grep -qF ">$panel</text>" docs/pictures/cudaexporter.svg || no "$panel is not in the picture"
done <"$tmp/drawn"

it "the dashboard's queries are PromQL, and every one selects by job and instance"
"$python" - "$board" <<-'END' >"$tmp/rules.yml"
	import json, sys
	def expressions(x):
	    if isinstance(x, dict):
	        if "expr" in x: yield x["expr"]
	        for v in x.values(): yield from expressions(v)
	    elif isinstance(x, list):
	        for v in x: yield from expressions(v)
	found = list(expressions(json.load(open(sys.argv[1]))))
	rules = [{"record": f"q:{i}", "expr": e.replace("$__rate_interval", "5m").replace("$__range", "1h").replace("$top", "10")}
	         for i, e in enumerate(found)]
	print(json.dumps({"groups": [{"name": "queries", "rules": rules}]}))
END
run promtool check rules --lint=none "$tmp/rules.yml"
status 0
jq -c '.groups[].rules[]' "$tmp/rules.yml" >"$tmp/out"
[ "$(wc -l <"$tmp/out")" -gt 25 ] || no "few queries"
jq -r '.groups[].rules[].expr' "$tmp/rules.yml" | grep -oE '\<(cuda|process)_[a-z_]+(\{[^}]*\})?' | grep -vF 'job=~"$job", instance=~"$instance"' >"$tmp/out"
lines 0 ''

it "the files for Kubernetes are YAML, and fit together"
as_json etc/kubernetes/daemonset.yaml >"$tmp/out"
equal "$(jq -r .kind "$tmp/out" | tr '\n' ' ')" 'Namespace ServiceAccount DaemonSet Service '
json 4 '(.metadata.namespace // .metadata.name) == "cudaexporter"' \
	1 '.kind == "DaemonSet" and .spec.selector.matchLabels == .spec.template.metadata.labels'
equal "$(jq -c 'select(.kind == "Service").spec.selector' "$tmp/out")" "$(jq -c 'select(.kind == "DaemonSet").spec.selector.matchLabels' "$tmp/out")"
as_json etc/kubernetes/servicemonitor.yaml | jq -c .spec >"$tmp/monitor"
equal "$(jq -c .selector.matchLabels "$tmp/monitor")" "$(jq -c 'select(.kind == "Service").metadata.labels' "$tmp/out")"
equal "$(jq -r '.endpoints[].port' "$tmp/monitor")" "$(jq -r 'select(.kind == "Service").spec.ports[].name' "$tmp/out")"
jq -c 'select(.kind == "DaemonSet").spec.template.spec' "$tmp/out" >"$tmp/pod" && mv "$tmp/pod" "$tmp/out"
json 1 '.hostPID and (.hostNetwork | not) and .automountServiceAccountToken == false' \
	1 '.containers[0].securityContext | .readOnlyRootFilesystem and .capabilities.drop == ["ALL"] and .privileged == false and .allowPrivilegeEscalation == false' \
	1 '.containers[0] | .livenessProbe.httpGet.path == "/-/healthy" and .readinessProbe.httpGet.path == "/-/ready" and .resources.limits.memory == "128Mi"' \
	1 '[.containers[0].volumeMounts[] | select(.readOnly != true)] == [] and ([.containers[0].volumeMounts[].name] == [.volumes[].name])' \
	1 '(.containers[0].ports[0].containerPort | tostring) as $p | any(.containers[0].args[]; . == "--web.listen-address=:" + $p)'

it "docs/kubernetes.md says of each capability what it is for"
sed -n 's/^ *add: \[\(.*\)\]/\1/p' etc/kubernetes/daemonset.yaml | tr -d ' ' | tr ',' '\n' >"$tmp/caps"
equal "$(wc -l <"$tmp/caps")" 5
while read -r cap; do
	grep -q "^| \`$cap\` |" docs/kubernetes.md || no "$cap"
done <"$tmp/caps"

it "the queries of docs/kubernetes.md join with kube-state-metrics and dcgm-exporter"
"$python" - docs/kubernetes.md >"$tmp/joins.yml" <<-'END'
	import json, re, sys
	found = [e for e in re.findall(r"```\n(.*?)```", open(sys.argv[1]).read(), re.S) if "group_left" in e]
	assert len(found) == 3, found
	series = {"cuda_memory_held_bytes{instance='n', pid='7', comm='a', pod_uid='p', device='0', memory='device'}": 4099,
	          "cuda_process_device_info{instance='n', pid='7', device='0', gpu_uuid='GPU-b'}": 1,
	          "cuda_process_gpu_memory_bytes{instance='n', pid='7', comm='a', gpu_uuid='GPU-b'}": 6007,
	          "DCGM_FI_DEV_GPU_UTIL{instance='dcgm', gpu='3', UUID='GPU-a'}": 23,
	          "DCGM_FI_DEV_GPU_UTIL{instance='dcgm', gpu='5', UUID='GPU-b'}": 67,
	          "kube_pod_info{instance='state', uid='p', pod='train', namespace='ml'}": 1}
	wanted = [("{pid='7', comm='a', pod_uid='p', pod='train', namespace='ml'}", 4099),
	          ("{instance='n', pid='7', device='0', gpu_uuid='GPU-b'}", 4099),
	          ("{pid='7', comm='a', gpu_uuid='GPU-b'}", 67)]
	tests = [{"expr": e, "eval_time": "0m", "exp_samples": [{"labels": labels, "value": value}]}
	         for e, (labels, value) in zip(found, wanted)]
	print(json.dumps({"tests": [{"input_series": [{"series": s, "values": str(v)} for s, v in series.items()],
	                             "promql_expr_test": tests}]}))
END
run promtool test rules "$tmp/joins.yml"
status 0
lines 1 SUCCESS

it "the options in them are the exporter's"
grep -hv '^docker ' etc/default/cudaexporter etc/kubernetes/daemonset.yaml docs/kubernetes.md |
	grep -oE -- '--[a-z][a-z.-]+' | sort -u >"$tmp/options"
if [ -x "$O/cudaexporter" ]; then
	cudaexporter --help | grep -oE -- '--[a-z][a-z.-]+' | sort -u >"$tmp/has"
	grep -vxFf "$tmp/has" "$tmp/options" >"$tmp/out"
	lines 0 ''
else
	skip "there is no cudaexporter yet"
fi

long || leave

# changed SED: do the rules, changed by it, still pass their tests?
changed() {
	mkdir -p "$tmp/rules"
	cp etc/prometheus/alerts_test.yml "$tmp/rules"
	sed "$1" "$alerts" >"$tmp/rules/alerts.yml"
	! cmp -s "$alerts" "$tmp/rules/alerts.yml" || no "nothing is changed by $1"
	(cd "$tmp/rules" && promtool test rules alerts_test.yml >/dev/null 2>&1)
}

it "the tests of alerts notice a change of each of these"
for change in 's/{job="cudaexporter"}//' 's/\[20m\]/[1h]/' 's/without (device, age)/by (instance, pid)/' \
	's/without (function)/without (device)/' 's/> 300/> 30/' 's/for: 30m/for: 5m/' 's/!~"host|ipc"/!=""/' \
	's/64 \* 1024/256 * 1024/' 's/ -p {{ . }}/ -p 1/'; do
	! changed "$change" || no "not $change"
done
