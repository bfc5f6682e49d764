"""The reference problems of the tests by SciPy: prints for each of them and several tolerances the
seconds, the error and the tolerance. The equations are those of the references themselves."""
import sys
import time
from pathlib import Path

import numpy as np

ZOO = Path(__file__).parents[2] / "crates/paynter-simulate/tests/zoo"
sys.path.append(str(ZOO))
import references


def exact(name):
    """The references of a problem: values with their derivatives by parameters, row by row."""
    lines = [line.strip().split(",") for line in open(ZOO / "references.csv")]
    return np.array([line[3:] for line in lines if line[0] == name], dtype=float)


for name, problem in references.PROBLEMS.items():
    expected, p = exact(name), np.array(problem[3], dtype=float)
    sizes = np.maximum(np.abs(expected[:, :1]), 1e-3)
    for rtol in (1e-4, 1e-6, 1e-8):
        solve = lambda: np.array([[y, *by] for _, _, y, by in references.solve(*problem, rtol)])
        error = (np.abs(solve() - expected) * np.concatenate([[1], np.abs(p)]) / sizes).max()
        start, runs = time.process_time(), 0
        while runs < 3 and time.process_time() - start < 2:
            solve()
            runs += 1
        seconds = (time.process_time() - start) / runs
        print(f"{name}, SciPy {problem[5]}, rtol {rtol:.0e}\t{seconds}\t{error:e}\t{rtol:e}", flush=True)
