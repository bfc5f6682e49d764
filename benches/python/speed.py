"""What Python costs beside the core: `python benches/python/speed.py` with the optimised wheel installed.

Every figure is the best of several rounds in one process on one thread.
"""

import subprocess
import sys
import time
import timeit

import numpy as np
import paynter


def best(work, rounds=7, number=1):
    """The shortest time of a call, in seconds."""
    return min(timeit.repeat(work, repeat=rounds, number=number)) / number


def call():
    """A run of the two tanks with four sensitivities, called in a loop, beside the core's own run."""
    tanks = paynter.examples.conical_tanks
    names = ["V1", "V2", "alpha", "beta"]
    ask = dict(t_end=10, points=11, sensitivity=names)
    tanks.simulate(**ask)
    python = best(lambda: tanks.simulate(**ask), number=200)
    core = tanks.compile(**ask)._compiled.time(200)
    print(f"simulate, two conical tanks, {len(names)} sensitivities: {1e6 * python:.0f} µs, the core {1e6 * core:.0f} µs, "
          f"more by {1e6 * (python - core):.0f} µs (at most 30)")


def ensemble():
    """Ten thousand runs of the motor with all sensitivities, beside SciPy with a NumPy right-hand side."""
    from scipy.integrate import solve_ivp

    motor = paynter.examples.dc_motor
    ask = dict(t_end=0.1, points=11, sensitivity="all")
    count = 10_000
    # One thread, as the core's own runs and SciPy's have.
    ours = best(lambda: paynter._paynter.alone(lambda: motor.ensemble(count, **ask)), rounds=3)
    compiled = motor.compile(**ask)
    core = compiled._compiled.time(1000) * count

    def rhs(t, z, Ra, La, kT, Rm, Jm):
        x, s = z[:2], z[2:].reshape(2, 5)
        a = np.array([[-Ra / La, -kT / Jm], [kT / La, -Rm / Jm]])
        p, q = x
        by = np.array([
            [-p / La, Ra * p / La**2, -q / Jm, 0.0, kT * q / Jm**2],
            [0.0, -kT * p / La**2, p / La, -q / Jm, Rm * q / Jm**2],
        ])
        return np.concatenate([a @ x + np.array([12.0, 0.0]), (a @ s + by).ravel()])

    values = (2.0, 5e-3, 0.1, 1e-3, 1e-4)
    t = np.linspace(0, 0.1, 11)
    scipy = best(lambda: solve_ivp(rhs, (0, 0.1), np.zeros(12), args=values, t_eval=t, rtol=1e-8, atol=1e-12), rounds=5)
    print(f"10,000 runs with all sensitivities: {ours:.2f} s; solve_ivp {scipy * count:.0f} s, "
          f"{scipy * count / ours:.0f} times as long (at least 20); the core {core:.2f} s, {ours / core:.2f} times (at most 1.3)")


def dask():
    """Two processes of Dask beside one, for runs of 10 ms."""
    from distributed import Client, LocalCluster

    duffing = paynter.examples.duffing
    t_end = 100.0
    while best(lambda: duffing.simulate(t_end, points=3), rounds=3) < 0.01:
        t_end *= 1.3
    ask = dict(t_end=t_end, points=3, vary={next(iter(duffing.parameters)): (0.99, 1.01)}, chunks=40)
    times = []
    for workers in (1, 2):
        with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                duffing.ensemble(40, map=client, **ask)
                begin = time.perf_counter()
                duffing.ensemble(600, map=client, **ask)
                times.append(time.perf_counter() - begin)
    print(f"600 runs of 10 ms: one process of Dask {times[0]:.2f} s, two {times[1]:.2f} s, {times[0] / times[1]:.2f} times as fast (at least 1.6)")


def imported():
    """The import beyond NumPy's."""
    code = "import time, numpy; t = time.perf_counter(); import paynter; print(time.perf_counter() - t)"
    times = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(7)]
    print(f"import: {1e3 * min(times):.0f} ms beyond NumPy's (at most 40)")


if __name__ == "__main__":
    imported()
    call()
    ensemble()
    dask()
