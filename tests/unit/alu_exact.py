#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Makes cases for tests/unit/alu.c: operands at random, results by integers and exact fractions.
alu_exact.py COUNT: that many of each instruction, as a section "exact"."""
import math
import random
import sys
from fractions import Fraction

FORMATS = {'f16': (5, 10), 'bf16': (8, 7), 'f32': (8, 23), 'f64': (11, 52)}
MODES = ['rn', 'rz', 'rm', 'rp']
rand = random.Random(16069)


def decode(fmt, bits):
    """A finite number's value."""
    e, m = FORMATS[fmt]
    sign, exp, man = bits >> e + m, bits >> m & (1 << e) - 1, bits & (1 << m) - 1
    scale = max(exp, 1) - (1 << e - 1) + 1 - m
    value = Fraction(man + (1 << m if exp else 0)) * Fraction(2) ** scale
    return -value if sign else value


def floor_log2(x):
    n = x.numerator.bit_length() - x.denominator.bit_length()
    return n if Fraction(2) ** n <= x else n - 1


def up(mode, negative, whole, rest):
    """Does what is left of a unit round away from zero?"""
    if mode == 'rn':
        return rest > Fraction(1, 2) or rest == Fraction(1, 2) and whole % 2
    return rest > 0 and mode == ('rm' if negative else 'rp')


def encode(fmt, x, mode, zero_sign=0):
    """x, rounded once."""
    e, m = FORMATS[fmt]
    bias = (1 << e - 1) - 1
    negative = x < 0 or x == 0 and zero_sign
    a = abs(x)
    if a == 0:
        return negative << e + m
    exp = max(floor_log2(a), 1 - bias)
    units = a / Fraction(2) ** (exp - m)
    whole = units.numerator // units.denominator
    whole += bool(up(mode, negative, whole, units - whole))
    if whole == 1 << m + 1:
        whole, exp = whole >> 1, exp + 1
    if exp > bias:
        toward_zero = mode == 'rz' or mode == ('rp' if negative else 'rm')
        bits = ((1 << e) - 1 << m) - (1 if toward_zero else 0)
    else:
        bits = whole if whole < 1 << m else (exp + bias << m) + whole - (1 << m)
    return negative << e + m | bits


def root(fmt, x, mode):
    """The square root has a few more bits than can matter, and one that says there is more."""
    scale = 200 - floor_log2(x) // 2
    n = x * Fraction(4) ** scale
    r = math.isqrt(n.numerator // n.denominator)
    exact = Fraction(r) * r == n
    return encode(fmt, (Fraction(r) + (0 if exact else Fraction(1, 2))) / Fraction(2) ** scale, mode)


def number(fmt, near=None):
    """A finite number: of any size, near another, or at an edge."""
    e, m = FORMATS[fmt]
    top = (1 << e) - 1 << m
    kind = rand.randrange(5)
    if kind == 0:
        bits = rand.choice([0, 1, 2, (1 << m) - 1, 1 << m, (1 << m) + 1, top - 1, (1 << e - 1) - 1 << m])
    elif kind <= 2 and near is not None:
        bits = (near & (1 << e + m) - 1) + (rand.randrange(-m - 3, m + 4) << m) ^ rand.getrandbits(m)
        bits = min(max(bits, 0), top - 1)
    else:
        bits = rand.randrange(top)
    return bits | rand.getrandbits(1) << e + m


def zero_sign(mode, *signs):
    """Of a sum that is exactly 0."""
    return signs[0] if len(set(signs)) == 1 else mode == 'rm'


def sign(fmt, bits):
    return bits >> sum(FORMATS[fmt])


def flushed(fmt, bits):
    """As .ftz has it."""
    e, m = FORMATS[fmt]
    return bits if bits >> m & (1 << e) - 1 else bits & 1 << e + m


def say(op, operands, result, width=64):
    mask = (1 << width) - 1
    print(op, *[hex(x & mask) for x in operands], '=', hex(result & mask))


def arithmetic(fmt, mode, ftz):
    a = number(fmt)
    b, c = number(fmt, a), number(fmt, a)
    name = f"{mode}{'.ftz' if ftz else ''}.{fmt}"
    flush = (lambda x: flushed(fmt, x)) if ftz else (lambda x: x)
    x, y, z = (decode(fmt, flush(v)) for v in (a, b, c))
    sa, sb, sc = (sign(fmt, v) for v in (a, b, c))
    say(f'add.{name}', (a, b), flush(encode(fmt, x + y, mode, zero_sign(mode, sa, sb))))
    say(f'sub.{name}', (a, b), flush(encode(fmt, x - y, mode, zero_sign(mode, sa, 1 - sb))))
    say(f'mul.{name}', (a, b), flush(encode(fmt, x * y, mode, sa ^ sb)))
    near = number(fmt, encode(fmt, x * y, 'rz'))
    say(f'fma.{name}', (a, b, near),
        flush(encode(fmt, x * y + decode(fmt, flush(near)), mode, zero_sign(mode, sa ^ sb, sign(fmt, near)))))
    say(f'fma.{name}', (a, b, c), flush(encode(fmt, x * y + z, mode, zero_sign(mode, sa ^ sb, sc))))
    if fmt in ('f32', 'f64') and y:
        say(f'div.{name}', (a, b), flush(encode(fmt, x / y, mode, sa ^ sb)))
        say(f'rcp.{name}', (b,), flush(encode(fmt, 1 / y, mode)))
    if fmt in ('f32', 'f64') and x > 0:
        say(f'sqrt.{name}', (a,), flush(root(fmt, x, mode)))


def integer(kind, width):
    bits = rand.getrandbits(rand.randrange(1, width + 1))
    if rand.randrange(4) == 0:
        bits = rand.choice([0, 1, (1 << width) - 1, 1 << width - 1, (1 << width - 1) - 1])
    return bits - (1 << width) if kind == 's' and bits >> width - 1 else bits


INTS = [(k, w) for k in 'us' for w in (8, 16, 32, 64)]


def to_integer(x, mode):
    floor = x.numerator // x.denominator
    return {'rmi': floor, 'rpi': -(-x.numerator // x.denominator), 'rzi': floor if x >= 0 else math.ceil(x),
            'rni': round(x)}[mode]


def limits(kind, width):
    return (-(1 << width - 1), (1 << width - 1) - 1) if kind == 's' else (0, (1 << width) - 1)


def conversions(fmt):
    e, m = FORMATS[fmt]
    for kind, width in INTS:
        if fmt == 'bf16' and width == 8:
            continue  # there are none
        mode = rand.choice(MODES)
        i = integer(kind, width)
        say(f'cvt.{mode}.{fmt}.{kind}{width}', (i,), encode(fmt, Fraction(i), mode))
        mode = rand.choice(['rni', 'rzi', 'rmi', 'rpi'])
        near = encode(fmt, Fraction(integer(kind, width)) + rand.choice([0, Fraction(1, 2)]), 'rz')
        bits = rand.choice([near, number(fmt)])
        low, high = limits(kind, width)
        say(f'cvt.{mode}.{kind}{width}.{fmt}', (bits,), min(max(to_integer(decode(fmt, bits), mode), low), high))
    for to in FORMATS:
        mode = rand.choice(MODES)
        bits = number(fmt)
        x = decode(fmt, bits)
        if rand.randrange(2):
            x = decode(to, number(to)) * (1 + Fraction(rand.randrange(-4, 5), 1 << FORMATS[to][1] + 2))
            bits = encode(fmt, x, 'rz')
            x = decode(fmt, bits)
        widens = sum(FORMATS[to]) > e + m
        if to != fmt:
            name = f'cvt.{to}.{fmt}' if widens else f'cvt.{mode}.{to}.{fmt}'
            say(name, (bits,), encode(to, x, mode, sign(fmt, bits)))


def integers(kind, width):
    a, b, c = (integer(kind, width) for _ in range(3))
    name = f'{kind}{width}'
    say(f'add.{name}', (a, b), a + b)
    say(f'sub.{name}', (a, b), a - b)
    say(f'mul.lo.{name}', (a, b), a * b)
    say(f'mul.hi.{name}', (a, b), a * b >> width)
    say(f'mad.lo.{name}', (a, b, c), a * b + c)
    say(f'mad.hi.{name}', (a, b, c), (a * b >> width) + c)
    say(f'sad.{name}', (a, b, c), c + abs(a - b))
    say(f'min.{name}', (a, b), min(a, b))
    say(f'max.{name}', (a, b), max(a, b))
    say(f'shr.{name}', (a, b % 70), a >> b % 70)
    if b:
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        say(f'div.{name}', (a, b), quotient)
        say(f'rem.{name}', (a, b), a - b * quotient)
    if width >= 32:
        pos, length = rand.randrange(80), rand.randrange(80)
        at = [a >> min(i, width - 1) & 1 for i in range(width)]
        fill = at[min(pos + length - 1, width - 1)] if kind == 's' and length else 0
        field = [at[pos + i] if i < length and pos + i < width else fill for i in range(width)]
        say(f'bfe.{name}', (a, pos, length), sum(bit << i for i, bit in enumerate(field)))
        for op, sum_ in (('add', a + b), ('sub', a - b)):
            unsigned = [x & (1 << width) - 1 for x in (a, b)]
            carry = (sum(unsigned) >> width if op == 'add' else int(unsigned[0] < unsigned[1]))
            print(f'{op}.cc.{name}', *map(hex, unsigned), '=', hex(sum_ & (1 << width) - 1), f'carry=0,{carry}')
    for to, bits in INTS:
        say(f'cvt.{to}{bits}.{name}', (a,), a, 64)
        here, there = limits(kind, width), limits(to, bits)
        if here[0] < there[0] or here[1] > there[1]:
            say(f'cvt.sat.{to}{bits}.{name}', (a,), min(max(a, there[0]), there[1]), 64)


def main():
    print('section exact')
    for _ in range(int(sys.argv[1])):
        for mode in MODES:
            for ftz in (False, True):
                arithmetic('f32', mode, ftz)
            arithmetic('f64', mode, False)
        for ftz in (False, True):
            arithmetic('f16', 'rn', ftz)
        arithmetic('bf16', 'rn', False)
        for fmt in FORMATS:
            conversions(fmt)
        for kind, width in INTS:
            if width > 8:
                integers(kind, width)


main()
