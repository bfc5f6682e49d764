"""Upper bounds of the structured singular value of the d.c. motor with its torque constant known, over 200
frequencies, by SLICOT's AB13MD (slycot), each warm-started by the one before. Beside `cargo bench -p paynter-robust`."""

import multiprocessing
import time

import numpy as np
import slycot

R, L, k, J, b = 1.2, 4e-3, 0.05, 2e-4, 5e-4
dR, dL, dJ, db = 0.15, 0.1, 0.2, 0.3
i_x, i_w = np.array([1 / L, 0]), np.array([0, -dL, 0, 0])
w_x, w_w = np.array([0, 1 / J]), np.array([0, 0, -dJ, 0])
A = np.array([-R * i_x - k * w_x, k * i_x - b * w_x])
B = np.array([-R * i_w - k * w_w - [R * dR, 0, 0, 0], k * i_w - b * w_w - [0, 0, 0, b * db]])
C = np.array([i_x, i_x, w_x, w_x])
D = np.array([i_w, i_w, w_w, w_w])
omega = np.logspace(-1, 4, 200)
M = [C @ np.linalg.solve(1j * w * np.eye(2) - A, B) + D for w in omega]
nblock, itype = np.ones(4, int), np.ones(4, int)


def sweep(warm):
    bounds, x = [], None
    start = time.perf_counter()
    for m in M:
        bound, _, _, found = slycot.ab13md(m, nblock, itype, x)
        x = found if warm else None
        bounds.append(bound)
    return time.perf_counter() - start, max(bounds)


def told(warm, result):
    seconds, largest = min(sweep(warm) for _ in range(20))
    result.put(f"{1e3 * seconds:.3f} ms for 200 frequencies, largest bound {largest:.9f}")


if __name__ == "__main__":
    for warm in (True, False):
        result = multiprocessing.Queue()
        process = multiprocessing.Process(target=told, args=(warm, result))
        process.start()
        # It may go round without end from a start that it has chosen itself.
        process.join(20)
        process.kill()
        answer = result.get() if not result.empty() else "no answer within 20 s"
        print(f"ab13md, {'warm' if warm else 'cold'} starts: {answer}")
