"""What Python adds to calls of the C library: overhead.py BENCH, the path of build/bench/session.

C and Python are measured turn by turn, three times; the medians of the least run are compared.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

import brume

CALLS = 200


def timed(call):
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e6


def from_python():
    found = {"account": statistics.median(
        timed(lambda: brume.account("gaussian(sigma=5)", delta=1e-6)) for _ in range(CALLS))}
    with brume.connect("python.db", progress=False) as con:
        con.register("people", "people.csv", unit="person", budget={"epsilon": 1000}, new_budget=True)
        found["query"] = statistics.median(
            timed(lambda: con.query(f"SELECT COUNT(*) AS n FROM people WHERE person <> 'p{i}'", epsilon=0.001))
            for i in range(CALLS))
    values = numpy.zeros(10_000_000, dtype=numpy.int64)
    found["noise"] = statistics.median(
        timed(lambda: brume.discrete_laplace(values, 10.0, out=values)) for _ in range(9)) / 1e3
    return found


def from_c(bench):
    text = subprocess.run([bench, str(CALLS)], check=True, capture_output=True, text=True).stdout
    return {name: float(number) for name, number in (line.split() for line in text.splitlines())}


def main(bench):
    rows = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            with open("people.csv", "w") as file:
                file.write("person,town\n" + "".join(f"{i},Bonn\n" for i in range(1000)))
            rows.append((from_c(bench), from_python()))
            os.chdir("/")
    for name, unit in (("account", "us"), ("query", "us"), ("noise", "ms")):
        c, python = min(row[0][name] for row in rows), min(row[1][name] for row in rows)
        print(f"{name}: C {c:.1f} {unit}, Python {python:.1f} {unit}, "
              f"{python - c:+.1f} {unit}, {python / c:.2f} times")


main(os.path.abspath(sys.argv[1]))
