# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""What cudaexporter costs: a call under it and under the tool that does the same work, calls at full speed, pages
by their size, and doing nothing."""
import os
import re
import resource
import shutil
import statistics
import subprocess
import time
import urllib.request

from cost import ROUNDS, SLICE_MS, Group, added, number, probe, ratio, tool
from lib import O, QUICK, Caller, Tracer, spread

EXPORTER = ['cudaexporter', '--web.listen-address', '127.0.0.1:0']
KINDS = ('session',) if QUICK else ('session', 'multi')
SECONDS = 2 if QUICK else 10
SIZES = (2,) if QUICK else (8, 64, 512)
PAGES = 3 if QUICK else 20
SCRAPE_S = 15
WINDOWS, WINDOW_S = (3, 1) if QUICK else (20, 3)
MANY = 100000		# series, for sizes that the default does not allow
# what each process does: memory of four kinds, copies both ways and both kinds, launches, waits, errors
WORK = ('malloc 13 64k free 2 host 3 4k managed 2 64k async 5 4k copy 11 4k h2d copy 7 64k d2h copyasync 5 1m h2d '
        'copyasync 3 4k d2h launch 101 graph 3 sync 17 streamsync 5 fail 2 badlaunch 3').split()


class Comparison:
    """A call under cudaexporter and under other tools; the first is the one that does the same work."""

    def __init__(self, word, runtime, driver, *others):
        self.word, self.runtime, self.driver, self.others = word, runtime, driver, others


COMPARISONS = [
    Comparison('launch', ['cudaLaunchKernel'], ['cuLaunchKernel'], ['cudalaunchtop', '-b', '-x'],
               ['cudalaunchtop', '-b']),
    Comparison('copy', ['cudaMemcpy'], ['cuMemcpyHtoD_v2'], ['cudamemcpysize']),
    Comparison('wait', ['cudaStreamSynchronize'], ['cuStreamSynchronize'], ['cudasynclatency']),
    Comparison('alloc', ['cudaMalloc', 'cudaFree'], ['cuMemAlloc_v2', 'cuMemFree_v2'], ['cudaleak', '-C']),
]


def compare(c, kind):
    """Lines of the table, and the ratio to the tool that does the same."""
    group = Group()
    inside = [name + ':entry' for name in c.driver] if kind == 'session' else c.driver
    tools = [EXPORTER, *c.others]
    group.add('bare', c.word)
    group.add('empty', c.word, probe('empty', kind, *c.runtime, *inside))
    for argv in tools:
        group.add(' '.join(argv), c.word, tool(kind, *argv))
    one, two = (taken for _, taken in sorted(group.measure().items()))
    names, same = [' '.join(argv) for argv in tools], ' '.join(c.others[0])
    lines = [(c.word, kind, name.split(' --')[0], number(spread(added(one, name, 'bare')), 0),
              number(spread(added(two, name, 'bare')), 0), number(ratio(one, name, 'bare', 'empty', 'bare'), 2),
              number(ratio(one, name, 'bare', same, 'bare'), 2)) for name in names]
    return lines, ratio(one, names[0], 'bare', same, 'bare')[0]


def calls(report, goals):
    report.say(f"""Nanoseconds of processor time that a call takes more than an untraced one: medians of {ROUNDS} rounds of
{SLICE_MS} ms, quartiles in brackets. `to empty`: the ratio to empty programs at the same places; `to the same`: to the
first tool below cudaexporter, which does the same work. Both layers are probed.\n""")
    lines = []
    for c in COMPARISONS:
        for kind in KINDS:
            more, to_same = compare(c, kind)
            lines += more
            goals.add(f'cudaexporter, {kind}, {c.word}: to {" ".join(c.others[0])}', 1.05, to_same)
    report.table(['the call', 'attached by', 'tool', 'ns added', '2 threads', 'to empty', 'to the same'], lines)


class Exporter:
    """cudaexporter and its server."""

    def __init__(self, *options):
        self.tracer = Tracer([*EXPORTER, *options])
        self.url = re.search(r'listening on (\S+)', self.tracer.said_before).group(1)
        with open(f'/proc/{self.tracer.pid}/task/{self.tracer.pid}/children', encoding='ascii') as f:
            self.server = next(int(pid) for pid in f.read().split() if is_server(pid))

    def scrape(self, **headers):
        """The page, and how long it took."""
        start = time.monotonic()
        with urllib.request.urlopen(urllib.request.Request(self.url, headers=headers)) as answer:
            page = answer.read()
        return page, time.monotonic() - start

    def page(self):
        return self.scrape()[0].decode()

    def ran(self):
        """Seconds of processor time: the collector's, the server's."""
        return ran(self.tracer.pid), ran(self.server)

    def resident(self):
        """MiB now: the collector's, the server's."""
        return self.tracer.field('status', 'VmRSS') / 1024, rss(self.server)


def is_server(pid):
    with open(f'/proc/{pid}/cmdline', encoding='ascii') as f:
        return f.read().startswith('cudaexporter-server')


def ran(pid):
    """Seconds of processor time, also of threads that have ended: the server has one for each connection."""
    return time.clock_gettime(~pid << 3 | 2)	# as clock_getcpuclockid(3)


def rss(pid):
    with open(f'/proc/{pid}/status', encoding='ascii') as f:
        return int(re.search(r'^VmRSS:\s*(\d+)', f.read(), re.M).group(1)) / 1024


def total(page, name):
    """Of all series whose names and labels begin like this."""
    return sum(float(v) for v in re.findall(rf'^{name}\S* (\S+)$', page, re.M))


def at_full_speed(word, counts):
    """Two threads call as fast as they can, with a page a second."""
    caller = Caller()
    exporter = Exporter('-p', str(caller.pid), '--max-overhead', 'off')
    caller.process.stdin.write(f'{word} 2 {SECONDS * 1000}\n')
    caller.process.stdin.flush()
    collected, took = [], []
    for _ in range(SECONDS - 1):
        time.sleep(1.02)	# pages within a second are one collection
        page, seconds = exporter.scrape()
        collected.append(total(page.decode(), 'cuda_exporter_collect_seconds') * 1e3)
        took.append(seconds * 1e3)
    made, _, wall = [float(n) for n in caller.answer().split()]
    time.sleep(1.1)
    page = exporter.page()
    counted = sum(total(page, name) for name in counts)
    lost = total(page, 'cuda_exporter_lost_events_total')
    exporter.tracer.kill()
    caller.end()
    return made, made / (wall / 2e9), counted, lost, collected, took


def full_speed(report, goals):
    rows = []
    for word, counts in (('drvlaunch', ['cuda_launches_total']), ('drvcopy', ['cuda_copy_size_bytes_count']),
                         ('drvalloc', ['cuda_memory_allocations_total', 'cuda_memory_frees_total'])):
        made, rate, counted, lost, collected, took = at_full_speed(word, counts)
        rows.append((word, f'{rate:.0f}', f'{made:.0f}', f'{counted:.0f}', f'{lost:.0f}',
                     f'{statistics.median(collected):.1f} ({max(collected):.1f})',
                     f'{statistics.median(took):.1f} ({max(took):.1f})'))
        goals.add(f'cudaexporter, {word} at full speed: lost', 0, lost)
        goals.add(f'cudaexporter, {word} at full speed: counted wrongly', 0, abs(made - counted))
    report.say(f"""Two threads call the driver as fast as they can for {SECONDS} s, on {os.cpu_count()} processors that they share with the
exporter and who reads a page a second. Milliseconds: median, and the longest in brackets.\n""")
    report.table(['the call', 'calls/s', 'made', 'counted', 'lost', 'ms to collect', 'ms for the page'], rows)


class Programs:
    """Processes that do the work once they are told to, and live on."""

    def __init__(self, n):
        self.caller = Caller()	# for its copy of the libraries
        environment = dict(os.environ, LD_LIBRARY_PATH=self.caller.dir)
        self.options = ['--comm', 'benchwork', '-l', f'{self.caller.dir}/libcuda.so.1']	# and no others' programs
        shutil.copy(f'{O}/tests/bin/mem', f'{self.caller.dir}/benchwork')
        self.all = [subprocess.Popen([f'{self.caller.dir}/benchwork', 'wait', *WORK, 'wait'], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True)
                    for _ in range(n)]
        self.ready()

    def ready(self):
        for process in self.all:
            process.stdout.readline()

    def go(self):
        for process in self.all:
            process.stdin.write('\n')
            process.stdin.flush()

    def end(self):
        for process in self.all:
            process.stdin.close()
            process.stdout.close()
        for process in self.all:
            process.wait()
        self.caller.end()


def printed(exporter):
    """Milliseconds of processor time of the collector and of the server for a page of what is collected already, and
    by the clock."""
    collector, server, took = [], [], []
    for _ in range(PAGES):
        before, seconds = exporter.ran(), exporter.scrape()[1]
        after = exporter.ran()
        collector.append((after[0] - before[0]) * 1e3)
        server.append((after[1] - before[1]) * 1e3)
        took.append(seconds * 1e3)
    return statistics.median(collector), statistics.median(server), statistics.median(took)


def collected(exporter):
    """Milliseconds that collecting took, by itself: the median of some pages."""
    took = []
    for _ in range(PAGES):
        time.sleep(1.02)	# pages within a second are one collection
        took.append(total(exporter.page(), 'cuda_exporter_collect_seconds') * 1e3)
    return statistics.median(took)


def forks():
    """How many processes were ever started here."""
    with open('/proc/stat', encoding='ascii') as f:
        return int(re.search(r'^processes (\d+)', f.read(), re.M).group(1))


def for_a_page(exporter):
    """Seconds of processor time for a page as Prometheus asks for it, and until the exporter is calm again: the least,
    as others disturb it."""
    took = []
    for _ in range(PAGES // 2):
        time.sleep(1.02)
        before = sum(exporter.ran())
        exporter.scrape(**{'X-Prometheus-Scrape-Timeout-Seconds': '10', 'Accept-Encoding': 'gzip'})
        time.sleep(.6)
        took.append(sum(exporter.ran()) - before)
    return min(took)


def idle(exporter):
    """Percent of a processor with a page now and then, and how many processes others started a second, each of which
    maps files that it looks at: of the times when these were the fewest, and the most."""
    page, windows = for_a_page(exporter), []
    for _ in range(WINDOWS):
        before, then = sum(exporter.ran()), forks()
        time.sleep(WINDOW_S)
        share = (sum(exporter.ran()) - before) / WINDOW_S + page / SCRAPE_S
        windows.append(((forks() - then) / WINDOW_S, share * 100))
    return min(windows), max(windows)


def page_of(n):
    """A line of the table, and what is aimed at."""
    programs = Programs(n)
    exporter = Exporter(*programs.options, '--max-processes', str(MANY), '--max-series', str(MANY))
    programs.go()
    programs.ready()
    time.sleep(1)
    collect = collected(exporter)
    here, server, took = printed(exporter)
    page = exporter.page()
    zipped = exporter.scrape(**{'Accept-Encoding': 'gzip'})[0]
    resident = exporter.resident()
    at_rest = idle(exporter) if n == SIZES[len(SIZES) // 2] else None
    exporter.tracer.kill()
    programs.end()
    series = total(page, 'cuda_exporter_series')
    return (n, f'{series:.0f}', len(page), len(zipped), f'{collect:.1f}', f'{here:.1f}', f'{server:.1f}',
            f'{took:.1f}', f'{resident[0]:.1f}', f'{resident[1]:.1f}'), at_rest, \
        (series, collect + here, len(page) / 1e6, *resident)


def pages(report, goals):
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
    rows = []
    for n in SIZES:
        row, at_rest, (series, ms, size, *resident) = page_of(n)
        rows.append(row)
        if not at_rest:
            continue
        (quiet, share), (busy, more) = at_rest
        goals.add(f'cudaexporter, {series:.0f} series: to collect and print 10,000', 10, ms / series * 1e4, ' ms')
        goals.add('... bytes of 10,000', 1.5, size / series * 1e4, ' MB')
        goals.add('... resident, the collector', 20, resident[0], ' MiB')
        goals.add('... resident, the server', 20, resident[1], ' MiB')
        goals.add('... resident, both', 30, sum(resident), ' MiB')
        goals.add(f'... of a processor, a page every {SCRAPE_S} s', .1, share, ' %')
    report.say(f"""Processes with memory of four kinds, copies, launches, waits and errors, that do nothing more; medians of
{PAGES} pages. `collect`: as cudaexporter says itself. `print`: processor time for the same page again. `server`: the
web server's processor time. `clock`: from asking to the last byte. Resident: the collector, the server.\n""")
    report.table(['processes', 'series', 'bytes', 'gzip -1', 'ms to collect', 'print', 'server', 'clock',
                  'MiB', 'server'], rows)
    report.say(f"""With the {SIZES[len(SIZES) // 2]} processes and a page every {SCRAPE_S} s, both take {share:.3f} % of a processor while others
start {quiet:.0f} processes a second, and {more:.2f} % while they start {busy:.0f}: the least and the most of {WINDOWS} times
{WINDOW_S} s.\n""")


def run(report, goals):
    report.say('## What cudaexporter costs\n')
    calls(report, goals)
    full_speed(report, goals)
    pages(report, goals)
