#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Which of 27,000 names of instructions are known to the interpreter, and which ptxas takes.
alu_ptxas.py ALU PTXAS: prints the names on which they differ, and how many there are."""
import itertools
import re
import subprocess
import sys
import tempfile

INTS = ['u16', 'u32', 'u64', 's16', 's32', 's64']
BITS = ['b16', 'b32', 'b64']
HALVES = ['f16', 'f16x2', 'bf16', 'bf16x2']
TYPES = INTS + BITS + HALVES + ['f32', 'f64', 'u16x2', 's16x2', 'f32x2', 'u8', 's8', 'pred', 'tf32']
CVT = ['u8', 's8'] + INTS + ['f16', 'bf16', 'f32', 'f64']
BOTH = ['u32', 's32']
ROUNDS = ['rn', 'rz', 'rm', 'rp', 'rna']
INTEGRAL = ['rni', 'rzi', 'rmi', 'rpi']
COMPARISONS = 'eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan'.split()
# not documented, and of a meaning that nothing says
UNDOCUMENTED = re.compile(r'rcp\.r.\.ftz\.f64$|madc\.hi\.sat\.')


def bits(kind):
    """Of a register for this type."""
    if kind in ('f16x2', 'bf16x2', 'u16x2', 's16x2', 'tf32'):
        return 32
    if kind == 'f32x2':
        return 64
    if kind in ('pred', 'e4m3x2', 'e5m2x2'):
        return {'pred': 1}.get(kind, 16)
    return max(int(re.search(r'\d+', kind[1:] if kind[0] != 'b' or kind[1] != 'f' else kind[2:]).group()), 16)


def words(*lists):
    """Each choice of one word or none from each list."""
    for choice in itertools.product(*[[''] + x for x in lists]):
        yield ''.join('.' + x for x in choice if x)


def simple(name, modifiers, sources):
    """All operands are of the one type."""
    for modifier in modifiers:
        for kind in TYPES:
            yield f'{name}{modifier}.{kind}', [bits(kind)] * (1 + sources)


def arithmetic():
    for name in 'add', 'sub', 'mul':
        yield from simple(name, words(ROUNDS, ['ftz'], ['sat']), 2)
    for name in 'add', 'sub', 'addc', 'subc':
        yield from simple(name, words(['cc']), 2)
    for name in 'mul', 'mul24':
        yield from simple(name, words(['lo', 'hi']), 2)
    for name in 'mad', 'mad24', 'madc':
        yield from simple(name, words(['lo', 'hi'], ['sat', 'cc']), 3)
    for name in 'fma', 'mad':
        yield from simple(name, words(ROUNDS, ['ftz'], ['sat', 'relu']), 3)
    for kind in ['u8', 's8'] + INTS:
        wide = min(2 * bits(kind), 64)
        yield f'mul.wide.{kind}', [wide, bits(kind), bits(kind)]
        yield f'mad.wide.{kind}', [wide, bits(kind), bits(kind), wide]
    yield from simple('div', words(ROUNDS + ['approx', 'full'], ['ftz'], ['sat']), 2)
    yield from simple('rem', [''], 2)
    yield from simple('sad', [''], 3)
    for name in 'abs', 'neg':
        yield from simple(name, words(['ftz'], ['sat']), 1)
    for name, sources in itertools.product(('min', 'max'), (2, 3)):
        yield from simple(name, words(['ftz'], ['NaN'], ['xorsign'], ['abs']), sources)
        yield from simple(name, ['.relu'], sources)
    for name in 'rcp', 'sqrt', 'rsqrt', 'sin', 'cos', 'lg2', 'ex2', 'tanh':
        yield from simple(name, words(ROUNDS + ['approx'], ['ftz'], ['sat']), 1)
    for half, modifier in itertools.product(('f16', 'bf16'), words(ROUNDS, ['ftz'], ['sat'])):
        for name in 'add', 'sub', 'mul':
            yield f'{name}{modifier}.f32.{half}', [32, 16, 32]
        yield f'fma{modifier}.f32.{half}', [32, 16, 16, 32]
    for a, b in itertools.product(BOTH, BOTH):
        yield f'dp4a.{a}.{b}', [32] * 4
        for part in '.lo', '.hi', '':
            yield f'dp2a{part}.{a}.{b}', [32] * 4


def logic():
    for name in 'and', 'or', 'xor':
        yield from simple(name, [''], 2)
    for name in 'not', 'cnot', 'brev':
        yield from simple(name, [''], 1)
    yield from simple('shf', [''], 3)
    for kind in TYPES:
        w = bits(kind)
        for name in 'popc', 'clz', 'bfind', 'bfind.shiftamt':
            yield f'{name}.{kind}', [32, w]
        for name in 'shl', 'shr':
            yield f'{name}.{kind}', [w, w, 32]
        for way in words(['l', 'r'], ['wrap', 'clamp']):
            yield f'shf{way}.{kind}', [w, w, w, 32]
        yield f'bfe.{kind}', [w, w, 32, 32]
        yield f'bfi.{kind}', [w, w, w, 32, 32]
        yield f'selp.{kind}', [w, w, w, 1]
        yield f'lop3.{kind}', [w, w, w, w, '0x96']
        for name in 'bmsk', 'szext':
            for way in words(['clamp', 'wrap']):
                yield f'{name}{way}.{kind}', [w, w, w]
        yield f'fns.{kind}', [w] * 4
    for op in 'and', 'or', 'xor':
        yield f'lop3.{op}.b32', ['%r9|%p2', 32, 32, 32, '0x96', 1]
    for mode in words(['f4e', 'b4e', 'rc8', 'ecl', 'ecr', 'rc16', 'abc']):
        yield f'prmt.b32{mode}', [32] * 4


def comparisons():
    for kind, cmp, ftz in itertools.product(TYPES, COMPARISONS, ('', '.ftz')):
        w, p = bits(kind), '%p2|%p3' if kind in ('f16x2', 'bf16x2') else 1
        yield f'setp.{cmp}{ftz}.{kind}', [p, w, w]
        yield f'setp.{cmp}.and{ftz}.{kind}', [p, w, w, 1]
        if cmp in ('lt', 'lo', 'ltu', 'num', 'eq'):
            for to in INTS + HALVES + ['f32', 'f64']:
                yield f'set.{cmp}{ftz}.{to}.{kind}', [bits(to), w, w]
                yield f'set.{cmp}.or{ftz}.{to}.{kind}', [bits(to), w, w, 1]
    for kind, sign, ftz in itertools.product(TYPES, ('s32', 'u32', 'f32', 'f64', 'b32'), ('', '.ftz')):
        yield f'slct{ftz}.{kind}.{sign}', [bits(kind)] * 3 + [bits(sign)]
    for kind in TYPES:
        yield f'copysign.{kind}', [bits(kind)] * 3
        for what in 'finite', 'infinite', 'number', 'notanumber', 'normal', 'subnormal':
            yield f'testp.{what}.{kind}', [1, bits(kind)]


def conversions():
    for to, source in itertools.product(CVT, CVT):
        for modifier in words(ROUNDS + INTEGRAL, ['ftz'], ['sat']):
            yield f'cvt{modifier}.{to}.{source}', [bits(to), bits(source)]
    for modifier in itertools.chain(words(ROUNDS, ['relu'], ['satfinite']), words(ROUNDS, ['satfinite'], ['relu'])):
        for to in 'f16', 'bf16', 'tf32':
            yield f'cvt{modifier}.{to}.f32', [bits(to), 32]
        for to in 'f16x2', 'bf16x2', 'e4m3x2', 'e5m2x2':
            yield f'cvt{modifier}.{to}.f32', [bits(to), 32, 32]
        for eight in 'e4m3x2', 'e5m2x2':
            yield f'cvt{modifier}.{eight}.f16x2', [16, 32]
            yield f'cvt{modifier}.f16x2.{eight}', [32, 16]
    for kind, sat in itertools.product(('u2', 's2', 'u4', 's4', 'u8', 's8', 'u16', 's16'), ('', '.sat')):
        yield f'cvt.pack{sat}.{kind}.s32', [32] * 3
        yield f'cvt.pack{sat}.{kind}.s32.b32', [32] * 4


def video():
    seconds = ['add', 'min', 'max']
    for d, a, b in itertools.product(BOTH, BOTH, BOTH):
        for second in [''] + ['.' + x for x in seconds]:
            operands = [32] * (4 if second else 3)
            for sat in '', '.sat':
                for name in 'vadd', 'vsub', 'vabsdiff', 'vmin', 'vmax':
                    yield f'{name}.{d}.{a}.{b}{sat}{second}', operands
                for name, mode in itertools.product(('vshl', 'vshr'), ('', '.clamp', '.wrap')):
                    yield f'{name}.{d}.{a}.{b}{sat}{mode}{second}', operands
        for modifier in itertools.chain(words(['sat'], ['po'], ['shr7', 'shr15']), words(['add'])):
            yield f'vmad.{d}.{a}.{b}{modifier}', [32] * 4
        for name, n in itertools.product(('vadd', 'vsub', 'vavrg', 'vabsdiff', 'vmin', 'vmax'), '24'):
            for modifier in words(['sat'], ['add']):
                yield f'{name}{n}.{d}.{a}.{b}{modifier}', [32] * 4
    for a, b, cmp in itertools.product(BOTH, BOTH, COMPARISONS):
        for second in words(seconds):
            yield f'vset.{a}.{b}.{cmp}{second}', [32] * (4 if second else 3)
        for n, second in itertools.product('24', words(['add'])):
            yield f'vset{n}.{a}.{b}.{cmp}{second}', [32] * 4


def operand(width, i):
    if isinstance(width, str):
        return width
    return {1: '%p', 16: '%h', 32: '%r', 64: '%rd'}[width] + str(i)


def taken_by_ptxas(ptxas, candidates):
    """ptxas names the line of each that it refuses."""
    lines = ['.version 9.0', '.target sm_100a', '.address_size 64', '.visible .entry k() {',
             '.reg .pred %p<9>;', '.reg .b16 %h<9>;', '.reg .b32 %r<10>;', '.reg .b64 %rd<9>;']
    first = len(lines) + 1
    for name, operands in candidates:
        lines.append(f"{name} {', '.join(operand(width, i) for i, width in enumerate(operands))};")
    lines += ['ret;', '}', '']
    with tempfile.NamedTemporaryFile('w', suffix='.ptx') as file:
        file.write('\n'.join(lines))
        file.flush()
        said = subprocess.run([ptxas, '-arch=sm_100a', file.name, '-o', '/dev/null'], capture_output=True, text=True)
    refused = {int(n) - first for n in re.findall(r', line (\d+); error', said.stderr)}
    if not refused:
        sys.exit(f'ptxas: {said.stderr[:500]}')
    return [i not in refused for i in range(len(candidates))]


def known_to_alu(alu, candidates):
    names = [f'{name} {len(operands) - 1}' for name, operands in candidates]
    said = subprocess.run([alu, '-d'], input='\n'.join(names) + '\n', capture_output=True, text=True)
    unknown = set(said.stdout.splitlines())
    return [name not in unknown for name in names]


def main():
    parts = (arithmetic(), logic(), comparisons(), conversions(), video())
    candidates = [c for c in itertools.chain(*parts) if not UNDOCUMENTED.match(c[0])]
    known = known_to_alu(sys.argv[1], candidates)
    taken = taken_by_ptxas(sys.argv[2], candidates)
    differ = 0
    for (name, _), ours, theirs in zip(candidates, known, taken):
        if ours != theirs:
            differ += 1
            print(name, 'is known, but ptxas refuses it' if ours else 'is not known, but ptxas takes it')
    print(f'{len(candidates)} names, {sum(taken)} taken, {differ} differ')
    sys.exit(differ > 0)


main()
