"""The two conical tanks of Gawthrop 2000 fitted from (2, 1, 1, 2) by SciPy and CasADi, with the paper's Euler step:
python estimate.py prints seconds of processor time and parameters of both, python estimate.py TOOL of one.

SciPy: `least_squares` with a NumPy right-hand side, the sensitivities integrated beside the states (`jac`), and by
finite differences. CasADi: Gauss-Newton on a compiled map of Euler steps with its own derivatives."""
import sys
import time

import numpy as np

CONE = 12 / np.pi
TRUTH = np.array([0.5, 0.25, 1.5, 1.0])
START = np.array([2.0, 1.0, 1.0, 2.0])
STEP, COUNT = 0.01, 1000


def pipe(e, alpha, beta):
    return np.sign(e) * (np.abs(e) / beta) ** (1 / alpha)


def simulate(p):
    x = np.array(p[:2], dtype=float)
    y = np.empty(COUNT + 1)
    for k in range(COUNT + 1):
        e = np.cbrt(CONE * x)
        y[k] = e[1]
        first = pipe(e[0] - e[1], p[2], p[3])
        x = x + STEP * np.array([1 - first, first - pipe(e[1], p[2], p[3])])
    return y


def sensitivities(p):
    """Outputs and their derivatives, by the Euler step of the sensitivity equations."""
    v1, v2, alpha, beta = p
    x, s = np.array([v1, v2], dtype=float), np.zeros((2, 4))
    s[0, 0] = s[1, 1] = 1
    y, dy = np.empty(COUNT + 1), np.empty((COUNT + 1, 4))
    for k in range(COUNT + 1):
        e = np.cbrt(CONE * x)
        de = (e / (3 * x))[:, None] * s
        y[k], dy[k] = e[1], de[1]
        flows = []
        for d, dd in ((e[0] - e[1], de[0] - de[1]), (e[1], de[1])):
            f = pipe(d, alpha, beta)
            by = f / (alpha * d) * dd
            by[2] -= f * np.log(np.abs(d) / beta) / alpha**2
            by[3] -= f / (alpha * beta)
            flows.append((f, by))
        (f1, d1), (f2, d2) = flows
        x = x + STEP * np.array([1 - f1, f1 - f2])
        s = s + STEP * np.array([-d1, d1 - d2])
    return y, dy


def timed(fit, least=1.0):
    found, begun, runs = fit(), time.process_time(), 0
    while runs < 1 or time.process_time() - begun < least:
        fit()
        runs += 1
    print(f"{(time.process_time() - begun) / runs:.6f}\t{np.array2string(np.asarray(found), precision=6)}", flush=True)


def scipy_tanks():
    from scipy.optimize import least_squares

    data = simulate(TRUTH)
    box = ([0.01, 0.01, 0.5, 0.1], [5, 5, 3, 10])
    last = {}

    def both(p):
        if last.get("p") is None or not np.array_equal(last["p"], p):
            last["p"], last["v"] = p.copy(), sensitivities(p)
        return last["v"]

    for name, options in [
        ("sensitivities", dict(jac=lambda p: both(p)[1])),
        ("differences", {}),
    ]:
        fun = (lambda p: both(p)[0] - data) if options else (lambda p: simulate(p) - data)
        print(name, end="\t")
        timed(lambda: least_squares(fun, START, bounds=box, method="trf", xtol=1e-10, ftol=1e-10, gtol=1e-10, **options).x)


def casadi_tanks():
    import casadi as ca

    data = simulate(TRUTH)
    p, x = ca.SX.sym("p", 4), ca.SX.sym("x", 2)
    e = (CONE * x) ** (1 / 3)
    law = lambda d: ca.sign(d) * (ca.fabs(d) / p[3]) ** (1 / p[2])
    first = law(e[0] - e[1])
    step = ca.Function("step", [x, p], [x + STEP * ca.vertcat(1 - first, first - law(e[1])), e[1]])
    whole = step.mapaccum("whole", COUNT + 1)
    q = ca.MX.sym("q", 4)
    _, y = whole(q[:2], ca.repmat(q, 1, COUNT + 1))
    residual = y.T - data
    fun = ca.Function("fun", [q], [residual, ca.jacobian(residual, q)])
    box = np.array([[0.01, 0.01, 0.5, 0.1], [5, 5, 3, 10]])

    def fit():
        at = START.copy()
        r, j = (np.array(v) for v in fun(at))
        cost = float((r**2).sum())
        for _ in range(100):
            full = np.linalg.lstsq(j, r[:, 0], rcond=None)[0]
            share, found = 1.0, None
            for _ in range(40):
                trial = at - share * full
                if np.all((trial >= box[0]) & (trial <= box[1])):
                    rt, jt = (np.array(v) for v in fun(trial))
                    new = float((rt**2).sum())
                    if new < cost:
                        found = trial, rt, jt, new
                        break
                share /= 2
            if found is None:
                break
            at, r, j, cost = found
            if np.linalg.norm(share * full) < 1e-8 * np.linalg.norm(at):
                break
        return at

    print("gauss-newton", end="\t")
    timed(fit)


if __name__ == "__main__":
    tools = {"scipy": scipy_tanks, "casadi": casadi_tanks}
    for tool in sys.argv[1:] or tools:
        print(f"{tool}, two tanks:", end="\t" if tool == "casadi" else "\n")
        tools[tool]()
