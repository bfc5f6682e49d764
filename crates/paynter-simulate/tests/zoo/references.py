"""Computes references.csv: solutions of the zoo's problems with their derivatives by parameters.

The equations are written down by hand, without bond graphs. Derivatives follow from the variational
equations, whose Jacobians are complex steps; SciPy integrates them with tolerances near rounding.
Run with Python, NumPy and SciPy: python references.py > references.csv
"""

import numpy as np
from scipy.integrate import solve_ivp

exp, sin, cos = np.exp, np.sin, np.cos


def pendulum(t, x, p):
    m, l, g, _, b = p
    return [x[1], (-m * g * l * sin(x[0]) - b * x[1]) / (m * l**2)]


def duffing(t, x, p):
    m, k, k3, c = p
    return [x[1], (8 * cos(0.5 * t) - k * x[0] - k3 * x[0] ** 3 - c * x[1]) / m]


def robertson(t, x, p):
    a, b, c = p[0] * x[0], p[1] * x[1] * x[2], p[2] * x[1] ** 2
    return [b - a, a - b - c, c]


def gas(t, x, p):
    # The volume that is lost, and the temperature: first law for an ideal gas.
    p0, V0, T0, gamma, cv, h = p
    m = p0 * V0 / (cv * (gamma - 1) * T0)
    rate = 1e-3 * sin(2 * t)
    pressure = m * cv * (gamma - 1) * x[1] / (V0 - x[0])
    return [rate, (pressure * rate - h * (x[1] - T0)) / (m * cv)]


def gas_outputs(x, p):
    p0, V0, T0, gamma, cv, _ = p
    m = p0 * V0 / (cv * (gamma - 1) * T0)
    return [m * cv * (gamma - 1) * x[1] / (V0 - x[0]), x[1]]


def arm(t, x, p):
    # Angle, length and their rates, in polar coordinates.
    J0, m, _, _ = p
    _, r, w, v = x
    return [w, v, (1 - 2 * m * r * v * w) / (J0 + m * r**2), r * w**2]


PROBLEMS = {
    # name: rates, initial states, outputs, parameters, end, method
    "pendulum": (pendulum, lambda p: [p[3], 0], lambda x, p: [x[0]], [1, 0.8, 9.81, 1, 0.05], 3, "DOP853"),
    "duffing": (duffing, lambda p: [0, 0], lambda x, p: [x[0]], [1, 1, 5, 0.02], 3, "DOP853"),
    "robertson": (robertson, lambda p: [1, 0, 0], lambda x, p: list(x), [0.04, 1e4, 3e7], 40, "Radau"),
    "gas": (gas, lambda p: [0, p[2]], gas_outputs, [1e5, 2e-3, 293, 1.4, 718, 0.5], 4, "DOP853"),
    "arm": (arm, lambda p: [p[3], p[2], 0, 0], lambda x, p: [x[0], x[1]], [0.8, 2, 0.5, 0.3], 2, "DOP853"),
}


def slopes(function, count, *arguments):
    """The derivatives of a function by its last argument, by complex steps."""
    *rest, last = arguments
    columns = []
    for i in range(count):
        moved = np.array(last, dtype=complex)
        step = 1e-30 * max(1.0, abs(last[i]))
        moved[i] += 1j * step
        columns.append(np.imag(np.array(function(*rest, moved), dtype=complex)) / step)
    return np.array(columns).T


def solve(rates, initial, outputs, parameters, end, method, rtol=3e-13):
    p = np.array(parameters, dtype=float)
    start = np.array(initial(p), dtype=float)
    n, count = len(start), len(p)

    def whole(t, z):
        x, s = z[:n], z[n:].reshape(n, count)
        by_x = slopes(lambda y: rates(t, y, p), n, x)
        by_p = slopes(lambda q: rates(t, x, q), count, p)
        return np.concatenate([rates(t, x, p), (by_x @ s + by_p).ravel()])

    z0 = np.concatenate([start, slopes(initial, count, p).ravel()])
    times = [end * k / 4 for k in range(1, 5)]
    scale = np.concatenate([np.ones(n), np.tile(1 / np.abs(p), n)])
    run = solve_ivp(whole, (0, end), z0, method=method, t_eval=times, rtol=rtol, atol=rtol / 3e4 * scale)
    for t, z in zip(run.t, run.y.T):
        x, s = z[:n], z[n:].reshape(n, count)
        y = np.real(outputs(x, p))
        by = slopes(lambda v: outputs(v, p), n, x) @ s + slopes(lambda q: outputs(x, q), count, p)
        for k, value in enumerate(y):
            yield t, k, value, by[k]


if __name__ == "__main__":
    for name, problem in PROBLEMS.items():
        for t, k, value, by in solve(*problem):
            print(name, repr(float(t)), k, repr(float(value)), *(repr(float(b)) for b in by), sep=",")
