"""S(jω) of the chain of masses of chain.bg to all 3N parameters at 200 frequencies, by SciPy's SuperLU with one
adjoint solve: python response.py N prints the seconds of processor time, with `value` a sum to compare as well."""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

n = int(sys.argv[1])
start = time.process_time()
m, k, b = np.ones(n), np.full(n, 100.0), np.full(n, 0.5)
# Nodal form (s² M + s B + K) x = F with a spring and a damper between neighbours, the last on the wall.
difference = sp.diags([np.ones(n), -np.ones(n - 1)], [0, 1], format="csc")
force, position = np.zeros(n, complex), np.zeros(n, complex)
force[0], position[n - 1] = 1.0, 1.0
omega = np.geomspace(0.01, 10.0, 200)
result = np.empty((len(omega), 3, n), complex)
for row, w in enumerate(omega):
    s = 1j * w
    pencil = s * s * sp.diags(m) + difference.T @ sp.diags(k + s * b) @ difference
    factors = splu(pencil.tocsc())
    x, adjoint = factors.solve(force), factors.solve(position, trans="T")
    stretched = (difference @ x) * (difference @ adjoint)
    result[row] = -s * s * x * adjoint, -stretched, -s * stretched
seconds = time.process_time() - start
if "value" in sys.argv:
    print(result[100].sum())
print(seconds)
