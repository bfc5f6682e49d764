"""All sensitivities of a chain of masses by FLINT, the rival of
`sensitivity.rs` beside this file: memoised minors of the polynomial matrix,
one product for each parameter, reduced to lowest terms.

`sensitivity_flint.py N` prints the seconds of processor time and the terms,
first of the products alone, then in lowest terms."""

import sys
import time
from functools import lru_cache

from flint import Ordering, fmpz_mpoly_ctx


def chain(n):
    """Masses in a row, each tied to the next by a spring and a damper, the last to a wall."""
    names = ["s"] + [f"{kind}{i}" for i in range(n) for kind in "mbk"]
    ctx = fmpz_mpoly_ctx.get(names, Ordering.lex)
    s, *p = ctx.gens()
    zero = ctx.from_dict({})
    matrix = [[zero] * n for _ in range(n)]
    elements = []
    for i in range(n):
        other = i + 1 if i + 1 < n else None
        elements += [(p[3 * i], s**2, i, None), (p[3 * i + 1], s, i, other), (p[3 * i + 2], s**0, i, other)]
    for value, power, a, b in elements:
        value = value * power
        matrix[a][a] += value
        if b is not None:
            matrix[b][b] += value
            matrix[a][b] -= value
            matrix[b][a] -= value
    return ctx, matrix, elements


def sensitivities(n):
    ctx, matrix, elements = chain(n)
    zero, one = ctx.from_dict({}), ctx.from_dict({(0,) * ctx.nvars(): 1})

    @lru_cache(maxsize=None)
    def minor(rows, columns):
        if not columns:
            return one
        total, column = zero, columns[-1]
        for place, row in enumerate(rows):
            entry = matrix[row][column]
            if entry == 0:
                continue
            product = entry * minor(rows[:place] + rows[place + 1 :], columns[:-1])
            total = total + product if (place + len(columns) - 1) % 2 == 0 else total - product
        return total

    begin = time.process_time()
    everything = tuple(range(n))
    without = [tuple(j for j in everything if j != i) for i in everything]
    forward = [minor(without[0], without[j]) * (-1) ** j for j in everything]
    adjoint = [minor(without[i], without[n - 1]) * (-1) ** (n - 1 + i) for i in everything]
    determinant = minor(everything, everything)
    products = []
    for _, power, a, b in elements:
        left, right = (adjoint[a], forward[a]) if b is None else (adjoint[a] - adjoint[b], forward[a] - forward[b])
        products.append(-left * power * right)
    middle = time.process_time()
    for product in products:
        # Over the square: what is common to numerator and denominator.
        if product != 0 and product.gcd(determinant) != 1:
            raise SystemExit("the sensitivities of a chain are in lowest terms")
    return middle - begin, time.process_time() - begin, sum(len(product) for product in products)


runs = [sensitivities(int(sys.argv[1])) for _ in range(3)]
print(min(run[0] for run in runs), min(run[1] for run in runs), runs[0][2])
