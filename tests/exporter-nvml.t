# shellcheck shell=sh
# What NVIDIA's management library says, for cudaexporter, by a simulated one; and which GPU a program's device is.

it "the GPUs of a program by its environment, its device nodes and the driver"
grep -v '^#' tests/unit/exporter-devices.tbl >"$tmp/table"
cut -d' ' -f2- "$tmp/table" | "$bin/exporter-devices" >"$tmp/out"
cut -d' ' -f1 "$tmp/out" | paste -d' ' - "$tmp/table" | while read -r got want row; do
	[ "$got" = "$want" ] || echo "$row: $got"
done >"$tmp/differ"
[ ! -s "$tmp/differ" ] || no "$(tr '\n' ';' <"$tmp/differ")"
[ "$(wc -l <"$tmp/out")" -ge 61 ] || no "there are $(wc -l <"$tmp/out") rows"

it "a device that is not known has a reason"
lines 0 '^[?][^ ]* -$'
lines 4 'CUDA_DEVICE_ORDER is not PCI_BUS_ID: the fastest is first$'

# gpus: of 80 GiB, not in the order of the bus
export SIM_NVML="$tmp/nvml"
gpus() {
	echo "gpu GPU-b H100 $((80 << 30)) $((7 << 30)) 65 1"
	echo "gpu GPU-a H100 $((80 << 30)) $((3 << 30)) 1 0"
}
# says_now LINE...: what the library says from now on; in one step
says_now() { { gpus; for line; do echo "$line"; done; } >"$tmp/next" && mv "$tmp/next" "$SIM_NVML"; }
# reads MS TIMES: in the background, the second time and later ones after a line to descriptor 3
reads() {
	: >"$tmp/out"	# what was there before was of another
	"$nvml" read "$@" <"$tmp/go" >"$tmp/out" 2>"$tmp/err" & reader=$!
	pids="$pids $reader"
	exec 3>"$tmp/go"
}
mkfifo "$tmp/go"
# read_times N: the reader has come to the end of so many readings
read_times() { [ "$(grep -c read "$tmp/out")" -eq "$1" ]; }
export LD_LIBRARY_PATH="$lib"
nvml=$bin/exporter-nvml
ps_='process 0 101 1009'
both='process 1 101 2003'

it "each GPU's memory and each process's, in the order of the bus"
says_now "$ps_" "$both" 'process 1 103 4001'
run "$nvml" read 5000 1
status 0
silent
json 1 '.read == true'
equal "$(jq -c 'select(.uuid) | [.uuid, .name, .bus, .minor, .total, .used]' "$tmp/out" | tr '\n' ' ')" \
	'["GPU-a","H100",1,0,85899345920,3221225472] ["GPU-b","H100",65,1,85899345920,7516192768] '
equal "$(jq -c 'select(.pid) | [.pid, .on, .holds]' "$tmp/out" | sort | tr '\n' ' ')" \
	'[101,"GPU-a",2003] [101,"GPU-b",1009] [103,"GPU-a",4001] '

for v in 1 3; do
	it "a library that has only version $v of the list of processes"
	LD_LIBRARY_PATH=$lib/nvml-v$v run "$nvml" read 5000 1
	equal "$(jq -c 'select(.pid) | [.pid, .on, .holds]' "$tmp/out" | sort | tr '\n' ' ')" \
		'[101,"GPU-a",2003] [101,"GPU-b",1009] [103,"GPU-a",4001] '
done

it "a process that is listed for several parts of a GPU has their sum; one that the driver knows nothing of has none"
says_now "$ps_" "$ps_" 'process 0 103 -1' 'mig 0 MIG-1' 'mig 0 MIG-2'
run "$nvml" read 5000 1
json 1 '.pid' 1 '.pid == 101 and .holds == 2018' 1 '.uuid == "GPU-b" and .mig and .parts == 2' \
	1 '.uuid == "GPU-a" and (.mig | not)'

it "clients of the multi-process service are listed, and count once"
says_now "$ps_" 'client 0 101 1009' 'client 0 107 503' 'client 1 101 5'
run "$nvml" read 5000 1
equal "$(jq -c 'select(.pid) | [.pid, .on, .holds]' "$tmp/out" | sort | tr '\n' ' ')" \
	'[101,"GPU-a",5] [101,"GPU-b",1009] [107,"GPU-b",503] '

it "a GPU that is lost, or does not tell its memory, leaves the others"
says_now 'gpu GPU-c H100 0 0 97 2' 'gpu GPU-d H100 4096 5 98 3' 'lost 0' "$both" 'process 3 107 2'
run "$nvml" read 5000 1
equal "$(jq -r 'select(.uuid) | "\(.uuid) \(.known)"' "$tmp/out" | tr '\n' ' ')" 'GPU-a true GPU-c false GPU-d true '
json 1 '.pid == 107 and .on == "GPU-d"' 1 '.pid == 101 and .on == "GPU-a"'

it "64 GPUs and 4096 processes are the most that is read"
{
	for i in $(seq 0 70); do echo "gpu GPU-$i H100 4096 5 $i $i"; done
	seq -f 'process 0 %.0f 7' 1 4090
	echo 'process 1 7 7'
	seq -f 'process 2 %.0f 7' 1 97
} >"$SIM_NVML"
run "$nvml" read 5000 1
json 64 '.uuid' 4096 '.pid' 5 '.on == "GPU-2"'

it "what it says is read anew each time"
says_now "$ps_"
reads 5000 3
until_true grep -q holds "$tmp/out"
says_now 'process 0 101 1013'
echo >&3
until_true grep -q 1013 "$tmp/out"
says_now
echo >&3
wait $reader
exec 3>&-
json 3 '.read == true' 2 '.pid'

it "without the library nothing is said, and with -v why"
LD_LIBRARY_PATH='' run "$nvml" read 5000 2 </dev/null
status 1
equal "$(cat "$tmp/err")" ''
json 1 '.read == false'
LD_LIBRARY_PATH='' VERBOSE=1 run "$nvml" read 5000 1
says "NVIDIA's management library: libnvidia-ml.so.1: cannot open shared object file"

it "without a driver nothing is said, and once it is there it is read"
mv "$SIM_NVML" "$tmp/away"
reads 5000 2
until_true grep -q false "$tmp/out"
mv "$tmp/away" "$SIM_NVML"
echo >&3
wait $reader
exec 3>&-
equal "$(cat "$tmp/err")" ''
json 1 '.read == false' 1 '.read == true' 2 '.uuid'

it "a driver that the library does not fit is said once; it is tried again"
says_now 'init 18'
printf '\n\n' | run "$nvml" read 5000 3
status 1
lines 3 '"read":false'
equal "$(cat "$tmp/err")" "exporter-nvml: NVIDIA's management library: Driver/library version mismatch: GPU memory metrics are left out"

it "a call that hangs keeps nobody waiting, and its late answer is not taken for a new one"
says_now hang "$ps_"
reads 211 4
until_true grep -q read "$tmp/out"
echo >&3
until_true read_times 2
json 2 '.read == false' 0 '.uuid'
# the second one does not wait
json 1 '.read == false and .ms >= 211' 1 '.read == false and .ms < 211'
says_now "$ps_"
sleep .5
says_now 'process 0 101 1013'
echo >&3
until_true grep -q true "$tmp/out"
json 0 '.holds == 1009' 1 '.holds == 1013'
silent
echo >&3
wait $reader
exec 3>&-

it "one that crashes is said once and is started again, three times"
says_now crash
reads 5000 5
until_true grep -q read "$tmp/out"
says_now
echo >&3
until_true grep -q true "$tmp/out"
equal "$(grep -c crashed "$tmp/err")" 1
says_now crash
echo >&3
until_true read_times 3
equal "$(grep -c crashed "$tmp/err")" 1
echo >&3
until_true read_times 4
equal "$(grep -c 'from now on' "$tmp/err")" 1
says_now
echo >&3
wait $reader
exec 3>&-
json 4 '.read == false'

# ---- a program's environment

says_now
it "the environment that a program was started with says which GPUs it has"
env CUDA_VISIBLE_DEVICES=1,0 sleep 100 & pid=$!
pids="$pids $pid"
until_true grep -q sleep "/proc/$pid/comm"
run "$nvml" find $pid
status 0
lines 1 '^0 GPU-b$'
lines 1 '^1 GPU-a$'
lines 1 '^2 the program was started with fewer visible GPUs$'
says_now "process 1 $pid 7"
run "$nvml" find $pid
lines 1 '^0 GPU-a$'
lines 1 '^1 GPU-a$'
kill $pid

it "the first page says which GPU each device of a process is"
program env CUDA_VISIBLE_DEVICES=1,0 "$bin/mem" malloc 3 64 wait
run cudaexporter --once -d 1 -p "$pid"
status 0
lines 1 "^cuda_process_device_info\\{pid=\"$pid\",device=\"0\",gpu_uuid=\"GPU-b\"} 1\$"
lines 1 "^cuda_process_device_info\\{pid=\"$pid\",device=\"1\",gpu_uuid=\"GPU-a\"} 1\$"
go

it "an environment of any size is read, up to a mebibyte; of a long list the beginning counts"
long_one=$(printf '1,%.0s' $(seq 2003))
set --
for i in $(seq 97); do set -- "$@" "N$i=$(printf %01009d 7)"; done
env "$@" CUDA_VISIBLE_DEVICES="0,x,$long_one" sleep 100 & pid=$!
pids="$pids $pid"
until_true grep -q sleep "/proc/$pid/comm"
run "$nvml" find $pid
status 0
lines 1 '^0 GPU-a$'
lines 1 '^1 the program was started with fewer visible GPUs$'
kill $pid

it "a container has the GPUs whose device nodes it has"
mkdir -p "$tmp/root/dev"
echo 'int pause(void); int main(void) { return pause(); }' | ${CC:-cc} -static -x c -o "$tmp/root/contained" -
if ! mknod "$tmp/root/dev/nvidia1" c 195 1 2>/dev/null; then
	skip 'no device can be made here'
else
	# what is none of the driver's does not count
	mknod "$tmp/root/dev/nvidia2" c 1 3
	: >"$tmp/root/dev/nvidia0"
	chroot "$tmp/root" /contained & pid=$!
	pids="$pids $pid"
	until_true grep -q contained "/proc/$pid/comm"
	run "$nvml" find $pid
	lines 1 '^0 GPU-b$'
	lines 1 '^1 the program was started with fewer visible GPUs$'
	kill $pid
fi

it "a container whose /dev is a link is not followed out of its root"
if [ -e "$tmp/root/dev/nvidia1" ]; then
	mkdir -p "$tmp/other/nodes"
	mknod "$tmp/other/nodes/nvidia1" c 195 1
	cp "$tmp/root/contained" "$tmp/other"
	ln -s "../../../../../../../../../..$tmp/root/dev" "$tmp/other/dev"
	chroot "$tmp/other" /contained & pid=$!
	pids="$pids $pid"
	until_true grep -q contained "/proc/$pid/comm"
	run "$nvml" find $pid
	lines 1 '^0 GPU-a$'
	lines 1 '^1 GPU-b$'
	ln -sfn /nodes "$tmp/other/dev"
	run "$nvml" find $pid
	lines 1 '^0 GPU-b$'
	kill $pid
else
	skip 'no device can be made here'
fi

it "a program that is gone has none"
wait $pid 2>/dev/null
run "$nvml" find $pid
lines 1 '^No such process$'

long || leave

it "a library that does not answer for five seconds is said once"
says_now hang
(sleep 6; echo; sleep 1; echo) | run "$nvml" read 100 3
lines 3 '"read":false'
equal "$(grep -c 'is not responding' "$tmp/err")" 1
