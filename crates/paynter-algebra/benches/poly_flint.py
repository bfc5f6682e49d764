"""The table of poly.rs by FLINT: memoised minors of the polynomial matrix with
python-flint. Run beside `cargo bench -p paynter-algebra --bench poly`. With a
question (transfer, sensitivities), the name of a model and a size it prints the
seconds that the answer takes from the matrix on, and the seconds in lowest terms."""

import sys
import time
from functools import lru_cache
from flint import fmpz_mpoly_ctx, Ordering


def best_of(run):
    best, begin, runs = float("inf"), time.perf_counter(), 0
    while True:
        start = time.process_time()
        terms = run()
        best = min(best, time.process_time() - start)
        runs += 1
        if time.perf_counter() - begin > 1 or runs >= 200:
            return best, terms


def report(name, run):
    best, terms = best_of(run)
    print(f"{name:<34} {best:>10.5f} s  {terms} terms", flush=True)


def nodal(size, symbols, elements):
    """elements: (power of s, node, other node or None) in the order of the symbols."""
    ctx = fmpz_mpoly_ctx.get(["s"] + [f"p{i}" for i in range(symbols)], Ordering.lex)
    s, *p = ctx.gens()
    zero = ctx.from_dict({})
    m = [[zero] * size for _ in range(size)]
    for value, (power, a, b) in zip(p, elements):
        value = value * s**power
        m[a][a] += value
        if b is not None:
            m[b][b] += value
            m[a][b] -= value
            m[b][a] -= value
    return ctx, p, m


def chain(n):
    elements = []
    for i in range(n):
        other = i - 1 if i else None
        elements += [(2, i, None), (1, i, other), (0, i, other)]
    return nodal(n, 3 * n, elements), elements


def ladder(n):
    elements = []
    for i in range(n):
        elements += [(0, i, i - 1 if i else None), (1, i, None)]
    return nodal(n, 2 * n, elements), elements


def grid(k):
    elements = []
    for i in range(k * k):
        elements.append((2, i, None))
        if i % k:
            elements.append((0, i, i - 1))
        if i >= k:
            elements.append((0, i, i - k))
    elements.append((0, 0, None))
    return nodal(k * k, len(elements), elements), elements


def minors(ctx, m):
    """Returns a function: the minor of a tuple of rows and a tuple of columns."""
    zero, one = ctx.from_dict({}), ctx.from_dict({(0,) * ctx.nvars(): 1})

    @lru_cache(maxsize=None)
    def minor(rows, columns):
        if not columns:
            return one
        total = zero
        column = columns[-1]
        for place, row in enumerate(rows):
            entry = m[row][column]
            if entry == 0:
                continue
            sub = minor(rows[:place] + rows[place + 1:], columns[:-1])
            if sub == 0:
                continue
            product = entry * sub
            total = total + product if (place + len(columns) - 1) % 2 == 0 else total - product
        return total

    return minor


def determinant(model):
    (ctx, _, m), _ = model
    n = len(m)
    return len(minors(ctx, m)(tuple(range(n)), tuple(range(n))))


def sensitivities(model, lowest=False):
    (ctx, _, m), elements = model
    n = len(m)
    minor = minors(ctx, m)
    everything = tuple(range(n))
    without = [tuple(j for j in everything if j != i) for i in everything]
    z = [minor(without[0], without[j]) * (-1) ** j for j in everything]
    l = [minor(without[i], without[n - 1]) * (-1) ** (n - 1 + i) for i in everything]
    determinant = minor(everything, everything)
    s = ctx.gens()[0]
    terms = 0
    for power, a, b in elements:
        left, right = (l[a], z[a]) if b is None else (l[a] - l[b], z[a] - z[b])
        product = -left * s**power * right
        # Over the square of the determinant.
        if lowest and product != 0 and product.gcd(determinant) != 1:
            raise SystemExit("the sensitivities of a chain are in lowest terms")
        terms += len(product)
    return terms


def transfer(model, lowest):
    """From a push on the first node to what the last one does."""
    (ctx, _, m), _ = model
    n = len(m)
    minor = minors(ctx, m)
    denominator = minor(tuple(range(n)), tuple(range(n)))
    numerator = minor(tuple(range(1, n)), tuple(range(n - 1)))
    if lowest:
        common = numerator.gcd(denominator)
        numerator, denominator = numerator / common, denominator / common
    return len(numerator) + len(denominator)


if len(sys.argv) > 1:
    answer = {"transfer": transfer, "sensitivities": sensitivities}[sys.argv[1]]
    model = {"chain": chain, "ladder": ladder}[sys.argv[2]](int(sys.argv[3]))
    print(*(best_of(lambda: answer(model, lowest))[0] for lowest in [False, True]))
    sys.exit()

for n in [5, 6, 7, 8, 9]:
    model = chain(n)
    report(f"chain {n}: denominator", lambda: determinant(model))
for n in [5, 6, 7, 8]:
    model = chain(n)
    report(f"chain {n}: all sensitivities", lambda: sensitivities(model))
for n in [10, 12, 14]:
    model = ladder(n)
    report(f"RC ladder {n}: denominator", lambda: determinant(model))
for n in [6, 8, 10]:
    model = ladder(n)
    report(f"RC ladder {n}: all sensitivities", lambda: sensitivities(model))
for k in [2, 3]:
    model = grid(k)
    report(f"grid {k}x{k}: denominator", lambda: determinant(model))
