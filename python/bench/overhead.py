"""What Python adds to calls of the C library: overhead.py BENCH, the path of build/bench/session.

C and Python make the same calls in turn, batch after batch, in one run: what else the machine does slows
both. Printed are the medians over the batches: microseconds of a call by the clock and of processor time (of
all threads), and their ratios, which are taken batch by batch. Exit 1 where a limit is not kept:

    query     a question about a small table, asked anew: at most 1.1 times C, in processor time
    again     the same that is read again for free; no limit
    account   at most 20 microseconds above C, by the clock
    noise     ten million integers in place: at most 1.2 times C, in processor time
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

import brume

BATCHES = {"account": (31, 200), "query": (11, 5), "again": (15, 10), "noise": (15, 1)}  # batches, calls in each
SQL = "SELECT COUNT(*) AS n FROM people WHERE person <> 'p{}'"


class C:
    """The program that makes the calls from C."""

    def __init__(self, bench):
        self.program = subprocess.Popen([bench], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def measure(self, name, calls):
        self.program.stdin.write(f"{name} {calls}\n")
        self.program.stdin.flush()
        clock, processor = map(float, self.program.stdout.readline().split())
        return clock, processor

    def close(self):
        self.program.stdin.close()
        assert self.program.wait() == 0
        self.program.stdout.close()


class Python:
    """The same calls from Python."""

    def __init__(self):
        self.con = brume.connect("python.db", progress=False)
        self.con.register("people", "people.csv", unit="person", budget={"epsilon": 1000})
        self.values = numpy.zeros(10_000_000, dtype=numpy.int64)
        self.asked = 0

    def account(self):
        brume.account("gaussian(sigma=5)", delta=1e-6)

    def query(self):
        self.asked += 1
        self.con.query(SQL.format(self.asked), epsilon=0.001)

    def again(self):
        self.con.query(SQL.format(0), epsilon=0.001)

    def noise(self):
        brume.discrete_laplace(self.values, 10.0, out=self.values)

    def measure(self, name, calls):
        act, times, before = getattr(self, name), [], time.process_time()
        for _ in range(calls):
            began = time.perf_counter()
            act()
            times.append((time.perf_counter() - began) * 1e6)
        return statistics.median(times), (time.process_time() - before) * 1e6 / calls


def compare(c, python, name):
    """Medians over the batches of (clock, processor) of C, of Python, and of the ratio and difference."""
    batches, calls = BATCHES[name]
    c.measure(name, calls), python.measure(name, calls)  # what is done once is done here
    pairs = [(c.measure(name, calls), python.measure(name, calls)) for _ in range(batches)]

    def median(number):
        return [statistics.median(number(pair[0][at], pair[1][at]) for pair in pairs) for at in (0, 1)]

    return median(lambda a, b: a), median(lambda a, b: b), median(lambda a, b: b / a), median(lambda a, b: b - a)


def main(bench):
    with open("people.csv", "w") as file:
        file.write("person,town\n" + "".join(f"{i},Bonn\n" for i in range(1000)))
    c, python, kept = C(bench), Python(), True
    print("| call | C, us | Python, us | ratio | above, us | C, processor us | Python | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for name in BATCHES:
        of_c, of_python, ratio, above = compare(c, python, name)
        print(f"| {name} | {of_c[0]:.1f} | {of_python[0]:.1f} | {ratio[0]:.3f} | {above[0]:+.1f} | {of_c[1]:.1f} "
              f"| {of_python[1]:.1f} | {ratio[1]:.3f} |", flush=True)
        kept &= {"account": above[0] <= 20, "query": ratio[1] <= 1.1, "noise": ratio[1] <= 1.2}.get(name, True)
    c.close()
    python.con.close()
    print("limits kept" if kept else "a limit is not kept")
    return 0 if kept else 1


if __name__ == "__main__":
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        result = main(program)
        os.chdir("/")
    sys.exit(result)
