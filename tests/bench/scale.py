# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What is paid once: to start and to end, memory, records that keep coming, much that is live."""
import os
import re
import resource
import signal
import statistics
import subprocess
import time

from lib import KINDS as ALL_KINDS, O, QUICK, TMP, Caller, Tracer, lost, wait_for

TOOLS = ['cudamallocsnoop', 'cudaleak', 'cudamemcpysize', 'cudasynclatency', 'cudalaunchtop', 'cudatrace']
KINDS = ALL_KINDS[:2] if QUICK else ALL_KINDS	# perf's probes go slowly
TIMES = 2 if QUICK else 9
FUNCTIONS = 60
SECONDS = 1 if QUICK else 10
LIVE = 1000 if QUICK else 1000000
KERNELS = 100 if QUICK else 10000
PROCESSES = 10 if QUICK else 1000


def ms(seconds):
    return f'{seconds * 1e3:.1f}'


def attach_and_detach(report, goals):
    """Of programs that do nothing; how long the kernel takes."""
    rows = []
    for kind in KINDS:
        in_ms, out_ms = [], []
        for _ in range(TIMES if kind != 'perf' else min(TIMES, 3)):
            caller = Caller()
            probe = Tracer(['probe', 'empty', kind, str(caller.pid), caller.files, str(FUNCTIONS)])
            n, ns = re.search(r'(\d+) attached (\d+)', probe.said).groups()
            in_ms.append(int(ns) / 1e6)
            out_ms.append(int(re.search(r'detached (\d+)', probe.kill()[1]).group(1)) / 1e6)
            caller.end()
        rows.append((kind, n, f'{statistics.median(in_ms):.1f}', f'{statistics.median(out_ms):.1f}'))
        goals.add(f'attach to {n} functions, {kind}', 20, statistics.median(in_ms), ' ms')
    report.say('## To attach and to detach\n')
    report.say(f'''Empty programs at the entries and returns of so many functions, in one process, by one thread:
milliseconds, medians of {TIMES}.\n''')
    report.table(['attached by', 'functions', 'attach', 'detach'], rows)


def start_and_end(report, goals):
    """Of the tools, with -p and a process that calls."""
    rows = []
    for kind in KINDS:
        for tool in TOOLS if kind == 'session' else ['cudaleak']:
            start, end, killed, resident = [], [], [], []
            for i in range(2 * TIMES if kind != 'perf' else 4):
                caller = Caller()
                tracer = Tracer([tool, '--attach', kind, '-p', str(caller.pid)])
                probes = re.search(r'(\d+) probes', tracer.said).group(1)
                start.append(tracer.started)
                caller.ask('alloc 2 20')
                resident.append(tracer.resident())
                sig = signal.SIGINT if i % 2 else signal.SIGKILL
                (end if i % 2 else killed).append(tracer.kill(sig)[0])
                caller.end()
            rows.append((tool, kind, probes, ms(statistics.median(start)), ms(statistics.median(end)),
                         ms(statistics.median(killed)), f'{max(resident):.1f}'))
            goals.add(f'{tool}, {kind}: start to tracing', 100, statistics.median(start) * 1e3, ' ms')
            goals.add(f'{tool}, {kind}: detach {probes} functions and end', 200,
                      statistics.median(end) * 1e3, ' ms')
            goals.add(f'{tool}, {kind}: gone after SIGKILL', 200, statistics.median(killed) * 1e3, ' ms')
            goals.add(f'{tool}, {kind}: resident', 20, max(resident), ' MiB')
    report.say('## To start and to end\n')
    report.say(f'''Milliseconds from the start of a tool to its line that says that it traces; from Ctrl-C to its
end; and from SIGKILL until it is gone with its probes: medians of {TIMES}. The most memory that it has used.\n''')
    report.table(['tool', 'attached by', 'functions', 'start to tracing', 'Ctrl-C to end', 'SIGKILL to end',
                  'MiB'], rows)
    report.say(f'From the start of cudamallocsnoop to its first line about a call: {first_output()} ms.\n')


def first_output():
    times = []
    for _ in range(TIMES):
        caller = Caller()
        tracer = Tracer(['cudamallocsnoop', '-j', '-p', str(caller.pid)], output=subprocess.PIPE)
        caller.ask('alloc 1 1 1000')
        wait_for(tracer.process.stdout, 10)
        times.append(time.monotonic() - tracer.start)
        tracer.kill()
        caller.end()
    return ms(statistics.median(times))


def sustained(argv, rate):
    """Two threads make so many calls a second in all: how many there were, how many were lost."""
    caller = Caller()
    tracer = Tracer([*argv, '-p', str(caller.pid)])
    calls, _, wall = caller.ask(f'alloc 2 {SECONDS * 1000} {rate / 2}')
    time.sleep(.1)
    gone = lost(tracer.kill()[1])
    caller.end()
    return calls, calls / (wall / 2e9), gone


def records(report, goals):
    rows = []
    for argv in (['cudaleak', '-C'], ['cudaleak'], ['cudamallocsnoop', '-j'], ['cudamallocsnoop']):
        best = 0
        for rate in (1000000, 700000, 500000, 350000, 250000, 150000, 100000):
            calls, made, gone = sustained(argv, rate)
            rows.append((' '.join(argv), rate, f'{made:.0f}', f'{calls:.0f}', gone))
            if not gone:
                best = made
                break
            if QUICK:
                break
        goals.rows.append((f'{" ".join(argv)}: records a second without a loss', '1000000', f'{best:.0f}',
                           'yes' if best >= 990000 else 'no'))
    report.say('## Records\n')
    report.say(f'''Two threads allocate and free for {SECONDS} s, at a rate that is lowered until nothing is lost; what
is printed goes to /dev/null. Where they could make fewer calls than they were asked for, the processors
were busy.\n''')
    report.table(['tool', 'asked for', 'calls/s', 'calls', 'records lost'], rows)


def report_time(tracer, periods):
    """Processor seconds of one report: of so many periods with one each, without the polling."""
    before = tracer.ran()
    time.sleep(periods)
    return (tracer.ran() - before) / periods


def live(report, goals):
    caller = Caller()
    with open(f'{TMP}/live', 'w', encoding='ascii') as out:
        tracer = Tracer(['cudaleak', '-j', '-p', str(caller.pid), '1'], output=out)
        made = 0
        while made < LIVE:
            made += int(caller.ask(f'keep 1 1000 {min(LIVE - made, 200000)}')[0])
        time.sleep(1)
        each = report_time(tracer, 3)
        resident, maps = tracer.resident(), tracer.maps()
        gone = lost(tracer.kill()[1])
    caller.end()
    with open(f'{TMP}/live', encoding='ascii') as out:
        text = out.read()
    counted = int(re.findall(r'"count":(\d+)', text)[-1])
    report.say(f'''{counted:,} live allocations of {made:,} ({gone} records lost): cudaleak uses {resident:.0f} MiB and its
maps in the kernel {maps:.1f}; a report takes {each:.3f} s of a processor.\n''')
    goals.add(f'{counted} live allocations: MiB, of tool and kernel', 300, resident + maps, ' MiB')
    goals.add(f'{counted} live allocations: a report', 1, each, ' s')


def kernels(report):
    caller = Caller()
    with open(f'{TMP}/kernels', 'w', encoding='ascii') as out:
        tracer = Tracer(['cudalaunchtop', '-j', '-p', str(caller.pid), '1'], output=out)
        caller.ask(f'kernels {KERNELS}')
        time.sleep(1.5)
        caller.ask(f'kernels {KERNELS}')
        time.sleep(1.5)
        each = report_time(tracer, 3)
        resident, maps = tracer.resident(), tracer.maps()
        tracer.kill()
    caller.end()
    with open(f'{TMP}/kernels', encoding='ascii') as out:
        names = set(re.findall(r'"kernel":"(kernel_\w+)"', out.read()))
    report.say(f'''{len(names):,} kernels by name: cudalaunchtop uses {resident:.0f} MiB and its maps in the kernel
{maps:.1f}; a report takes {each:.3f} s of a processor.\n''')


def processes(report, goals):
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
    caller = Caller()
    environment = dict(os.environ, LD_LIBRARY_PATH=caller.dir)
    many = [subprocess.Popen([f'{O}/tests/bin/mem', 'malloc', '1', '64', 'wait'], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, env=environment, text=True)
            for _ in range(PROCESSES)]
    for process in many:
        process.stdout.readline()
    rows = []
    for tool, *options in (['cudaleak'], ['cudalaunchtop'],
                           ['cudaexporter', '--web.listen-address', '127.0.0.1:0', '--max-processes', f'{2 * PROCESSES}']):
        tracer = Tracer([tool, *options, '-l', f'{caller.dir}/libcuda.so.1'])
        resident = tracer.resident()
        end = tracer.kill()[0]
        rows.append((tool, tracer.said.split(': ')[-1].strip(), ms(tracer.started), f'{resident:.1f}', ms(end)))
        goals.add(f'{tool}, {PROCESSES} processes: start to tracing', 5, tracer.started, ' s')
    for process in many:
        process.stdin.close()
        process.stdout.close()
    for process in many:
        process.wait()
    caller.end()
    report.say(f'{PROCESSES:,} processes with the libraries mapped, all of them traced:\n')
    report.table(['tool', 'traces', 'ms to tracing', 'MiB', 'ms from Ctrl-C to end'], rows)


def instructions_of(argv, words):
    """Of the tool, all that it runs in user space, for the calls of these words."""
    caller = Caller()
    command = ['valgrind', '--tool=callgrind', f'--callgrind-out-file={TMP}/callgrind', f'{O}/{argv[0]}',
               *argv[1:], '-p', str(caller.pid)]
    with open(f'{TMP}/said', 'w', encoding='ascii') as said:
        tool = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
    while 'tracing' not in open(f'{TMP}/said', encoding='ascii').read():
        time.sleep(.05)
    calls = sum(caller.ask(word)[0] for word in words)
    time.sleep(1 if QUICK else 5)
    tool.send_signal(signal.SIGINT)
    tool.wait()
    caller.end()
    return int(re.search(r'Collected : (\d+)', open(f'{TMP}/said', encoding='ascii').read()).group(1)), calls


def instructions(report):
    n = 1000 if QUICK else 10000
    rows = []
    for what, argv, word, count in (
            ('a record, counted', ['cudaleak', '-C'], f'alloc 1 2000 {n / 2}', None),
            ('a record with ten frames, counted', ['cudaleak'], f'deep 1 2000 {n / 2}', None),
            ('a record, printed', ['cudamallocsnoop'], f'alloc 1 2000 {n / 2}', None),
            ('a record, printed as JSON', ['cudamallocsnoop', '-j'], f'alloc 1 2000 {n / 2}', None),
            ('a new kernel: records, name, row', ['cudalaunchtop', '-j'], f'kernels {KERNELS // 10}',
             KERNELS // 10)):
        base = instructions_of(argv, [word.replace(str(KERNELS // 10), '1') if count else
                                      word.split()[0] + ' 1 1 1000'])
        full = instructions_of(argv, [word])
        calls = count - 1 if count else full[1] - base[1]
        rows.append((what, ' '.join(argv), f'{(full[0] - base[0]) / calls:,.0f}'))
    report.say('## Instructions\n')
    report.say('''What the tool runs in user space for one of these, counted by callgrind: the difference between much
and little, by how much more it was.\n''')
    report.table(['for', 'tool', 'instructions'], rows)


def run(report, goals):
    attach_and_detach(report, goals)
    start_and_end(report, goals)
    records(report, goals)
    report.say('## Much at a time\n')
    live(report, goals)
    kernels(report)
    processes(report, goals)
    instructions(report)
