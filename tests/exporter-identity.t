# shellcheck shell=sh
# Who a process is, for cudaexporter: what its cgroups' names say, and its labels.

A=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
B=fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210
P=11111111-2222-3333-4444-55555555555a Q=99999999-8888-7777-6666-555555555555
H=0123456789abcdef0123456789abcdef

# ids: the table's words become ids
ids() {
	sed "s/@A/$A/g; s/@B/$B/g; s/@P/$P/g; s/@Q/$Q/g; s/@H/$H/g
		s/@p/$(echo $P | tr - _)/g; s/@q/$(echo $Q | tr - _)/g"
}

it "the names of cgroups say what container, pod and job a process is in"
grep -v '^#' tests/unit/cgroup-names.tbl | ids >"$tmp/table"
while IFS=' ' read -r container pod job text; do
	got=$(printf '%b\n' "$text" | "$bin/cgroup-names" -)
	[ "$got" = "$container $pod $job" ] || no "$text: $got"
done <"$tmp/table"
[ "$(wc -l <"$tmp/table")" -ge 53 ] || no "the table has $(wc -l <"$tmp/table") rows"

it "text of any length and depth is read to its end"
{
	printf '0::'
	head -c 100000 /dev/zero | tr '\0' '/'
	for _ in $(seq 1009); do printf '/kubepods/slurm/pod%s' $Q; done
	printf '/pod%s/%s\n' $P $A
} >"$tmp/deep"
equal "$("$bin/cgroup-names" - <"$tmp/deep")" "$A $P -"

it "a process that is gone is in none"
true & gone=$!
wait $gone
! "$bin/cgroup-names" $gone >"$tmp/out" || no "$(cat "$tmp/out")"

# launches BY LABEL: 7 of a process in the cgroup are the label's
launches() {
	program "$bin/mem" wait launch 7 wait
	echo "$pid" >"$group/cgroup.procs"
	tool cudaexporter --once -d 3 --by "$1" -p "$pid"
	echo >&3
	wait "$tracer"
	# the driver is loaded, and the device may become known, in the first
	equal "$(sed -nE 's/^cuda_launches_total(\{.*),device="[^"]*"(,kind="kernel"\}) /\1\2 /p' "$tmp/out" |
		awk '{ n[$1] += $2 } END { for (series in n) print series, n[series] }')" "{$2,kind=\"kernel\"} 7"
	go
}

it "a process in a container's cgroup"
mkdir "$tmp/cgroup"
if mount -t cgroup2 none "$tmp/cgroup" 2>/dev/null; then
	top=$tmp/cgroup/kubepods.slice$$
	pod=$top/kubepods-pod$(echo $P | tr - _).slice
	group=$pod/cri-containerd-$A.scope
	if mkdir -p "$group" 2>/dev/null; then
		sleep 100 & inside=$!
		pids="$pids $inside"
		echo $inside >"$group/cgroup.procs"
		equal "$("$bin/cgroup-names" $inside)" "$A $P -"
		kill -KILL $inside	# a shell that has not begun to sleep yet may not take another signal
		wait $inside 2>/dev/null
		it "what a process in a container's cgroup launches is its pod's, and its container's"
		launches pod "pod_uid=\"$P\""
		launches container "container_id=\"$A\""
		until_true rmdir "$group"
		rmdir "$pod" "$top"
	else
		skip 'no cgroup can be made here'
	fi
	umount "$tmp/cgroup"
else
	skip 'no cgroups of version 2 can be mounted here'
fi


# label_of TEXT: as the label's value, by printf's rules for TEXT
# shellcheck disable=SC2059 # it is a format
label_of() { printf "$1" | "$bin/labels" value; }

it "a label's value: backslash, quote and newline by Prometheus' rules"
equal "$(label_of 'train')" train
equal "$(label_of '')" ''
equal "$(label_of 'a"b\\c\nd')" 'a\"b\\c\nd'
equal "$(label_of '\\n')" '\\n'

it "a label's value: what is no UTF-8, and control characters, as \\xNN"
equal "$(label_of 'gr\303\274n \346\274\242')" 'grün 漢'
equal "$(label_of 'gr\374n')" 'gr\\xfcn'
equal "$(label_of '\300\200 \355\240\200 \303')" '\\xc0\\x80 \\xed\\xa0\\x80 \\xc3'
equal "$(label_of '\001\r\t\177')" '\\x01\\x0d\\x09\\x7f'
equal "$(label_of '\302\205 \342\200\256')" '\\xc2\\x85 \\xe2\\x80\\xae'

it "labels are those asked for, in one order; without the pid the series are sums"
run "$bin/labels" = - - train /opt/train $A
lines 1 '^0 {pid="7",comm="train"} {pid="other",comm="other"}$'
run "$bin/labels" = slurm_job,uid,pod_uid,exe,container_id,comm,pid - train /opt/train $A
lines 1 '^0 {pid="7",comm="train",exe="/opt/train",uid="5",container_id="'$A'",pod_uid="",slurm_job=""} '
run "$bin/labels" = uid,comm - train /opt/train $A
lines 1 '^1 {comm="train",uid="5"} {comm="other",uid="other"}$'
run "$bin/labels" = - container train /opt/train $A
lines 1 '^1 {container_id="'$A'"} {container_id="other"}$'
for by in pod:pod_uid comm:comm uid:uid job:slurm_job; do
	run "$bin/labels" = - ${by%:*} other x $A
	lines 1 "^1 {${by#*:}=\"[^\"]*\"} {${by#*:}=\"other\"}$"
done

it "--labels and --by refuse what is no label"
fails 2 "--labels: unknown label 'pods': use pid,comm,exe,uid,container_id,pod_uid,slurm_job" "$bin/labels" = pid,pods - a b c
fails 2 "--labels: unknown label '': use" "$bin/labels" = '' - a b c
fails 2 "--labels: unknown label '': use" "$bin/labels" = pid, - a b c
fails 2 "--labels: unknown label 'pidcomm': use" "$bin/labels" = pidcomm - a b c
fails 2 "--labels: 'pid' is given twice" "$bin/labels" = pid,comm,pid - a b c
fails 2 "--by: unknown word 'pid': use pod|container|comm|uid|job" "$bin/labels" = - pid a b c
fails 2 "--by: unknown word '': use" "$bin/labels" = - '' a b c
fails 2 "--labels and --by are mutually exclusive" "$bin/labels" = pid comm a b c

everything=pid,comm,exe,uid,container_id,pod_uid,slurm_job
it "a process is known by its name, its program's path and its real user"
cp "$(command -v sleep)" "$tmp/a \"train\""
setpriv --ruid 1009 --euid 0 "$tmp/a \"train\"" 100 & pid=$!
pids="$pids $pid"
until_true grep -q train "/proc/$pid/comm"
run "$bin/labels" $everything - $pid
grep -qF '{pid="'"$pid"'",comm="a \"train\"",exe="'"$tmp"'/a \"train\"",uid="1009",' "$tmp/out" || no "$(cat "$tmp/out")"

it "a program that was deleted since keeps its path; of a long path the end is kept"
rm "$tmp/a \"train\""
run "$bin/labels" exe - $pid
grep -qF 'exe="'"$tmp"'/a \"train\""} {' "$tmp/out" || no "$(cat "$tmp/out")"
kill $pid
# 149 bytes of the folder with the two-byte letters would fit
deep=$tmp/$(printf 'ü%.0s' $(seq 100))/$(printf %099d 1)
mkdir -p "$deep"
cp "$(command -v sleep)" "$deep/train"
"$deep/train" 100 & pid=$!
pids="$pids $pid"
until_true grep -q train "/proc/$pid/comm"
run "$bin/labels" exe - $pid
equal "$(sed 's/^1 {exe="\(.*\)"} .*/\1/' "$tmp/out")" "$(printf %s "$deep/train" | tail -c 254)"
kill $pid

it "of a process that is gone nothing is known"
wait $pid 2>/dev/null
run "$bin/labels" comm,exe,uid,container_id,pod_uid,slurm_job - $pid
lines 1 '^1 {comm="",exe="",uid="",container_id="",pod_uid="",slurm_job=""} '
