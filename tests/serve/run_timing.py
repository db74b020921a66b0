#!/usr/bin/env python3
"""How long an answer takes says nothing about one person, in TAP.

    run_timing.py DIRECTORY_OF_BRUME [RUNS [QUANTUM]]

Pairs of servers, whose tables differ in one person: without a row in the first, with a hundred times as many
rows as the rest has together in the second. RUNS questions, each a new one, are asked of one of the two by the
toss of a coin, and the correlation of the coin with the time of the answer is measured, of the times themselves
and of their ranks, which single late answers of a busy machine hardly move. Every pair is a stratum: times and
coins are centred within it, so that pairs that were served at different times are compared with themselves.

 1. At quantised times both intervals, of correlation ± 6.3 / sqrt(RUNS), must hold 0. If coins and times are
    independent that fails with a probability below 1e-9 (normal approximation; two tests of 3e-10 each). The
    interval of 95 %, which is narrower, is printed too. The quantum (8 seconds) is above what the queries take,
    as docs/server.md asks for: where more than one answer in a hundred comes after its first quantum the machine
    is too busy for it, and the test fails, because in which step an answer falls depends on the work.
 2. What is free leaves at once; explanations and free re-reads must not depend on the person either.
 3. The control is 1. without quantised times, and with more rows of the person, so that the work for them is
    several times the rest also on a busy machine: there the correlation of ranks must be found.

Most of the time of 1. is waiting, so that many pairs run beside each other.
"""
import math
import random
import statistics
import sys
import threading

from server import Server, check
from processes import run_tests

ROWS, VICTIM, LARGE = 300, 30000, 1000000
PAIRS, QUANTUM = 25, 8
LEVEL = 6.3
WARM = 3  # first answers of a server, which load libraries, are not counted


def make(programs, quantum, victim):
    server = Server(programs, "--rate", "0", "--quantum", str(quantum), "--workers", "1", register=False)
    with open(server.path("visits.csv"), "w", encoding="utf-8") as file:
        file.write("person,age\n")
        file.writelines(f"p{i},{i % 90}\n" for i in range(ROWS))
        file.writelines(f"victim,{i % 90}\n" for i in range(victim))
    server.run("register", "visits", "visits.csv", "--unit", "person", "--budget", "epsilon=1000", "--bounds",
               "age=0..100", "--max-groups", "1", "--max-rows", "1", "--columns", "person text, age integer")
    server.add_users()
    return server.serve()


def ask_new(server, number):
    got = server.query(sql=f"SELECT COUNT(*) FROM visits WHERE age < {number}.5", epsilon=0.01)
    check(got.code == 200 and got.json["cached"] is False, got)
    return got.seconds


def ask_free(server, number):
    """An explanation of a new question, and the first answer again."""
    if number < WARM:
        return ask_new(server, number)
    sql = f"SELECT COUNT(*) FROM visits WHERE age < {number}.25"
    got = server.ask("POST", "/v1/explain", "ann", {"sql": sql, "epsilon": 0.01})
    again = server.query(sql="SELECT COUNT(*) FROM visits WHERE age < 0.5", epsilon=0.01)
    check(got.code == 200 and again.code == 200 and again.json["cached"] is True, (got, again))
    return got.seconds + again.seconds


def centred(values):
    mean = statistics.fmean(values)
    return [value - mean for value in values]


def ranks(times):
    order = sorted(range(len(times)), key=times.__getitem__)
    placed = [0] * len(times)
    for rank, index in enumerate(order):
        placed[index] = rank
    return placed


class Pair:
    """Two servers, and times of answers of one or the other."""

    def __init__(self, programs, quantum, victim):
        self.how, self.servers = (programs, quantum, victim), []
        self.sides, self.times, self.fault = [], [], None

    def ask(self, ask, runs):
        coin, (programs, quantum, victim) = random.SystemRandom(), self.how
        try:
            for rows in (0, victim):
                self.servers.append(make(programs, quantum, rows))
            for number in range(WARM):
                for server in self.servers:
                    ask(server, number)
            for number in range(WARM, WARM + runs):
                side = coin.randrange(2)
                self.times.append(ask(self.servers[side], number))
                self.sides.append(side)
        except Exception as fault:  # pylint: disable=broad-except  (shown by whoever waits for the thread)
            self.fault = fault

    def close(self):
        for server in self.servers:
            server.end()
            server.close()


def measure(name, programs, quantum, ask, runs, pairs, victim=VICTIM):
    """The correlations of the coin with the times and with their ranks, and all times."""
    all_pairs = [Pair(programs, quantum, victim) for _ in range(pairs)]
    threads = [threading.Thread(target=pair.ask, args=(ask, runs // pairs)) for pair in all_pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for pair in all_pairs:
        pair.close()
        if pair.fault:
            raise pair.fault
    sides = sum((centred(pair.sides) for pair in all_pairs), [])
    by_time = statistics.correlation(sides, sum((centred(pair.times) for pair in all_pairs), []))
    by_rank = statistics.correlation(sides, sum((centred(ranks(pair.times)) for pair in all_pairs), []))
    times = sum((pair.times for pair in all_pairs), [])
    late = sum(time > 2 * quantum for time in times)
    check(len(times) == runs, "some answers are missing")
    half = 1.96 / math.sqrt(runs)
    print(f"# {name}, {runs} runs: correlation of times {by_time:+.4f}, of ranks {by_rank:+.4f}; intervals of "
          f"95 % ± {half:.4f}, of the test ± {LEVEL / math.sqrt(runs):.4f}; times {min(times):.4f} to "
          f"{max(times):.4f} s, median {statistics.median(times):.4f} s", flush=True)
    return by_time, by_rank, late


def main():
    programs, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    quantum = float(sys.argv[3]) if len(sys.argv) > 3 else QUANTUM
    runs -= runs % PAIRS
    few = max(200, runs // 10)

    def quantised():
        by_time, by_rank, late = measure(f"quantum {quantum:g} s", programs, quantum, ask_new, runs, PAIRS)
        check(late <= runs / 100, f"the machine is too busy for this quantum: {late} answers came after the first")
        check(max(abs(by_time), abs(by_rank)) < LEVEL / math.sqrt(runs), "the times tell")

    def free():
        by_time, by_rank, _ = measure("free answers", programs, 0.001, ask_free, runs, 4)
        check(max(abs(by_time), abs(by_rank)) < LEVEL / math.sqrt(runs), "the times tell")

    def control():
        _, by_rank, _ = measure("control, no quantum", programs, 0.001, ask_new, few, 1, LARGE)
        check(by_rank > LEVEL / math.sqrt(few), "the control is not found")

    return run_tests([("quantised times say nothing", quantised), ("times of free answers say nothing", free),
                      ("control: times that are not quantised do", control)])


if __name__ == "__main__":
    sys.exit(main())
