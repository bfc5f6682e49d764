"""S(jw) of all parameters by SciPy's SuperLU and the adjoint method, on the
matrices that the benchmark beside this file writes. Prints the best CPU time
of three runs and one value (real and imaginary part) to compare."""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu


def matrix(path):
    data = np.loadtxt(path, ndmin=2)
    rows, columns = int(data[0, 0]), int(data[0, 1])
    entries = data[1:]
    return sp.csc_matrix(
        (entries[:, 2], (entries[:, 0].astype(int), entries[:, 1].astype(int))), (rows, columns)
    )


folder, low, high, points = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
A, B, C = (matrix(os.path.join(folder, name)) for name in "ABC")
places = {"A": [], "B": [], "C": []}
with open(os.path.join(folder, "derivatives")) as lines:
    for line in lines:
        letter, p, i, j, v = line.split()
        places[letter].append((int(p), int(i), int(j), float(v)))
count = 1 + max(p for list_ in places.values() for p, *_ in list_)
lists = {
    letter: [np.array(column) for column in zip(*entries)] if entries else None
    for letter, entries in places.items()
}
omega = np.geomspace(low, high, points)
n = A.shape[0]
identity = sp.identity(n, format="csc")
b = np.asarray(B.todense(), dtype=complex)[:, 0]
c = np.asarray(C.todense(), dtype=complex)[0]
# Sums over the places of each parameter as one sparse product per frequency.
a_list = lists["A"]
gather = sp.csr_matrix((a_list[3], (a_list[0], np.arange(len(a_list[0])))), (count, len(a_list[0])))
rows, columns = a_list[1], a_list[2]


def run():
    result = np.zeros((points, count), dtype=complex)
    for k, w in enumerate(omega):
        lu = splu((1j * w * identity - A).tocsc(), permc_spec="COLAMD")
        z = lu.solve(b)
        adjoint = lu.solve(c, trans="T")
        result[k] = gather @ (adjoint[rows] * z[columns])
        if lists["B"]:
            p, i, j, v = lists["B"]
            np.add.at(result[k], p, v * adjoint[i])
        if lists["C"]:
            p, i, j, v = lists["C"]
            np.add.at(result[k], p, v * z[j])
    return result


best = float("inf")
for _ in range(3):
    start = time.process_time()
    result = run()
    best = min(best, time.process_time() - start)
value = result[points // 3, count // 2]
print(best, value.real, value.imag)
