"""Transfer function of a ladder of resistors, coils and capacitors by Lcapy:
python ladder.py SECTIONS prints the seconds of processor time."""
import sys
import time

from lcapy import Circuit

sections = int(sys.argv[1])
lines = ["V1 1 0"]
for i in range(1, sections + 1):
    lines.append(f"R{i} {2 * i - 1} {2 * i} R{i}")
    lines.append(f"L{i} {2 * i} {2 * i + 1} L{i}")
    lines.append(f"C{i} {2 * i + 1} 0 C{i}")
start = time.process_time()
circuit = Circuit("\n".join(lines))
circuit.transfer(1, 0, 2 * sections + 1, 0).canonical()
print(time.process_time() - start)
