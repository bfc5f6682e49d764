"""Models with thousands of events: Paynter's whole command beside SciPy's solve_ivp with terminal events.

python events.py PAYNTER prints processor times at equal error, and their ratio. SciPy gets the cheapest of its
methods and tolerances that keeps the error, and a longest step short enough to see every event.
"""

import json
import math
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

MODELS = Path(__file__).resolve().parents[2] / "tests/trials"
ERROR = 1e-6


def paynter(program, name, end, output, reference):
    """The processor time of the loosest run that keeps the error."""
    best = math.inf
    for rtol in ["1e-4", "1e-5", "1e-6", "1e-7", "1e-8", "1e-9"]:
        command = [program, "simulate", MODELS / f"{name}.bg", "--times", f"0,{end}", "--rtol", rtol, "--json"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        value = json.loads(done.stdout)["outputs"][output][-1]
        if abs(value - reference) <= ERROR * abs(reference):
            best = min(best, seconds)
    return best


def hybrid(rates, conditions, start, end, longest, method, rtol):
    """Integrates x' = rates(t, x, mode) from event to event; a mode is the signs of the conditions."""
    t, x = 0.0, np.array(start, float)
    mode = tuple(g(t, x, None) > 0 for g in conditions)
    while t < end:
        events = []
        for k, condition in enumerate(conditions):
            def crossing(t, x, k=k, condition=condition, mode=mode):
                return condition(t, x, mode)
            crossing.terminal, crossing.direction = True, -1 if mode[k] else 1
            events.append(crossing)
        run = solve_ivp(lambda t, x: rates(t, x, mode), (t, end), x, method=method, rtol=rtol, atol=1e-3 * rtol,
                        events=events, max_step=longest)
        t, x = run.t[-1], run.y[:, -1]
        if run.status == 1:
            crossed = [len(times) > 0 for times in run.t_events]
            mode = tuple(on != hit for on, hit in zip(mode, crossed))
            # One switch may turn another at once.
            for _ in conditions:
                mode = tuple(on if hit else g(t, x, mode) > 0 for on, hit, g in zip(mode, crossed, conditions))
    return x


def scipy(problem, start, end, longest, value, reference, methods):
    rates, conditions = problem
    best = math.inf
    for method in methods:
        for rtol in [1e-4, 1e-6, 1e-8]:
            before = time.process_time()
            try:
                x = hybrid(rates, conditions, start, end, longest, method, rtol)
            except ValueError:  # its dense output has another sign than its steps
                continue
            seconds = time.process_time() - before
            if abs(value(end, x) - reference) <= ERROR * abs(reference):
                best = min(best, seconds)
                break
    return best


def pwm():
    """A switched source behind a resistor, and a capacitor: exact between the switchings."""
    frequency, duty, end = 1e3, 0.1, 1.0
    level = math.cos(math.pi * duty)

    def rates(t, x, mode):
        return [((10 - x[0]) * mode[0] - x[0] / 100) / 1e-3]

    conditions = [lambda t, x, mode: math.sin(2 * math.pi * frequency * t) - level]
    first = math.asin(level) / (2 * math.pi * frequency)
    v, t = 0.0, 0.0
    for k in range(int(end * frequency)):
        for at, on in [(k / frequency + first, 0), ((k + 0.5) / frequency - first, 1), ((k + 1) / frequency, 0)]:
            conductance = on + 0.01
            rest = 10 * on / conductance
            v, t = rest + (v - rest) * math.exp(-(at - t) * conductance / 1e-3), at
    return (rates, conditions), [0.0], end, 2e-5, lambda t, x: x[0], v, ["RK45", "DOP853", "LSODA"]


def buck():
    """A buck converter with its controller, as in buck_f.bg."""
    source, coil, cap, esr, dcr, load, frequency = 24, 47e-6, 100e-6, 20e-3, 30e-3, 3, 100e3
    kp, ki, reference, end = 0.02, 60, 12, 5e-3

    def out(x):
        return (x[0] + x[1] / esr) / (1 / load + 1 / esr)

    def duty(x):
        return max(0.0, min(0.95, kp * (reference - out(x)) + x[2]))

    def node(x, mode):
        switch = 50 if mode[0] else 1e-6
        diode = 1 / 30e-3 if mode[1] else 1e-6
        return (source * switch - x[0]) / (switch + diode)

    def rates(t, x, mode):
        u = out(x)
        return [(node(x, mode) - dcr * x[0] - u) / coil, (u - x[1]) / esr / cap, ki * (reference - u)]

    def carrier(t):
        return 0.5 + math.asin(math.sin(2 * math.pi * frequency * t)) / math.pi

    def conducts(t, x, mode):
        mode = mode or (duty(x) > carrier(t), False)
        return -node(x, mode)

    conditions = [lambda t, x, mode: duty(x) - carrier(t), conducts]
    exact = 4.166344
    return (rates, conditions), [0.0, 0.0, 0.0], end, 5e-7, lambda t, x: x[0], exact, ["LSODA", "Radau", "BDF"]


if __name__ == "__main__":
    program = sys.argv[1]
    for name, file, output, make in [("PWM, 1 s", "pwm", "v", pwm), ("buck converter", "buck_f", "il", buck)]:
        problem, start, end, longest, value, reference, methods = make()
        if name == "buck converter":
            done = subprocess.run([program, "simulate", MODELS / "buck_f.bg", "--times", f"0,{end}", "--rtol", "1e-12",
                                   "--json"], capture_output=True, text=True, check=True)
            reference = json.loads(done.stdout)["outputs"][output][-1]
        ours = min(paynter(program, file, end, output, reference) for _ in range(3))
        theirs = scipy(problem, start, end, longest, value, reference, methods)
        print(f"{name:<18}{ours * 1e3:>10.1f} ms   SciPy {theirs * 1e3:>10.1f} ms {theirs / ours:>8.1f}×", flush=True)
