# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# shellcheck shell=sh disable=SC2034 # for tests/lib.sh
# the system call in which pause(3) waits, as /proc/PID/syscall has it: pause
pause=34
