# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""terminal.py WORD[,WORD]... COMMAND...: runs it on a terminal of its own and prints what it prints; Ctrl-C is typed once each word
has been printed, in this order.  Status: the command's."""
import os
import pty
import signal
import sys

words = [word.encode() for word in sys.argv[1].split(",") if word]
out, seen = b"", 0
pid, fd = pty.fork()
if not pid:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the tests may run in the background
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        got = os.read(fd, 4096)
    except OSError:
        break
    out += got
    if words and words[0] in out[seen:]:
        seen = out.index(words.pop(0), seen) + 1
        os.write(fd, b"\x03")
sys.stdout.buffer.write(out.replace(b"\r", b""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
