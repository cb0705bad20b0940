# shellcheck shell=sh disable=SC2016,SC2034,SC2086,SC2154 # other shells; rc: the words'; lists of words
# As whom the command of -c runs, and with what.
light

# a directory that anyone may look into, for programs of another user
away=$(mktemp -d) && chmod 755 "$away"
trap 'rm -rf "$away"; finish' EXIT
cp "$bin/mem" "$bin/mem-dlopen" "$lib/libcudart.so.13" "$lib/libcuda.so.1" "$O/cudamallocsnoop" "$away"
mem="LD_LIBRARY_PATH=$away $away/mem"
other='setpriv --reuid 65534 --regid 65534 --groups 65534'
by_sudo='env SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=who SUDO_COMMAND=x'

# with CAPABILITIES: $with, for a command of another user who has these and no others
with() {
	with="$other --inh-caps -all$1 --ambient-caps -all$1 --bounding-set -all$1"
}

# same_as COMMAND...: the last run printed what this prints
same_as() { equal "$(cat "$tmp/out")" "$("$@" 9>&-)"; }

# words: of the output, on one line
words() { tr -s ' \t\n' '[ *]' <"$tmp/out" | sed 's/ $//'; }

# named OUTPUT_OF_PASSWD OUTPUT_OF_INITGROUPS COMMAND...: runs it where getent says so
named() {
	printf '#!/bin/sh\ncase $1 in passwd) printf "%%b" '\''%s'\'' ;; *) printf "%%b" '\''%s'\'' ;; esac\n' \
		"$1" "$2" >"$tmp/getent"
	chmod 755 "$tmp/getent"
	shift 2
	run unshare -m sh -c 'mount --bind "$0" /usr/bin/getent && exec "$@"' "$tmp/getent" "$@"
}

privileges='grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp)" /proc/self/status'
signals='grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status'
limits='cat /proc/self/limits'
files='ls /proc/self/fd'

it "called by sudo, it runs the command as the user who called, with that one's privileges"
run $by_sudo cudamallocsnoop -jqc "$privileges"
status 0
same_as $other --inh-caps -all sh -c "$privileges"
lines 1 'CapEff:.0+$'
lines 1 'CapPrm:.0+$'
lines 1 'CapInh:.0+$'
lines 1 'CapAmb:.0+$'
lines 1 'Uid:.65534.65534.65534.65534$'
lines 1 'NoNewPrivs:.0$'

it "-u does so for the user that it names"
for user in nobody ${LONG:+65534} 65534:65534; do
	run cudamallocsnoop -jqu $user -c "$privileges"
	status 0
	same_as $other --inh-caps -all sh -c "$privileges"
done
run cudamallocsnoop -jqu 65534:7 -c 'id -u; id -g; id -G'
equal "$(words)" '65534 7 7'
run $by_sudo cudamallocsnoop -jqu root -c 'id -u; grep CapEff /proc/self/status'
equal "$(cat "$tmp/out")" "$(id -u; grep CapEff /proc/self/status)"

it "without sudo and -u the command has what the caller has"
run cudamallocsnoop -jqc "$privileges"
same_as sh -c "$privileges"
run env SUDO_UID=0 SUDO_GID=0 cudamallocsnoop -jqc "$privileges"
same_as sh -c "$privileges"
with ,+bpf,+perfmon,+checkpoint_restore
run $with env SUDO_UID=1 SUDO_GID=1 "$away/cudamallocsnoop" -jqc "$privileges"
status 0
same_as $with sh -c "$privileges"

it "inheritable and ambient capabilities do not get to another user"
run setpriv --inh-caps +kill,+sys_admin --ambient-caps +kill,+sys_admin cudamallocsnoop -jqu nobody -c "$privileges"
same_as $other --inh-caps -all sh -c "$privileges"

it "limits, signals, directory and mask are the caller's"
cat >"$tmp/caller" <<'END'
#!/bin/sh
umask 027 && ulimit -Sn 321 && exec env --block-signal=USR2 --ignore-signal=QUIT,PIPE,USR1 "$@"
END
chmod 755 "$tmp/caller"
for who in '' "$by_sudo"; do
	what="$limits; $signals; pwd; umask; ulimit -Sn; ulimit -Hn"
	run "$tmp/caller" $who cudamallocsnoop -jqc "$what"
	status 0
	same_as "$tmp/caller" ${who:+$other --inh-caps -all} sh -c "$what"
	lines 1 '^321$'
done

it "a caller who ignores the end of children gets the exit status"
run env --ignore-signal=CHLD cudamallocsnoop -jqc 'exit 37'
status 37

it "no descriptor of the tool gets to the command, and to another user none but three"
for tool in cudamallocsnoop "cudatrace --chrome $tmp/chrome" 'cudalaunchtop -b'; do
	run $tool -qc "$files >&2"
	grep '^[0-9]' "$tmp/err" >"$tmp/out"
	same_as sh -c "$files"
	run $by_sudo $tool -qc "$files >&2" 7<README.md
	grep '^[0-9]' "$tmp/err" >"$tmp/out"
	equal "$(words)" '0 1 2 3'	# the last is the folder
done
run cudamallocsnoop -jqc 'cat <&7' 7<LICENSE
equal "$(cat "$tmp/out")" "$(cat LICENSE)"

it "HOME, USER, LOGNAME and SHELL are those of the other user, SUDO_* remain"
run $by_sudo cudamallocsnoop -jqc 'echo $HOME $USER $LOGNAME $SHELL $SUDO_UID $SUDO_GID $SUDO_USER'
entry=$(getent passwd 65534)
equal "$(cat "$tmp/out")" "$(echo "$entry" | cut -d: -f6) nobody nobody $(echo "$entry" | cut -d: -f7) 65534 65534 who"
run env HOME=/here USER=me LOGNAME=me SHELL=/bin/mine cudamallocsnoop -jqc 'echo $HOME $USER $LOGNAME $SHELL'
equal "$(cat "$tmp/out")" '/here me me /bin/mine'
run env USER=me LOGNAME=me cudamallocsnoop -jqu 64999:64999 -c 'echo "$HOME:$USER:$LOGNAME"'
equal "$(cat "$tmp/out")" '/::'

if ! unshare -m mount --bind /bin/true /usr/bin/getent 2>/dev/null; then
	it "users whom getent knows"
	skip "no mounts are allowed here"
else
	it "supplementary groups are those that getent knows"
	all='id -u; id -g; grep Groups: /proc/self/status; echo $USER $HOME'
	named 'a b:x:1234:7:A, B:/home/a b:/bin/sh\n' 'a b   11 13 1234567\n' \
		cudamallocsnoop -jqu 'a b' -c "$all"
	equal "$(words)" '1234 7 Groups: 7 11 13 1234567 a b /home/a b'
	says_not groups
	named 'ab:x:65534:7::/home/ab:/bin/sh\n' 'ab 11\n' $by_sudo cudamallocsnoop -jqc "$all"
	equal "$(words)" '65534 65534 Groups: 11 65534 ab /home/ab'
	says_not groups

	it "groups that are not known are left out with a warning"
	for groups in '' 'ab 11' 'ab 11 4294967295\n' 'ab -1\n' 'abc 11\n' 'ab 0x0\n'; do
		named 'ab:x:65534:7::/home/ab:/bin/sh\n' "$groups" cudamallocsnoop -jqu ab -c "$all"
		equal "$(words)" '65534 7 Groups: 7 ab /home/ab'
		says "without supplementary groups: 'getent initgroups ab' does not list those of the user"
	done

	it "an entry that makes no sense is none"
	for entry in '' 'ab:x:5:7::/:/bin/sh' 'ab:x:4294967295:7::/:/bin/sh\n' 'ab:x:5:-1::/:/bin/sh\n' \
		'ab:x:4294967296:7::/:/bin/sh\n' 'ab:x::7::/:/bin/sh\n' 'ab:x:5:7::/\n' 'ab:x:5:7::/:/bin/sh:\n' \
		':x:5:7::/:/bin/sh\n' 'ab:x: 5:7::/:/bin/sh\n' 'ab:x:99999999999999999999:7::/:/bin/sh\n'; do
		named "$entry" 'ab\n' cudamallocsnoop -u ab -c 'echo ran'
		status 1
		lines 0 ran
		says "--user: there is no user 'ab'"
	done
	named 'ab:x:0:0::/:/bin/sh\n' 'ab\n' cudamallocsnoop -u 77 -c 'echo ran'
	status 1
	says "--user: there is no user with the UID 77: give UID:GID"

	it "whom getent does not know is taken from sudo by number, without supplementary groups"
	named '' '' $by_sudo cudamallocsnoop -jqc "$privileges"
	same_as $other --inh-caps -all sh -c "$privileges"
	says "without supplementary groups: 'getent passwd 65534' does not list the user who called sudo"

	it "getent may be missing: numbers do without"
	: >"$tmp/none"
	missing() { run unshare -m sh -c 'mount --bind "$0" /usr/bin/getent && exec "$@"' "$tmp/none" "$@"; }
	missing cudamallocsnoop -u nobody -c 'echo ran'
	status 1
	lines 0 ran
	says "--user: cannot run /usr/bin/getent to look up 'nobody' (UID:GID needs none): Permission denied"
	missing cudamallocsnoop -jqu 65534:65534 -c "$privileges"
	same_as $other --inh-caps -all sh -c "$privileges"
	says_not groups
fi

it "a user that there is not is named, and the command is not run"
for user in nosuchuser -v '' 4242:x x:1 1: :1 4294967295:1 1:4294967295 1:2:3 "$(printf 'a\nb')" 64999; do
	run cudamallocsnoop --user="$user" -c 'echo ran'
	lines 0 ran
	case $user in
	*:*) status 2; says "--user: '$user' is not a name, a UID or UID:GID" ;;
	'') status 2; says '--user: USER must not be empty' ;;
	6*) status 1; says "--user: there is no user with the UID $user: give UID:GID" ;;
	*b) status 1; says "--user: there is no user 'a\\x0ab'" ;;
	*) status 1; says "--user: there is no user '$user'" ;;
	esac
done

it "-u without -c is a usage error"
fails 2 '--user requires a command: --command or -- CMD' cudamallocsnoop -u nobody
fails 2 '--user requires a command: --command or -- CMD' cudamallocsnoop -u nobody -p 1

it "SUDO_UID and SUDO_GID that are none are not guessed at"
for sudo in 'SUDO_UID=x SUDO_GID=1' 'SUDO_UID=-1 SUDO_GID=1' 'SUDO_UID=1 SUDO_GID=4294967295' 'SUDO_UID=1' \
	'SUDO_UID= SUDO_GID='; do
	run env $sudo cudamallocsnoop -c 'echo ran'
	status 1
	lines 0 ran
	says 'invalid SUDO_UID='
	says ': give -u USER'
done

it "-u wants CAP_SETUID and CAP_SETGID, and says so"
with ,+bpf,+perfmon,+checkpoint_restore
fails 1 'not permitted to run the command as user nobody: CAP_SETUID and CAP_SETGID are missing: run as root or' \
	$with "$away/cudamallocsnoop" -u nobody -c 'echo ran'
lines 0 ran
with ,+bpf,+perfmon,+checkpoint_restore,+setuid
fails 1 'as user 7:7: CAP_SETGID is missing: run as root or grant it' \
	$with "$away/cudamallocsnoop" -u 7:7 -c 'echo ran'
lines 0 ran

it "a step that fails is named, and the command is not run"
cat >"$tmp/filter.c" <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argc > 2 ? atoi(argv[1]) : 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | atoi(argv[2])),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return 99;
	execvp(argv[3], argv + 3);
	return 98;
}
END
${CC:-cc} "$tmp/filter.c" -o "$tmp/filter"
# without CALL ERRNO WHAT: the call fails, or is said to have worked without having done so
without() {
	call=$(echo "#include <sys/syscall.h>
__NR_$1" | ${CC:-cc} -E -P - | tail -n 1)
	fails 1 "the command is not run: cannot change to the $3 of user 65534" \
		"$tmp/filter" "$call" "$2" cudamallocsnoop -u nobody -c 'echo ran'
	lines 0 ran
}
without close_range 38 descriptors
without setgroups 1 groups
without setresgid 1 'user and group'
without setresgid 0 'user and group'
without setresuid 1 'user and group'
without setresuid 0 'user and group'
without capset 1 capabilities

chmod 4755 "$away/cudamallocsnoop"
if ! $other "$away/cudamallocsnoop" -jqc true 2>/dev/null; then
	it "a tool that is set-user-ID"
	skip "files in $away cannot be"
else
	it "a tool that is set-user-ID root runs the command as its caller, whatever the environment says"
	for sudo in '' 'SUDO_UID=0 SUDO_GID=0' 'SUDO_UID=1 SUDO_GID=1'; do
		run $other --inh-caps -all env $sudo "$away/cudamallocsnoop" -jqc "$privileges"
		status 0
		same_as $other --inh-caps -all sh -c "$privileges"
	done

	it "nor does -u work there"
	for user in root nobody 0:0; do
		fails 1 '--user: not with a tool whose file has capabilities or is set-user-ID: run it as root' \
			$other "$away/cudamallocsnoop" -u $user -c 'echo ran'
		lines 0 ran
	done

	it "a command that is set-user-ID is still that"
	cp "$(command -v grep)" "$away/look"
	chmod 4755 "$away/look"
	run $by_sudo cudamallocsnoop --attach session -jqc "$away/look ^Uid /proc/self/status"
	status 0
	lines 1 'Uid:.65534.0.0.0$'
fi
chmod 755 "$away/cudamallocsnoop"

it "the capabilities of a tool's file do not get to the command"
if ! setcap cap_bpf,cap_perfmon,cap_checkpoint_restore,cap_setuid,cap_setgid,cap_sys_ptrace+ep "$away/cudamallocsnoop" 2>/dev/null; then
	skip "there is no setcap, or no place for it"
else
	run $other --inh-caps -all "$away/cudamallocsnoop" -jqc "$privileges"
	status 0
	same_as $other --inh-caps -all sh -c "$privileges"
	fails 1 '--user: not with a tool whose file has capabilities' \
		$other "$away/cudamallocsnoop" -u root -c 'echo ran'
	lines 0 ran
fi

for kind in $kinds ${LONG:+perf}; do
	it "--attach $kind: the other user's command is traced from its first call to its last, with its children"
	few='malloc 23 4096 free 7'
	run $by_sudo cudamallocsnoop --attach $kind --layer runtime -jc \
		"$mem $few & $mem malloc 3 64; wait; LD_LIBRARY_PATH=$away $away/mem-dlopen load malloc 11 64"
	status 0
	json 37 '.func == "cudaMalloc"' 7 '.func == "cudaFree"' 44 true
done

it "cudaleak and cudatrace have the figures of another user's command"
run cudaleak -u nobody -jc "$mem malloc 23 4096 free 7"
status 0
json 1 '.count == 16 and .at == "exit" and .stack[0].sym == "do_malloc"'
run $by_sudo cudatrace -e cudaMalloc,cudaFree -jc "$mem malloc 23 4096 free 7"
status 0
json 23 '.func == "cudaMalloc"' 7 '.func == "cudaFree"'

it "cudabt runs its command as that user, and bpftrace as its own"
if ! command -v bpftrace >/dev/null; then
	skip "no bpftrace here"
else
	run $by_sudo cudabt -qe 'cuda:cudaMalloc { @[uid] = count(); }' -c "$mem malloc 23 4096; id -u"
	status 0
	lines 1 '@\[65534\]: 23'
	lines 1 '^65534$'
	run cudabt -u nobody -qe 'cuda:cudaMalloc { @[uid] = count(); }' -c "$mem malloc 7 4096; id -u"
	status 0
	lines 1 '@\[65534\]: 7'
fi

it "signals that end the tool get to another user's command, and its status back"
tool $by_sudo cudaleak -Cc "$mem malloc 23 4096 print sleep 60000"
until_true grep -q calls "$tmp/out"
stop TERM
lines 1 '23 allocations not freed'
status 143
run cudamallocsnoop -jqu nobody -c 'exit 41'
status 41

# terminal WORD COMMAND...: runs it on a terminal of its own, with Ctrl-C once it has printed the word, if one is given
terminal() { run python3 tests/terminal.py "$@"; }

cat >"$tmp/typing.c" <<'END'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

int main(void)
{
	char selected[] = { 3 /* TIOCL_PASTESEL */, 0 };
	int typed = 0, tty = open("/dev/tty", O_RDWR);

	for (int fd = 0; fd < 4; fd++)
		typed += !ioctl(fd, TIOCSTI, "x") + !ioctl(fd, TIOCLINUX, selected);
	printf("%s, %d typed\n", tty >= 0 ? "a terminal" : "no terminal", typed);
	return !isatty(1);
}
END
${CC:-cc} -std=gnu11 -O1 -o "$away/typing" "$tmp/typing.c"

# by root, as --attach=inject too
traces="cudamallocsnoop_--attach=session cudamallocsnoop_--attach=inject cudamemtime"

it "another user's command has no terminal, and can type nothing for who reads from the caller's"
for traced in $traces; do
	# shellcheck disable=SC2046 # words
	terminal '' $(echo $traced | tr _ ' ') -qu nobody -c "$away/typing"
	lines 1 '^no terminal, 0 typed$'
done

cat >"$tmp/interrupted.c" <<'END'
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static void on_signal(int sig) { (void)sig; caught++; }

int main(void)
{
	int child, status;

	signal(SIGINT, on_signal);
	child = fork();
	if (child) {
		puts("begins");
		fflush(stdout);
	}
	for (int i = 0; !caught && i < 3000; i++)
		usleep(10000);
	usleep(100000);
	if (!child)
		_exit(caught);
	waitpid(child, &status, 0);
	printf("\ncaught %d and %d\n", caught, WEXITSTATUS(status));
	return 3;
}
END
${CC:-cc} -std=gnu11 -O1 -o "$away/interrupted" "$tmp/interrupted.c"

it "Ctrl-C gets to the command once, whoever it runs as, and to its children"
for traced in $traces; do
	for who in '' '-u nobody'; do
		# shellcheck disable=SC2046 # words
		terminal begins $(echo $traced | tr _ ' ') -q $who -c "exec $away/interrupted"
		status 3
		lines 1 '^caught 1 and 1$'
	done
done
