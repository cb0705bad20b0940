# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""tables.py SECONDS PREFIX - spoils the tables of functions and has the build's awk programs read
them.  Each table must give lines of the form that the C sources include, or messages with file and
line and status 1, within seconds.  One that does not is kept as PREFIX... and the status is 1.
Committed tables are read first."""
import glob
import os
import random
import re
import subprocess
import sys
import time

LIMIT = 10	# seconds, on a busy machine
MOST = 300	# rows: a table of thousands is slow to read
VALUE = rb'VALUE\((?:"[\w *]+"|NULL), [A-Z0-9]+, \d+\)'
TABLES = {
    'api': rb'CUDA_API\(\w+, (RT|DRV|NCCL|NVRTC|LIB), [A-Z]+, (0|\.\w+ = \w+(, \.\w+ = \w+)*)\)'
           rb'|CUDA_API_USDT\(\w+, \w+, [A-Z]+, (0|\.\w+ = \w+(, \.\w+ = \w+)*)\)'
           rb'|CUDA_API_OLDER\(\w+, \d+, (RT|DRV|NCCL|NVRTC|LIB), [A-Z]+, (0|\.\w+ = \w+(, \.\w+ = \w+)*)\)'
           rb'|#(ifn?def CUDA_API(_BY_NAME|_(USDT|OLDER)(_HERE)?)?|endif)|CUDA_API_BY_NAME\(\w+\)'
           rb'|#define CUDA_API_USDT(_HERE|\(provider, probe, class, \.\.\.\) \\)|#undef CUDA_API_(USDT|OLDER)(_HERE)?'
           rb'|#define CUDA_API_OLDER(_HERE|\(name, major, lib, class, \.\.\.\) \\)'
           rb'|\tCUDA_API\(provider##_##probe, USDT, class, __VA_ARGS__\)'
           rb'|\tCUDA_API\(name##_##major, lib, class, __VA_ARGS__\)',
    'protos': rb'\s*PARAM\("\w+", ' + VALUE + rb', \d+, [01], [01], ' + VALUE + rb'\)[,)]'
              rb'|CUDA_PARAMS\(\d+,|#(ifdef CUDA_[A-Z_]+|endif|line \d+ "[^"]+")'
              rb'|CUDA_(PROTO|OLDER)\(\w+, (RT|DRV|NCCL|NVRTC), \w+, \d+, \d+, ' + VALUE + rb', \d+, \d+\)'
              rb'|CUDA_VALUE\(\w+, -?\d+\)|CUDA_ENUM\([\w ]+, \d+, \d+\)'
              rb'|CUDA_ENUM_TYPE\([\w ]+, \d+\)|CUDA_ERR\((RT|DRV|NCCL|NVRTC), \d+, \w+\)',
}
COMMENT = rb'/\* Made from \S+ by \S+: edit that\. \*/'
SPOILS = [b'', b' ', b'\t', b'(', b')', b',', b'"', b'*', b'@', b':', b'=', b'+', b'-', b'%s', b'\\',
          b'\0', b'\xff', b'\xc3\xa9', b'\r', b'...', b'/*', b'*/', b'99999999999999999999', b'-1',
          b'none', b'rt', b'nccl', b'in', b'A' * 70000, b'(' * 3000]


def spoil(rows):
    rows = list(rows)
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        at = random.randrange(len(rows))
        row = rows[at]
        cut = random.randrange(len(row) + 1)
        end = min(len(row), cut + random.choice((0, 0, 1, 1, 2, 8)))
        other = random.choice(rows)
        rows[at] = random.choice((
            row[:cut] + random.choice(SPOILS) + row[end:],
            row[:cut] + bytes([random.randrange(256)]) + row[end:],
            row[:cut] + random.choice(other.split() or [b'']) + row[end:],
            row + b'\n' + other, other, row[:cut], row[:cut] + b'\n' + row[cut:]))
    return b'\n'.join(rows) + random.choice((b'\n', b''))


def some(rows):
    """Few of its rows, if it has many; those that others need."""
    kept = random.sample(range(len(rows)), min(MOST, len(rows)))
    return [r for i, r in enumerate(rows) if i in set(kept) or r.startswith((b'type', b'in'))]


def read_with(kind, path):
    """What is wrong with how the table is read, or None."""
    command = ['awk', '-f', 'arch/x86/place.awk', '-f', f'scripts/gen_{kind}.awk', path]
    try:
        p = subprocess.run(command, capture_output=True, timeout=LIMIT,
                           env={**os.environ, 'LC_ALL': 'C'})
    except subprocess.TimeoutExpired:
        return f'is not read in {LIMIT} seconds'
    errors = p.stderr.split(b'\n')[:-1]
    where = re.compile(re.escape(path.encode()) + rb':\d+: .')
    strange = [e for e in errors if not where.match(e)]
    if p.returncode == 1 and errors and not strange:
        return None
    if p.returncode or errors:
        return f'gives status {p.returncode} and says {(strange + errors + [b""])[0][:200]}'
    for out in p.stdout.split(b'\n')[:-1]:
        if not re.fullmatch(TABLES[kind] + b'|' + COMMENT, out.replace(path.encode(), b'FILE')):
            return f'becomes {out[:200]}'
    return None


def main(seconds, prefix):
    end, runs = time.monotonic() + seconds, 0
    for path in sorted(glob.glob('tests/fuzz/corpus/tables/*')):
        wrong = read_with(os.path.basename(path).split('-')[0], path)
        runs += 1
        if wrong:
            sys.exit(f'{path} {wrong}')
    tables = {k: open(f'common/api/cuda_{k}.tbl', 'rb').read().splitlines() for k in TABLES}
    seed = int.from_bytes(os.urandom(4), 'little')
    random.seed(seed)
    while time.monotonic() < end:
        kind = random.choice(list(TABLES))
        path = f'{prefix}{kind}-{seed}-{runs}'
        with open(path, 'wb') as f:
            f.write(spoil(some(tables[kind])))
        wrong = read_with(kind, path)
        runs += 1
        if wrong:
            sys.exit(f'{path} {wrong}')
        os.remove(path)
    print(f'stat::number_of_executed_units: {runs}')


main(float(sys.argv[1]), sys.argv[2])
