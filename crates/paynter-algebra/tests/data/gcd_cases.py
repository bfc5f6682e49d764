"""Writes gcd_cases.txt: pairs of polynomials and their greatest common divisor
by FLINT (python-flint). One case is four lines: name, a, b, gcd; a polynomial is
`coefficient:exponent,exponent,...` terms separated by blanks."""

import random
from flint import fmpz_mpoly_ctx, Ordering

random.seed(20)
P = [4611686018427387847, 4611686018427387817, 4611686018427387787, 4611686018427387761, 4611686018427387751]


def ring(n):
    ctx = fmpz_mpoly_ctx.get([f"x{i}" for i in range(n)], Ordering.lex)
    return ctx, ctx.gens()


def sparse(ctx, terms, degree, size, active=None):
    n = ctx.nvars()
    p = ctx.from_dict({})
    for _ in range(terms):
        e = tuple(random.randint(0, degree) if (active is None or i in active) and random.random() < 0.6 else 0
                  for i in range(n))
        c = random.randint(-size, size) or 1
        p += ctx.from_dict({e: c})
    return p


cases = []


def case(name, a, b):
    cases.append((name, a, b, a.gcd(b)))


ctx, (x, y, z, u) = ring(4)
g = sum((x**i) * (i + 1) * (y * z + i * u**2) for i in range(15)) + 1
case("dense in one variable, sparse in the others", g * (x**7 * y - 3 * z), g * (x**5 - u * y**3 + 2))
g = (y * z + 2 * u) * x**3 + (y - z**2 * u) * x + 7 * u**3 - y
case("leading coefficients in several variables", g * ((y * z + 2 * u) * x**2 - 5), g * ((y - 3 * z) * x**3 + u * x - 1))
g = (y + z) * (y - u) * x**2 + (z + u) ** 3 * x + y * z * u + 3
case("leading coefficient is a product", g * ((y + z) * x + u), g * ((y - u) * x**2 + z * x + y))
case("content of 50 digits", 10**50 * (x + y) ** 3 * (z - u), 10**40 * 7 * (x + y) ** 2 * (z + u))
case("content in the other variables", (y**2 - z * u) ** 3 * (x**2 + y) * (x - 1), (y**2 - z * u) ** 2 * (x**2 + y) * (x + z))
g = x * y - z**2 + 2 * u
case("repeated factors", g**4 * (x + 1) ** 2 * (y - u), g**3 * (x + 1) ** 3 * (y + u) ** 2)
case("repeated factors of one variable", (x**2 - 2) ** 6 * (x + 5) ** 3, (x**2 - 2) ** 4 * (x + 5) ** 5 * (x - 1))
case("no common factor, close to one", x**20 - y**20, x**20 - y**20 + 1)
case("cyclotomic", x**60 - 1, x**48 - 1)
case("cyclotomic in two variables", x**30 * y**30 - z**30, x**24 * y**24 - z**24)
case("one divides the other", (x + y + z + u) ** 6, (x + y + z + u) ** 4)
case("all minus signs", -(x + y) * (z - u) * 6, -(x + y) * (z + u) * 4)
case("a monomial", x**3 * y**2 * z, x**2 * y**5 * u + x**4 * y**3)
case("common factor modulo the first prime only", (x + y + 1) * (z + 2), (x + y + 1 + P[0]) * (z - 2))
case("common factor modulo the first five primes", (x + 1) * (y + 2), (x + 1 + P[0] * P[1] * P[2] * P[3] * P[4]) * (y + z))
g = P[4] * x**2 + P[0] * y + 1
case("leading coefficients divisible by the primes", g * (P[4] * x - z), g * (x * P[4] * P[0] + u))
g = P[4] * x**2 * y + x * (P[4] - 1) * z - P[4] * u + 1
case("terms that vanish modulo a prime", g * (x - u * z + P[4]), g * (x + u * y - P[4] * 3))
g = sparse(ctx, 12, 4, 10**60)
case("coefficients of 60 digits", g * sparse(ctx, 6, 3, 10**60), g * sparse(ctx, 6, 3, 10**60))
g = sparse(ctx, 8, 60, 9)
case("high degrees", g * sparse(ctx, 5, 50, 9), g * sparse(ctx, 5, 50, 9))
ctx, v = ring(12)
g = sparse(ctx, 14, 2, 20)
case("twelve variables", g * sparse(ctx, 9, 2, 20), g * sparse(ctx, 9, 2, 20))
g = sparse(ctx, 30, 1, 3)
case("twelve variables, square-free terms", g * sparse(ctx, 12, 1, 3), g * sparse(ctx, 12, 1, 3))
case("twelve variables without common factor", sparse(ctx, 100, 2, 20), sparse(ctx, 100, 2, 20))
g = sum(v) + 1
case("dense linear forms", g * (sum((i + 1) * w for i, w in enumerate(v)) - 2), g * (sum((i * i - 5) * w for i, w in enumerate(v)) + 3))
case("variables in only one of the two", (v[0] + v[1]) * (v[2] + v[3] * v[4]), (v[0] + v[1]) * (v[5] * v[6] - v[7]) * (v[8] + 1))
ctx, (x, y, z) = ring(3)
g = (x + y + z + 1) ** 5
case("dense in three variables", g * (x - y + 2 * z) ** 4, g * (x + y - z) ** 4)
g = x**5 * y**3 - 2 * z**7 + x * y * z - 1
case("denominators of fractions", g**2 * (x**2 - y**2), g * (x - y) ** 2 * (x + y + z))
case("degree that drops at many points", (x * (y**8 - 1) * (z**8 - 1) + 1) * (x + y), (x * (y**8 - 1) * (z**8 - 1) + 1) * (x * z + y))
ctx, (x,) = ring(1)
g = ctx.from_dict({(i,): random.randint(-99, 99) for i in range(60)})
case("one variable, dense", g * ctx.from_dict({(i,): random.randint(-99, 99) for i in range(50)}),
     g * ctx.from_dict({(i,): random.randint(-99, 99) for i in range(40)}))

with open("gcd_cases.txt", "w") as out:
    for name, *polys in cases:
        print(name, file=out)
        for p in polys:
            print(" ".join(f"{c}:{','.join(map(str, e))}" for e, c in p.to_dict().items()), file=out)
