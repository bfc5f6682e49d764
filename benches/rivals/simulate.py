"""Simulation with forward sensitivities by SciPy, CasADi and diffrax:
python simulate.py TOOL CASE FILE prints for every way to use the tool its
seconds, its error and its tolerance. FILE holds the error that is allowed,
the parameters and the accurate solution."""
import sys
import time

import numpy as np

CONE = 12 / np.pi


class Reference:
    def __init__(self, path):
        with open(path) as file:
            lines = [np.array(line.split(), dtype=float) for line in file]
        self.allowed, self.p = lines[0][0], lines[1]
        rows = np.array(lines[2:])
        self.times, rows = rows[:, 0], rows[:, 1:]
        lanes = len(self.p)
        outputs = rows.shape[1] // (1 + lanes)
        self.y = rows[:, :outputs]
        self.s = rows[:, outputs:].reshape(-1, outputs, lanes)
        self.size = np.abs(self.y).max(axis=0)

    def error(self, y, s):
        """The largest error of outputs and of p*dy/dp, relative to the largest value of each output."""
        if y is None or y.shape != self.y.shape:
            return np.inf
        of_s = np.abs(s - self.s) * np.abs(self.p) / self.size[:, None]
        return max((np.abs(y - self.y) / self.size).max(), of_s.max())


BEST = [np.inf]


def measure(tool, reference, prepare):
    """Finds the loosest tolerance with which a tool is accurate enough, and prints its time.

    Reading outputs off the solution is not timed."""
    # Down by decades until it is accurate enough, then back by eighths of a decade.
    eighth, stride, enough = -24, 8, None
    while eighth < 48:
        rtol = reference.allowed * 10 ** (-0.125 * eighth)
        solve, read = prepare(rtol)
        start = time.process_time()
        try:
            error = reference.error(*read(solve()))
        except Exception:
            error = np.inf
        # Tighter tolerances take longer: there is no hope for a way that is behind already.
        if eighth > -24 and time.process_time() - start > 2 * BEST[0] + 0.01:
            break
        if error <= reference.allowed:
            enough = solve, rtol, error
            if stride == 1 or eighth == -24:
                break
            eighth, stride = eighth - 7, 1
            continue
        eighth += stride
    if enough is None:
        return
    solve, rtol, error = enough
    begun, runs = time.process_time(), 0
    while runs < 3 or time.process_time() - begun < 0.5:
        solve()
        runs += 1
    best = (time.process_time() - begun) / runs
    BEST[0] = min(BEST[0], best)
    print(f"{tool}\t{best}\t{error:e}\t{rtol:e}", flush=True)


# Each problem: rates, initial states and outputs, for any library `m` of mathematical functions.
def tanks(m):
    def rates(x, p):
        e1, e2 = (CONE * x[0]) ** (1 / 3), (CONE * x[1]) ** (1 / 3)
        pipe = lambda e: m.sign(e) * (m.abs(e) / p[3]) ** (1 / p[2])
        first = pipe(e1 - e2)
        return m.stack([1 - first, first - pipe(e2)])

    return rates, lambda p: m.stack([p[0], p[1]]), lambda x: m.stack([(CONE * x[1]) ** (1 / 3)]), [1.0, 1.0]


def robertson(m):
    def rates(x, p):
        a, b = -p[0] * x[0] + p[1] * x[1] * x[2], p[2] * x[1] ** 2
        return m.stack([a, -a - b, b])

    return rates, lambda p: m.stack([1 + 0 * p[0], 0 * p[0], 0 * p[0]]), lambda x: x, [1.0, 3.6e-5, 1.0]


def chain(m, n):
    # Momenta first, then elongations.
    def rates(x, p):
        speed = m.join([x[:n] / p[:n], m.zeros(1)])
        stretch = speed[:n] - speed[1:]
        force = p[n : 2 * n] * x[n:] + p[2 * n :] * stretch
        return m.join([m.join([m.zeros(1) + 1, force[: n - 1]]) - force, stretch])

    start = lambda p: m.zeros(2 * n) + 0 * p[0]
    return rates, start, lambda x: x[n : n + 1], [0.2] * (2 * n)


def problem(m, case, lanes):
    return {"tanks": tanks, "robertson": robertson}[case](m) if case in ("tanks", "robertson") else chain(m, lanes // 3)


def by_scipy(case, reference):
    from scipy.integrate import solve_ivp

    # The augmented system, its derivatives written by hand on arrays.
    p = reference.p
    lanes = len(p)
    rates, jacobian, forcing, start, start_by, output = numpy_problem(case, p)
    n = len(start)

    def augmented(t, z):
        x, s = z[:n], z[n:].reshape(n, lanes)
        return np.concatenate([rates(x), (jacobian(x) @ s + forcing(x)).ravel()])

    z0 = np.concatenate([start, start_by.ravel()])
    sizes = np.array({"tanks": [1, 1], "robertson": [1, 3.6e-5, 1]}.get(case, [0.2] * n), dtype=float)
    scale = np.concatenate([sizes, (sizes[:, None] / np.abs(p)).ravel()])
    methods = ["Radau", "BDF", "LSODA"] if case == "robertson" else ["DOP853", "RK45", "LSODA"]
    if n > 100:
        methods = ["DOP853", "RK45"]
    for method in methods:
        for resolved in (1.0, 1e-3):

            def prepare(rtol):
                def solve():
                    end = reference.times[-1]
                    options = {"rtol": max(rtol, 1e-13), "atol": rtol * resolved * scale}
                    return solve_ivp(augmented, (0, end), z0, method, reference.times, **options)

                def read(found):
                    if not found.success:
                        return None, None
                    return output(found.y[:n], found.y[n:].reshape(n, lanes, -1))

                return solve, read

            measure(f"SciPy {method} ({resolved})", reference, prepare)


def numpy_problem(case, p):
    lanes = len(p)
    if case == "tanks":

        def parts(x):
            e = np.cbrt(CONE * x)
            d = np.array([e[0] - e[1], e[1]])
            f = np.sign(d) * (np.abs(d) / p[3]) ** (1 / p[2])
            return e, d, f

        def rates(x):
            _, _, f = parts(x)
            return np.array([1 - f[0], f[0] - f[1]])

        def jacobian(x):
            e, d, f = parts(x)
            g, s = f / (p[2] * d), e / (3 * x)
            return np.array([[-g[0] * s[0], g[0] * s[1]], [g[0] * s[0], -(g[0] + g[1]) * s[1]]])

        def forcing(x):
            _, d, f = parts(x)
            a, b = -f * np.log(np.abs(d) / p[3]) / p[2] ** 2, -f / (p[2] * p[3])
            return np.array([[0, 0, -a[0], -b[0]], [0, 0, a[0] - a[1], b[0] - b[1]]])

        def output(x, s):
            y = np.cbrt(CONE * x[1])
            return y[:, None], (y / (3 * x[1]) * s[1]).T[:, None, :]

        return rates, jacobian, forcing, p[:2].copy(), np.eye(2, 4), output
    if case == "robertson":

        def rates(x):
            a, b = -p[0] * x[0] + p[1] * x[1] * x[2], p[2] * x[1] ** 2
            return np.array([a, -a - b, b])

        def jacobian(x):
            a = np.array([-p[0], p[1] * x[2], p[1] * x[1]])
            b = np.array([0, 2 * p[2] * x[1], 0])
            return np.array([a, -a - b, b])

        def forcing(x):
            a, b, c = x[0], x[1] * x[2], x[1] ** 2
            return np.array([[-a, b, 0], [a, -b, -c], [0, 0, c]])

        return rates, jacobian, forcing, np.array([1.0, 0, 0]), np.zeros((3, 3)), lambda x, s: (x.T, s.transpose(2, 0, 1))
    from scipy.sparse import csr_matrix, identity, diags, bmat

    n = lanes // 3
    m, k, b = p[:n], p[n : 2 * n], p[2 * n :]
    # Stretch rates from speeds, and forces on masses from those in springs.
    stretch = (identity(n) - diags([np.ones(n - 1)], [1])).tocsr()
    pull = -stretch.T.tocsr()
    by_speed = diags(1 / m)
    matrix = bmat([[pull @ diags(b) @ stretch @ by_speed, pull @ diags(k)], [stretch @ by_speed, None]], format="csr")
    matrix = matrix if n > 20 else matrix.toarray()
    push = np.zeros(2 * n)
    push[0] = 1
    dense_pull, dense_stretch = pull.toarray(), stretch.toarray()

    def forcing(x):
        slower = -x[:n] / m**2
        by_mass = dense_stretch * slower
        force = np.hstack([b[:, None] * by_mass, np.diag(x[n:]), np.diag(stretch @ (x[:n] / m))])
        return np.vstack([pull @ force, np.hstack([by_mass, np.zeros((n, 2 * n))])])

    output = lambda x, s: (x[n : n + 1].T, s[n].T[:, None, :])
    return lambda x: matrix @ x + push, lambda x: matrix, forcing, np.zeros(2 * n), np.zeros((2 * n, lanes)), output


def by_casadi(case, reference):
    import casadi

    class Symbols:
        sign, abs = casadi.sign, casadi.fabs
        stack = staticmethod(lambda parts: casadi.vertcat(*parts))
        join = stack
        zeros = staticmethod(lambda count: casadi.DM.zeros(count))

    p = reference.p
    lanes = len(p)
    rates, start, output, sizes = problem(Symbols, case, lanes)
    n = len(sizes)
    x, q = casadi.SX.sym("x", n), casadi.SX.sym("p", lanes)
    dae = {"x": x, "p": q, "ode": rates(x, q)}
    x0 = np.array(casadi.DM(start(casadi.DM(p)))).ravel()
    by_start = np.array(casadi.Function("s", [q], [casadi.jacobian(casadi.densify(start(q)), q)])(p).full())
    outputs = casadi.Function("y", [x], [output(x)])
    slope = casadi.Function("g", [x], [casadi.densify(casadi.jacobian(output(x), x))])
    for method in ("bdf", "adams"):
        if method == "adams" and case == "robertson":
            continue

        def prepare(rtol):
            options = {
                "linear_multistep_method": method,
                "reltol": rtol,
                "abstol": rtol * 1e-3 * min(sizes),
                "fsens_err_con": True,
                "max_num_steps": 1000000,
            }
            if method == "adams":
                options["nonlinear_solver_iteration"] = "functional"
            run = casadi.integrator("run", "cvodes", dae, 0, list(reference.times), options)
            forward = run.forward(lanes)
            empty = {name: 0 for name in forward.name_in()}

            def solve():
                found = run(x0=x0, p=p)
                given = dict(empty, x0=x0, p=p, out_xf=found["xf"], fwd_x0=by_start, fwd_p=np.eye(lanes))
                return found["xf"], forward(**given)["fwd_xf"]

            def read(found):
                count = len(reference.times)
                # Column j of parameter i stands at i*count + j.
                states, sensitive = found[0].full(), found[1].full().reshape(n, lanes, count)
                y = np.array([outputs(states[:, j]).full().ravel() for j in range(count)])
                s = np.array([slope(states[:, j]).full() @ sensitive[:, :, j] for j in range(count)])
                return y, s

            return solve, read

        measure(f"CasADi {method}", reference, prepare)


def by_diffrax(case, reference):
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platform_name", "cpu")
    import diffrax
    import jax.numpy as jnp

    class Arrays:
        sign, abs, stack = jnp.sign, jnp.abs, jnp.stack
        join = jnp.concatenate
        zeros = staticmethod(lambda count: jnp.zeros(count))

    p = jnp.array(reference.p)
    rates, start, output, sizes = problem(Arrays, case, len(p))
    sizes = jnp.array(sizes)
    methods = [diffrax.Kvaerno5] if case == "robertson" else [diffrax.Dopri8, diffrax.Tsit5]
    for method in methods:

        def values(p, rtol):
            found = diffrax.diffeqsolve(
                diffrax.ODETerm(lambda t, x, p: rates(x, p)),
                method(),
                0.0,
                float(reference.times[-1]),
                None,
                start(p),
                args=p,
                saveat=diffrax.SaveAt(ts=jnp.array(reference.times)),
                stepsize_controller=diffrax.PIDController(rtol=rtol, atol=rtol * 1e-3 * sizes),
                adjoint=diffrax.ForwardMode(),
                max_steps=1000000,
            )
            y = jax.vmap(output)(found.ys)
            return y, y

        compiled = jax.jit(jax.jacfwd(values, has_aux=True))

        def prepare(rtol):
            solve = lambda: jax.block_until_ready(compiled(p, rtol))
            return solve, lambda found: (np.asarray(found[1]), np.asarray(found[0]))

        measure(f"diffrax {method.__name__}", reference, prepare)


TOOLS = {"scipy": by_scipy, "casadi": by_casadi, "diffrax": by_diffrax}
TOOLS[sys.argv[1]](sys.argv[2], Reference(sys.argv[3]))
