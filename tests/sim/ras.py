#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""ras.py [--print] KIND [PID [HASH]]: a server as each process with NCCL has one, on a port of loopback that it prints.  Understands the
commands of its version and answers what src/ras/client_support.cc of that version prints: a job of 8 ranks on two hosts.
Compared, but for times, with that code compiled and run on such a job: 2.24, 2.26, 2.26-garbled, 2.28.7, and of 2.30 the first
communicator.
PID is that of rank 0, HASH the first communicator's.  --print: prints the answer, and serves nothing.

  2.24        text: one host is unresponsive, rank 3 is one collective behind
  2.26        text: rank 5 is one AllReduce behind; another communicator is being finalized; a third has errors; a process is
              dead, one is unresponsive
  2.26-garbled  the job of 2.24: this version prints garbage for all communicators after one with missing ranks (shortened)
  2.28        text: all is well
  2.28.7      JSON, which lacks commas if ranks are missing: one host is unresponsive, rank 3 is one AllReduce behind
  2.30        the same, with a second communicator: a rank aborted, one has it no more, one is dead
  2.30-comma  the same by a locale with a decimal comma
  other-job   2.30, but every second time without PID
  2.31        JSON of a form that is not known
  large       the JSON is too large, the text is not; 13000, 41000: JSON of so many ranks

Hostile ones: silent greets nobody; stranger is no RAS; endless, slow, truncated, empty, deep, array, huge, negative, control,
escape, twice, crowd, nul, type, text-size, text-state, text-rank."""
import socket
import sys
import threading
import time

AHEAD, BEHIND = 1409, 1408
NAMES = ["Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"]
only_print = sys.argv[1] == "--print"
if only_print:
    del sys.argv[1]
kind = sys.argv[1]
HASH, SECOND = int(sys.argv[3], 16) if len(sys.argv) > 3 else 0xcf264af53edbe986, 0x27a079b828ff1a75
first_pid = int(sys.argv[2]) if len(sys.argv) > 2 else 4701

TABLE = """\
Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      2          4            1          8        8

Communicators... (%s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
"""

TEXT_2_24 = """\
NCCL version 2.24.3 compiled with CUDA 12.6
CUDA runtime version 12060, driver version 12060

""" + TABLE % "5.01s" + """\
    0         1         1         4         8         4   RUNNING  INCOMPLETE,MISMATCH
    1         3         1         2         2         4   RUNNING      OK

Errors
======

INCOMPLETE
  Missing communicator data from 4 job processes
  Process 5501 on node 10.0.0.2 managing GPU 0
  Process 5502 on node 10.0.0.2 managing GPU 1
  Process 5503 on node 10.0.0.2 managing GPU 2
  Process 5504 on node 10.0.0.2 managing GPU 3

#0-0 (cf264af53edbe986) INCOMPLETE
  Missing communicator data from 4 ranks
  The missing ranks: 4,5,6,7

Warnings
========

TIMEOUT
  Encountered 2 communication timeouts while gathering communicator data

#0-0 (cf264af53edbe986) MISMATCH
  Communicator ranks have different collective operation counts
  3 ranks have launched up to operation 1409
  Rank 0 -- GPU 0 managed by process 4701 on node 10.0.0.1
  Rank 1 -- GPU 1 managed by process 4702 on node 10.0.0.1
  Rank 2 -- GPU 2 managed by process 4703 on node 10.0.0.1
  Rank 3 has launched up to operation 1408 -- GPU 3 managed by process 4704 on node 10.0.0.1

"""

TEXT_2_26 = """\
NCCL version 2.26.2 compiled with CUDA 12.8
CUDA runtime version 12080, driver version 12080

Job summary
===========

  Nodes  Processes         GPUs
          per node  per process
      1          5            1
      1          3            1

  Nodes  Processes         GPUs
(total)    (total)      (total)
      2          8            8

The outlier node:
  Node 10.0.0.2 running processes 5501,5502,5503

Communicators... (0.01s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         2       1-4         8         5  FINALIZE  INCOMPLETE,MISMATCH
    1         1         2       1-5         6         6   RUNNING  MISMATCH
    2         1         1         4         4         4   RUNNING  ERROR,MISMATCH

Errors
======

INCOMPLETE
  Missing communicator data from 1 job process
  Process 5502 on node 10.0.0.2 managing GPU 1 (NVML 5)

DEAD
  1 job process is considered dead (unreachable via the RAS network)
  Process 5503 on node 10.0.0.2 managing GPU 2 (NVML 6)

#0-0 (e7a079b828ff1a75) INCOMPLETE
  Missing communicator data from 2 ranks
  Rank 6 -- GPU 1 (NVML 5) managed by process 5502 on node 10.0.0.2
  Rank 7 -- GPU 2 (NVML 6) managed by process 5503 on node 10.0.0.2

#2-0 (00000000000000ab) ERROR
  Initialization error on 1 rank
  Rank 0 reported System error -- GPU 0 managed by process 4701 on node 10.0.0.1
  Asynchronous errors on 3 ranks
  2 ranks reported Remote process error
  Rank 1 -- GPU 1 managed by process 4702 on node 10.0.0.1
  Rank 2 -- GPU 2 managed by process 4703 on node 10.0.0.1
  Rank 3 reported Unhandled CUDA error -- GPU 3 managed by process 4704 on node 10.0.0.1

Warnings
========

#0-0 (e7a079b828ff1a75) MISMATCH
  Communicator ranks have different status
  3 ranks have status RUNNING
  Rank 1 -- GPU 1 managed by process 4702 on node 10.0.0.1
  Rank 2 -- GPU 2 managed by process 4703 on node 10.0.0.1
  Rank 3 -- GPU 3 managed by process 4704 on node 10.0.0.1
  2 ranks have status FINALIZE
  Rank 0 -- GPU 0 managed by process 4701 on node 10.0.0.1
  Rank 4 -- GPU 0 (NVML 4) managed by process 5501 on node 10.0.0.2
  Rank 5 has status NOCOMM -- GPU 3 (NVML 7) managed by process 4705 on node 10.0.0.1
  Communicator ranks have different Broadcast operation counts
  4 ranks have launched up to operation 31
  Rank 4 has not launched any operations -- GPU 0 (NVML 4) managed by process 5501 on node 10.0.0.2

#1-0 (cf264af53edbe986) MISMATCH
  Communicator ranks have different AllGather operation counts
  3 ranks have launched up to operation 23
  3 ranks have not launched any operations

  Communicator ranks have different AllReduce operation counts
  5 ranks have launched up to operation 1409
  Rank 5 has launched up to operation 1408 -- GPU 0 (NVML 4) managed by process 5501 on node 10.0.0.2

#2-0 (00000000000000ab) MISMATCH
  Communicator ranks have different status
  3 ranks have status RUNNING
  Rank 0 has status INIT -- GPU 0 managed by process 4701 on node 10.0.0.1
"""

TEXT_GARBLED = """\
NCCL version 2.26.2 compiled with CUDA 12.8
CUDA runtime version 12080, driver version 12080

""" + TABLE % "5.01s" + """\
    0         1         1         4         8         4   RUNNING  INCOMPLETE,MISMATCH
    1         2         0         0         0         0    NOCOMM  INCOMPLETE
    2         1         0         0         0         0    NOCOMM      OK

Errors
======

INCOMPLETE
  Missing communicator data from 4 job processes
  Process 5501 on node 10.0.0.2 managing GPU 0
  Process 5502 on node 10.0.0.2 managing GPU 1
  Process 5503 on node 10.0.0.2 managing GPU 2
  Process 5504 on node 10.0.0.2 managing GPU 3

#0-0 (cf264af53edbe986) INCOMPLETE
  Missing communicator data from 4 ranks
  Rank 4 -- GPU 0 managed by process 5501 on node 10.0.0.2
  Rank 5 -- GPU 1 managed by process 5502 on node 10.0.0.2
  Rank 6 -- GPU 2 managed by process 5503 on node 10.0.0.2
  Rank 7 -- GPU 3 managed by process 5504 on node 10.0.0.2

#1-0 (6500000200000005) INCOMPLETE
  Missing communicator data from 257 ranks
  Rank 6 -- GPU 2 managed by process 5503 on node 10.0.0.2
  Rank 7 -- GPU 3 managed by process 5504 on node 10.0.0.2
  Rank 256 -- [process information not found]
  Rank 0 -- [process information not found]
  Rank 5 -- [process information not found]
  Rank 0 -- [process information not found]
  Rank 1192583169 -- [process information not found]
  Rank 0 -- [process information not found]
  Rank 0 -- [process information not found]
  Rank 0 -- [process information not found]
  Rank -1972291554 -- [process information not found]
  Rank 0 -- [process information not found]
  Rank 1 -- [process information not found]
  Rank 5 -- [process information not found]

#1-1 (6600000200000006) INCOMPLETE
  Missing communicator data from 514 ranks
  Rank 7 -- GPU 3 managed by process 5504 on node 10.0.0.2
  Rank 256 -- [process information not found]
  Rank 0 -- [process information not found]
  Rank 5 -- [process information not found]
  Rank 0 -- [process information not found]
  Rank 1192583169 -- [process information not found]
  Rank 0 -- [process information not found]
  Rank 0 -- [process information not found]
  Rank 0 -- [process information not found]
  Rank -1972291554 -- [process information not found]
  Rank 0 -- [process information not found]
  Rank 1 -- [process information not found]
  Rank 5 -- [process information not found]

Warnings
========

TIMEOUT
  Encountered 2 communication timeouts while gathering communicator data

#0-0 (cf264af53edbe986) MISMATCH
  Communicator ranks have different AllReduce operation counts
  3 ranks have launched up to operation 1409
  Rank 0 -- GPU 0 managed by process 4701 on node 10.0.0.1
  Rank 1 -- GPU 1 managed by process 4702 on node 10.0.0.1
  Rank 2 -- GPU 2 managed by process 4703 on node 10.0.0.1
  Rank 3 has launched up to operation 1408 -- GPU 3 managed by process 4704 on node 10.0.0.1

"""

TEXT_2_28 = """\
NCCL version 2.28.3 compiled with CUDA 13.0
CUDA runtime version 13000, driver version 13000

""" + TABLE % "0.00s" + """\
    0         1         2         4         8         8   RUNNING      OK
    1         4         1         2         2         8   RUNNING      OK

Errors
======

Warnings
========

"""


def comm_json(hash_, size, ranks, missing, comma):
    out = "    {\n"
    out += '      "hash": "0x%x",\n' % hash_
    out += '      "secondary_hash": "0x%x:0x%x",\n' % (0xb7e7187447156001, 0xb8242ed28a71381e)
    out += '      "size": %d,\n' % size
    out += '      "ranks_count": %d,\n' % len(ranks)
    out += '      "missing_ranks_count": %d,\n' % len(missing)
    out += '      "ranks": [\n'
    out += ",\n".join(ranks)
    out += "\n      ],\n"
    out += '      "missing_ranks": [\n'
    out += ",\n".join(m % {"comma": comma} for m in missing)
    out += "\n      ]\n"
    return out + "    }"


def place(rank, host, pid, dev, end):
    out = "        {\n"
    out += '          "rank": %d,\n' % rank
    out += '          "host": "%s",\n' % host
    out += '          "pid": %d,\n' % pid
    out += '          "cuda_dev": %d,\n' % dev
    return out + '          "nvml_dev": %d%s\n' % (dev, end)


def rank_json(rank, host, pid, dev, counts, init=0, error=0, finalize="false", destroy="false", abort="false"):
    out = place(rank, host, pid, dev, ",")
    out += '          "status": {\n'
    out += '            "init_state": %d,\n' % init
    out += '            "async_error": %d,\n' % error
    out += '            "finalize_called": %s,\n' % finalize
    out += '            "destroy_flag": %s,\n' % destroy
    out += '            "abort_flag": %s\n' % abort
    out += "          },\n"
    out += '          "collective_counts": {\n'
    out += ",\n".join('            "%s": %d' % count for count in zip(NAMES, counts))
    return out + "\n          }\n        }"


def missing_json(rank, host, pid, dev, unresponsive="true", dead="false"):
    out = place(rank, host, pid, dev, "%(comma)s")
    out += '          "status": {\n'
    out += '            "unresponsive": %s,\n' % unresponsive
    out += '            "considered_dead": %s\n' % dead
    return out + "          }\n        }"


def document(version, comms, decimal="."):
    out = "{\n"
    out += '  "nccl_version": "%s",\n' % version
    out += '  "cuda_runtime_version": 13000,\n'
    out += '  "cuda_driver_version": 13000,\n'
    out += '  "timestamp": "2025-12-19 13:06:53",\n'
    out += '  "communicators_count": %d,\n' % len(comms)
    out += '  "communicators": [\n'
    out += ",\n".join(comms)
    out += "\n  ],\n"
    out += '  "ras": {\n'
    out += '    "collection_time_sec": 5%s012,\n' % decimal
    out += '    "timeouts_count": 2\n'
    out += "  }\n"
    return out + "}\n"


def world(comma, pid):
    ranks = [rank_json(i, "10.0.0.1", pid if i == 0 else 4701 + i, i, [7, 0, 23, 0, BEHIND if i == 3 else AHEAD])
             for i in range(4)]
    missing = [missing_json(4 + i, "10.0.0.2", 5501 + i, i) for i in range(4)]
    return comm_json(HASH, 8, ranks, missing, comma)


def second():
    ranks = [rank_json(0, "fd00::1", 4701, 0, [0, 0, 0, 0, 5], 0, 6, "true", "true", "true"),
             rank_json(1, "fd00::1", 4702, 1, [0, 0, 0, 0, 5], 0, 0, "false", "true"),
             rank_json(2, "unknown", -1, 2, [0, 0, 0, 0, 0], 7),
             rank_json(3, "fd00::1", 4704, 3, [0, 0, 0, 0, 0], 2)]
    missing = [missing_json(4, "fd00::1", 4705, 4, "false"), missing_json(5, "fd00::2", 5501, 0, "true", "true")]
    return comm_json(SECOND, 6, ranks, missing, ",")


def json_of(version, pid=first_pid, decimal="."):
    if version == "2.28.7":
        return document("2.28.7", [world("", pid)])
    return document("2.30.7", [world(",", pid), second()], decimal)


good = json_of("2.30")


def changed(what, into):
    assert what in good
    return good.replace(what, into)


answers = {
    "2.24": lambda n: TEXT_2_24, "2.26": lambda n: TEXT_2_26, "2.28": lambda n: TEXT_2_28,
    "2.26-garbled": lambda n: TEXT_GARBLED,
    "2.28.7": lambda n: json_of("2.28.7"), "2.30": lambda n: good,
    "2.30-comma": lambda n: json_of("2.30", decimal=","),
    "other-job": lambda n: json_of("2.30", first_pid if n % 2 else 4711),
    "2.31": lambda n: changed('"communicators"', '"comms"').replace("2.30.7", "2.31.1"),
    "truncated": lambda n: good[:len(good) // 2], "empty": lambda n: "",
    "deep": lambda n: "[" * 4000000, "array": lambda n: "[" + "0," * 8000000 + "0]",
    "huge": lambda n: changed(": %d\n" % AHEAD, ": %s\n" % ("9" * 1000000)),
    "negative": lambda n: changed(": %d\n" % AHEAD, ": -%d\n" % AHEAD),
    "control": lambda n: changed("10.0.0.1", "10.0\x1b[2J.1"), "escape": lambda n: changed("10.0.0.1", "10.0\\u001b[2J.1"),
    "twice": lambda n: changed('"rank": 1,', '"rank": 0,'), "crowd": lambda n: changed('"size": 8,', '"size": 7,'),
    "nul": lambda n: changed("10.0.0.1", "10.0.0.1\\u0000"), "type": lambda n: changed('"size": 8,', '"size": "8",'),
    "text-size": lambda n: TEXT_2_24.replace("         8         4   RUNNING", "2147483647         4   RUNNING"),
    "text-state": lambda n: TEXT_2_26.replace("have status RUNNING", "have launched up to operation 77"),
    "text-rank": lambda n: TEXT_2_24.replace("Rank 3 has", "Rank 8 has"),
}
for count in 13000, 41000:
    answers[str(count)] = lambda n, count=count: document("2.30.7", [comm_json(
        HASH, count, [rank_json(i, "10.0.0.1", first_pid + i, i % 8, [0, 0, 0, 0, AHEAD]) for i in range(count)], [], "")])
json_wanted = True
KNOWS_JSON = not kind.startswith(("2.24", "2.26", "text")) and kind != "2.28"


def command(line, send, n):
    """Returns whether that was the last one."""
    global json_wanted
    line = line.decode().rstrip("\r").lower()
    if line.startswith("client protocol "):
        send("SERVER PROTOCOL 2\n")
    elif line.startswith("timeout "):
        send("OK\n")
    elif line.startswith("set format ") and KNOWS_JSON:
        json_wanted = line.endswith("json")
        send("OK\n")
    elif line == "verbose status":
        if kind == "endless":
            while True:
                send("{\n" * 32768)
        if kind == "slow":
            for byte in good:
                send(byte)
                time.sleep(.05)
        if kind == "large":
            send(answers["41000"](n) if json_wanted else TEXT_2_28.replace("2.28.3", "2.30.7"))
        else:
            send(answers[kind](n))
        return True
    else:
        send("ERROR: Unknown command %s\n" % line)
    return False


def serve(connection, n):
    received = b""
    with connection:
        try:
            if kind == "stranger":
                connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
            while kind in ("stranger", "silent"):
                if not connection.recv(1024):
                    return
            while True:
                received += connection.recv(1024)
                while b"\n" in received:
                    line, received = received.split(b"\n", 1)
                    if command(line, lambda text: connection.sendall(text.encode()), n):
                        return
        except OSError:
            pass


if only_print:
    sys.stdout.write(answers[kind](0))
    sys.exit()
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
connections = 0
while True:
    accepted = listener.accept()[0]
    threading.Thread(target=serve, args=(accepted, connections), daemon=True).start()
    connections += 1
