# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""cases.py [-n N] CASE...|all|list|wait|comm=NAME: Python stacks of every kind, with an allocation on top of each.

Prints the truth about each (truth.py).  -n: each case so many times; all: all but deep; wait: prints
"ready" and reads a line; comm=NAME: the process is called so from now on.
"""
import ctypes
import functools
import gc
import os
import re
import sys
import threading

import truth
from truth import CALLBACK, here, malloc, malloc_in_c, middle, p

cases = {}


def case(f):
    cases[f.__name__] = f
    return f


# ---- functions

def one():
    two()


def two():
    three(here)


def three(where):
    malloc(p, where())


def three_exact():
    malloc(p, here())


@case
def nesting():
    def inner():
        def innermost():
            malloc(p, here())
        innermost()
    inner()
    three_exact()


def down(n):
    if n == 0:
        malloc(p, here())
    else:
        down(n - 1)


@case
def recursion():
    down(60)


def left(n):
    right(n - 1) if n else malloc(p, here())


def right(n):
    left(n - 1) if n else malloc(p, here())


# more than any tool walks
@case
def deep():
    down(900)


@case
def mutual_recursion():
    left(17)
    left(18)


class Base:
    def __init__(self):
        malloc(p, here())

    def method(self):
        malloc(p, here())

    @classmethod
    def on_class(cls):
        malloc(p, here())

    @staticmethod
    def static():
        malloc(p, here())

    @property
    def attribute(self):
        return malloc(p, here())

    def __call__(self):
        malloc(p, here())

    def __getattr__(self, name):
        malloc(p, here())
        return name

    def __add__(self, other):
        malloc(p, here())
        return self

    def __getitem__(self, i):
        malloc(p, here())
        return i

    def __lt__(self, other):
        malloc(p, here())
        return True

    def __hash__(self):
        malloc(p, here())
        return 7

    def __repr__(self):
        malloc(p, here())
        return "x"


class Derived(Base):
    def __init__(self):
        super().__init__()

    def method(self):
        super().method()

    class Nested:
        def method(self):
            malloc(p, here())


@case
def methods():
    d = Derived()
    d.method()
    Derived.on_class()
    d.static()
    d.attribute
    d()
    d.no_such
    d + 1
    d[3]
    d < d
    {d: 1}
    repr(d)
    f"{d!r}"
    Derived.Nested().method()


class Meta(type):
    def __new__(mcs, name, bases, space):
        malloc(p, here())
        return super().__new__(mcs, name, bases, space)

    def __call__(cls):
        malloc(p, here())
        return super().__call__()


@case
def metaclass():
    class Made(metaclass=Meta):
        malloc(p, here())

        def __init__(self):
            malloc(p, here())

        def __set_name__(self, owner, name):
            malloc(p, here())

    class Holder:
        held = Made()
    return Holder


# ---- generators and coroutines

def generate(n):
    for i in range(n):
        malloc(p, here())
        yield i
    if n:
        yield from generate(n - 1)


@case
def generators():
    list(generate(2))
    for _ in generate(1):
        malloc(p, here())
    g = generate(2)
    next(g)
    sum(x for x in g)
    any(malloc(p, here()) for _ in range(2))


def closing():
    try:
        yield 1
    finally:
        malloc(p, here())


def thrown_into():
    try:
        received = yield 1
        malloc(p, here())
        yield received
    except ValueError:
        malloc(p, here())
        yield 2


@case
def generators_closed():
    g = closing()
    next(g)
    g.close()
    g = thrown_into()
    next(g)
    g.throw(ValueError())
    g = thrown_into()
    next(g)
    g.send(7)


@case
def coroutines():
    import asyncio

    async def leaf(n):
        await asyncio.sleep(0)
        malloc(p, here())
        return n

    async def middle_(n):
        return await leaf(n)

    async def numbers():
        for i in range(2):
            await asyncio.sleep(0)
            malloc(p, here())
            yield i

    class Manager:
        async def __aenter__(self):
            await asyncio.sleep(0)
            malloc(p, here())

        async def __aexit__(self, *exc):
            malloc(p, here())

    def soon():
        malloc(p, here())

    async def main():
        await middle_(1)
        await asyncio.gather(middle_(2), leaf(3))
        async for _ in numbers():
            malloc(p, here())
        async with Manager():
            malloc(p, here())
        _ = [x async for x in numbers()]
        asyncio.get_running_loop().call_soon(soon)
        await asyncio.get_running_loop().run_in_executor(None, three_exact)
        await asyncio.sleep(0)

    asyncio.run(main())


# ---- expressions

@case
def comprehensions():
    [malloc(p, here()) for _ in range(2)]
    {malloc(p, here()) for _ in range(2)}
    {i: malloc(p, here()) for i in range(2)}
    [[malloc(p, here()) for _ in range(2)] for _ in range(2)]
    [three_exact() for _ in range(2)]
    list(malloc(p, here()) for _ in range(2))


@case
def lambdas():
    (lambda: malloc(p, here()))()
    f = lambda g: (lambda: g())()
    f(lambda: malloc(p, here()))
    f(three_exact)


# the function starts far from its first line, and goes back
@case
def many_lines():
    malloc(p, here()); malloc(p, here())
    middle.middle_malloc(
        *malloc_in_c(
        )
    )
    (middle
     .middle_malloc
     (*malloc_in_c()))
    [
        middle.middle_malloc(*malloc_in_c()),
        2,
        middle.middle_malloc(
            *malloc_in_c()),
    ]
    x = dict(
        a=1,
        b=malloc(p, here()),
        c=three_exact(
        ),
    )
    for i in (1,
              malloc(p, here()),
              3):
        x = (i
             + malloc(p, here())
             + i)
    while x:
        malloc(p, here())
        x = 0
    if (x
            or malloc(p, here())
            or x):
        pass
    f"""
    {malloc(p, here())}
    """


# ---- decorators

def plain_decorator(f):
    @functools.wraps(f)
    def wrapper(*args):
        malloc(p, here())
        return f(*args)
    return wrapper


def decorator_with(argument):
    malloc(p, here())

    def decorate(f):
        malloc(p, here())

        def wrapper(*args, **kwargs):
            return f(*args, **kwargs)
        return wrapper
    return decorate


@case
def decorators():
    @plain_decorator
    @decorator_with(
        1
    )
    @functools.lru_cache(None)
    def decorated(x):
        malloc(p, here())
        return x

    decorated(3)
    decorated(3)


# ---- exceptions

class Manager:
    def __enter__(self):
        malloc(p, here())

    def __exit__(self, *exc):
        malloc(p, here())
        return True


def fails():
    try:
        raise ValueError(malloc(p, here()))
    finally:
        malloc(p, here())


@case
def exceptions():
    import contextlib

    try:
        fails()
    except ValueError:
        malloc(p, here())
    else:
        malloc(p, here())
    with Manager():
        malloc(p, here())
        fails()
    with Manager(), \
         Manager():
        pass

    @contextlib.contextmanager
    def managed():
        malloc(p, here())
        try:
            yield
        finally:
            malloc(p, here())

    with managed():
        malloc(p, here())
    try:
        try:
            fails()
        except ValueError as e:
            raise KeyError from e
    except KeyError:
        three_exact()


# ---- called by C

@case
def callbacks():
    functools.partial(functools.partial(three, here))()
    functools.reduce(lambda a, b: malloc(p, here()), [1, 2, 3])
    sorted([3, 1, 2], key=lambda x: malloc(p, here()))
    sorted([3, 1], key=functools.cmp_to_key(lambda a, b: malloc(p, here())))
    list(map(lambda x: malloc(p, here()), [1, 2]))
    list(filter(lambda x: malloc(p, here()), [1, 2]))
    max([1, 2], key=lambda x: malloc(p, here()))
    re.sub("a", lambda m: str(malloc(p, here())), "banana")
    min([Base(), Base()], key=lambda x: 1)
    min(Base(), Base())
    import json
    json.loads('{"a": 1}', object_hook=lambda x: malloc(p, here()))


def in_callback():
    malloc(p, here(native={"ctypes_callbacks": "libmiddle.so"}))
    return 0


def nested_callback():
    native = {"ctypes_callbacks": "libmiddle.so", "nested_callback": "libmiddle.so"}
    middle.middle_call(CALLBACK(lambda: malloc(p, here(native=native))))
    return 0


@case
def ctypes_callbacks():
    middle.middle_call(CALLBACK(in_callback))
    middle.middle_call(CALLBACK(nested_callback))
    middle.middle_malloc(*malloc_in_c())


COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))


def compare(a, b):
    malloc(p, here(native={"qsort": "libc"}))
    return a[0] - b[0]


@case
def qsort():
    numbers = (ctypes.c_int * 3)(5, 2, 3)
    libc = ctypes.CDLL("libc.so.6")
    libc.qsort(numbers, 3, ctypes.sizeof(ctypes.c_int), COMPARE(compare))


# ---- code made at run time

@case
def executed():
    exec("malloc(p, here())")
    eval("malloc(p, here())")
    exec(compile("\n" * 300 + "def f():\n\n malloc(p, here())\nf()\n", "<made>", "exec"), globals())
    exec("class C:\n    def m(self):\n        malloc(p, here())\nC().m()", globals())


@case
def names():
    class Größe:
        def 测量(self):
            malloc(p, here())

        def ключ(self): self.测量()

    Größe().ключ()
    import größe_计算
    größe_计算.berechne_größe_数()
    code = compile("malloc(p, here())", "/w/with space, \"quotes\" and\ttab\n.py", "exec")
    exec(code)
    exec(compile("def 𝔣𝔲𝔫𝔠_" + "x" * 300 + "(): malloc(p, here())", "/w/" + "long" * 100 + ".py", "exec"), globals())
    globals()["func_" + "x" * 300]()


def far_source(gaps, loop):
    """A function with calls so many lines apart."""
    lines = ["def far():"]
    for gap in gaps:
        lines += [""] * gap
        lines += ["    malloc(p, here())"]
    if loop:
        lines.insert(1, "  for _ in range(2):")
    return "\n".join(lines) + "\n"


@case
def far_lines():
    space = dict(globals())
    exec(compile(far_source([1, 31, 63, 127, 128, 129, 254, 255, 256, 300, 511, 5000, 40000, 70000], False),
                 "far.py", "exec"), space)
    space["far"]()
    exec(compile(far_source([1, 200, 33000], True), "far_loop.py", "exec"), space)
    space["far"]()


@case
def long_function():
    lines = ["def long(x):"]
    for i in range(2, 3001):
        lines.append("    malloc(p, here())" if i in (2, 300, 1009, 2003, 2999, 3000) else "    x = (x + %d) %% 1009" % i)
    space = dict(globals())
    exec(compile("\n".join(lines) + "\n", "long.py", "exec"), space)
    space["long"](1)


@case
def module_level():
    sys.modules.pop("toplevel", None)
    import toplevel
    return toplevel


@case
def collected():
    class Cycle:
        def __init__(self):
            self.me = self

        def __del__(self):
            malloc(p, here())

    Cycle()
    gc.collect()
    x = Cycle()
    x.me = None
    del x
    import weakref
    y = Base()
    weakref.finalize(y, three_exact)
    y = None


@case
def signals():
    import signal

    def handler(number, frame):
        malloc(p, here())

    signal.signal(signal.SIGUSR1, handler)
    os.kill(os.getpid(), signal.SIGUSR1)
    for _ in range(100):
        pass


# ---- threads

@case
def threads():
    class Thread(threading.Thread):
        def run(self):
            down(5)

    for t in Thread(), threading.Thread(target=three_exact), threading.Thread(target=lambda: malloc(p, here())):
        t.start()
        t.join()
    import _thread
    done = threading.Event()

    def bare():
        malloc(p, here())
        done.set()

    _thread.start_new_thread(bare, ())
    done.wait()
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(down, [3, 4, 5]))


def on_c_thread():
    malloc(p, here(native={"": "libmiddle.so"}))
    down(3)
    return 0


@case
def c_threads():
    middle.middle_thread(CALLBACK(on_c_thread))
    middle.middle_thread(CALLBACK(on_c_thread))


@case
def threads_at_once():
    start = threading.Barrier(5)

    def work(n):
        start.wait()
        for i in range(20):
            down(n)

    all_ = [threading.Thread(target=work, args=(n,)) for n in range(2, 7)]
    for t in all_:
        t.start()
    for t in all_:
        t.join()


@case
def forked():
    pid = os.fork()
    if not pid:
        malloc(p, here())
        os._exit(0)
    os.waitpid(pid, 0)


# ---- interpreters

SUB = """
import sys
sys.path[:] = %r
import itertools, truth
from truth import malloc, p, here
truth.case = 'subinterpreters'
truth.outer = %r
truth.sizes = itertools.count(%d)
def in_sub():
    malloc(p, here())
in_sub()
malloc(p, here())
"""


def sub_source():
    # the line of the caller, which is that of the call of run()
    outer = truth.frames(sys._getframe(1))
    return SUB % (sys.path, outer, 2 * next(truth.sizes))	# two calls


@case
def subinterpreters():
    try:
        import _interpreters as interpreters	# 3.13
    except ImportError:
        import _xxsubinterpreters as interpreters
    new = interpreters.create
    if sys.version_info >= (3, 13):
        sub = new("legacy")
    elif sys.version_info >= (3, 12):
        sub = new(isolated=False)
    else:
        sub = new()
    failed = interpreters.run_string(sub, sub_source())
    if failed:
        raise RuntimeError(failed)
    interpreters.destroy(sub)


@case
def subinterpreters_isolated():
    if sys.version_info < (3, 14):
        return
    from concurrent import interpreters
    interpreters.create().exec(sub_source())


def main(args):
    times = 1
    if args and args[0] == "-n":
        times = int(args[1])
        args = args[2:]
    if args == ["list"]:
        print("\n".join(cases))
        return
    if "all" in args:
        at = args.index("all")
        args[at:at + 1] = [name for name in cases if name != "deep"]
    for name in args:
        if name == "wait":
            os.write(1, b"ready\n")
            sys.stdin.readline()
            continue
        if name.startswith("comm="):
            ctypes.CDLL(None).prctl(15, name[5:].encode(), 0, 0, 0)	# PR_SET_NAME
            continue
        for _ in range(times):
            truth.case = name
            cases[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
