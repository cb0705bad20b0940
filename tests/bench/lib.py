# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Programs that call, programs that trace them, and tables of what was measured."""
import os
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

O = os.environ['O']
QUICK = os.environ.get('BENCH') == 'quick'
TMP = tempfile.mkdtemp(prefix='bench.')
KINDS = ('session', 'multi', 'perf')


class Caller:
    """A program of caller.c, or of caller_python.py, with its own copy of the simulated CUDA, as probes are a file's; or with
    the copy of another one."""
    number = 0

    def __init__(self, like=None, kind='native', env=None):
        if like:
            self.dir = like.dir
        else:
            Caller.number += 1
            self.dir = f'{TMP}/{Caller.number}'
            os.mkdir(self.dir)
            for name in ('libcuda.so.1', 'libcudart.so.13', 'libnccl.so.2'):
                shutil.copy(f'{O}/tests/lib/{name}', self.dir)
        self.files = f'{self.dir}/libcudart.so.13,{self.dir}/libcuda.so.1,{self.dir}/libnccl.so.2'
        program = [f'{O}/bench/caller'] if kind == 'native' else ['/usr/bin/python3', 'tests/bench/caller_python.py']
        self.process = subprocess.Popen([*program, self.dir], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
        self.pid = self.process.pid
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit('bench: the calling program ended')
        return line

    def ask(self, line):
        """Has it make calls: how many it made, and their nanoseconds by processor and wall clock."""
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        return [float(word) for word in self.answer().split()]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Tracer:
    """A tool, or a program of probe.c, from where it says that it traces."""

    def __init__(self, argv, output=subprocess.DEVNULL):
        self.is_probe = argv[0] == 'probe'
        path = f'{O}/bench/probe' if self.is_probe else f'{O}/{argv[0]}'
        self.start = time.monotonic()
        self.process = subprocess.Popen([path] + argv[1:], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE if self.is_probe else output,
                                        stderr=None if self.is_probe else subprocess.PIPE)
        self.pid = self.process.pid
        says = self.process.stdout if self.is_probe else self.process.stderr
        self.said, self.said_before = says.readline(), ''
        while self.said and not re.search('tracing|attached', self.said):
            self.said_before += self.said
            self.said = says.readline()
        self.started = time.monotonic() - self.start
        if not self.said:
            sys.exit(f'bench: {" ".join(argv)}: {self.said_before}')

    def kill(self, sig=signal.SIGINT):
        """Ends it; the seconds that it took, and what it said last."""
        start = time.monotonic()
        if self.is_probe and sig == signal.SIGINT:
            self.process.stdin.close()
            text = self.process.stdout.read()
            self.process.wait()
        else:
            self.process.send_signal(sig)
            self.process.wait()
            text = '' if self.is_probe else self.process.stderr.read()
        return time.monotonic() - start, text

    def field(self, file, name):
        """A number from a file of /proc/PID."""
        with open(f'/proc/{self.pid}/{file}', encoding='ascii') as f:
            return int(re.search(rf'^{name}:\s*(\d+)', f.read(), re.M).group(1))

    def resident(self):
        """The most that it has used, in MiB."""
        return self.field('status', 'VmHWM') / 1024

    def maps(self):
        """What its BPF maps take in the kernel, in MiB."""
        total = 0
        seen = set()
        for task in os.listdir(f'/proc/{self.pid}/task'):
            where = f'/proc/{self.pid}/task/{task}/fdinfo'
            for fd in os.listdir(where):
                try:
                    text = open(f'{where}/{fd}', encoding='ascii').read()
                except OSError:
                    continue
                memory = re.search(r'^memlock:\s*(\d+)', text, re.M)
                ident = re.search(r'^map_id:\s*(\d+)', text, re.M)
                if memory and ident and ident.group(1) not in seen:
                    seen.add(ident.group(1))
                    total += int(memory.group(1))
        return total / 2**20

    def ran(self):
        """Seconds of processor time that it and its threads have used."""
        total = 0
        for task in os.listdir(f'/proc/{self.pid}/task'):
            with open(f'/proc/{self.pid}/task/{task}/schedstat', encoding='ascii') as f:
                total += int(f.read().split()[0])
        return total / 1e9


def lost(text):
    """How many records a tool says that it has lost."""
    return sum(int(n) for n in re.findall(r': (\d+) records? lost', text))


def wait_for(file, seconds):
    """The next line of a pipe, or '' when the time is over."""
    return file.readline() if select.select([file], [], [], seconds)[0] else ''


def spread(values):
    """Median and quartiles."""
    if len(values) < 2:
        return (values[0],) * 3
    quartiles = statistics.quantiles(values, n=4, method='inclusive')
    return statistics.median(values), quartiles[0], quartiles[2]


class Report:
    """Markdown, printed as it comes and kept for bench.md."""

    def __init__(self):
        self.text = ''

    def say(self, text=''):
        print(text, flush=True)
        self.text += text + '\n'

    def table(self, head, rows):
        rows = [[str(cell) for cell in row] for row in rows]
        widths = [max(len(row[i]) for row in [head] + rows) for i in range(len(head))]
        for row in [head, ['-' * width for width in widths]] + rows:
            self.say('| ' + ' | '.join(cell.ljust(width) for cell, width in zip(row, widths)) + ' |')
        self.say()


class Goals:
    """What was to be reached, and what was."""

    def __init__(self):
        self.rows = []

    def add(self, what, most, value, unit=''):
        met = 'yes' if value <= most else 'no'
        self.rows.append((what, f'{most:g}{unit}', f'{value:.3g}{unit}', met))
