# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2154 # lib.sh's
# Words for tests with libcudagputime.so: . tests/gputime.sh

# control OFFSET...: numbers in the memory of the library of $pid (common/abi/agent_gputime.h)
control() {
	python3 - "$pid" "$@" <<'END'
import os, struct, sys
d = f"/proc/{sys.argv[1]}/fd"
for fd in os.listdir(d):
    if os.readlink(f"{d}/{fd}").startswith("/memfd:cuda-bpf-tools-gputime"):
        with open(f"{d}/{fd}", "rb") as f:
            page = f.read(4096)
        print(*[struct.unpack_from("I", page, int(at))[0] for at in sys.argv[2:]])
END
}

# state: what the library says that it does, a number of enum gputime_state
state() { control 128; }

# served: for how many tools
served() { control 260 388 516 644 | tr ' ' '\n' | grep -cv '^0$'; }
