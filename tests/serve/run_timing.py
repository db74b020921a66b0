#!/usr/bin/env python3
"""How long an answer takes says nothing about one person, in TAP.

    run_timing.py DIRECTORY_OF_BRUME [RUNS]

Two servers, whose tables differ in one person: without a row in the first, with sixty times as many rows as
the rest has together in the second. RUNS questions, each a new one, are asked of one of the two by the toss of a
coin, and the correlation of the coin with the time of the answer is measured. Under independence it is
below 6.2 / sqrt(RUNS) in absolute value but with a probability below 1e-9 (normal approximation of
Fisher's transform; the times are bounded). The control is the same without quantised times: there the
correlation of ranks, which single late answers of a busy machine hardly move, must be found.
"""
import math
import random
import statistics
import sys
import threading

from server import Server, check
from processes import run_tests

ROWS, VICTIM = 10000, 60
PAIRS = 8  # of servers that run beside each other: most of the time is waiting
LEVEL = 6.2


def make(programs, quantum, victim):
    server = Server(programs, "--rate", "0", "--quantum", quantum, register=False)
    with open(server.path("visits.csv"), "w", encoding="utf-8") as file:
        file.write("person,age\n")
        file.writelines(f"p{i},{i % 90}\n" for i in range(ROWS))
        file.writelines(f"victim,{i % 90}\n" for i in range(ROWS * victim))
    server.run("register", "visits", "visits.csv", "--unit", "person", "--budget", "epsilon=1000", "--bounds",
               "age=0..100", "--max-groups", "1", "--max-rows", "1", "--columns", "person text, age integer")
    server.add_users()
    return server.serve()


def ranks(times):
    order = sorted(range(len(times)), key=times.__getitem__)
    placed = [0] * len(times)
    for rank, index in enumerate(order):
        placed[index] = rank
    return placed


def ask_pair(programs, quantum, runs, sides, times):
    """So many runs with two servers of their own."""
    servers = [make(programs, quantum, 0), make(programs, quantum, VICTIM)]
    coin = random.Random()
    for number in range(runs + 4):
        side = coin.randrange(2)
        got = servers[side].query(sql=f"SELECT COUNT(*) FROM visits WHERE age < {number}.5", epsilon=0.01)
        check(got.code == 200 and got.json["cached"] is False, got)
        if number >= 4:  # the first ones warm up
            sides.append(side)
            times.append(got.seconds)
    for server in servers:
        server.end()
        server.close()


def correlation(programs, quantum, runs, pairs, by_rank=False):
    sides, times = [[] for _ in range(pairs)], [[] for _ in range(pairs)]
    threads = [threading.Thread(target=ask_pair, args=(programs, quantum, runs // pairs, sides[i], times[i]))
               for i in range(pairs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sides, times = sum(sides, []), sum(times, [])
    check(len(times) == runs, "some answers are missing")
    found = statistics.correlation(sides, ranks(times) if by_rank else times)
    print(f"# quantum {quantum} s: correlation {found:+.4f}, interval ± {LEVEL / math.sqrt(runs):.4f} "
          f"({runs} runs, times {min(times):.4f} to {max(times):.4f} s, median {statistics.median(times):.4f} s)",
          flush=True)
    return found


def main():
    programs, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    few = max(200, runs // 5)

    def quantised():
        found = correlation(programs, "2", runs, PAIRS)
        check(abs(found) < LEVEL / math.sqrt(runs), f"the times tell: {found}")

    def control():
        found = correlation(programs, "0.001", few, 1, by_rank=True)
        check(found > LEVEL / math.sqrt(few), f"the control is not found: {found}")

    return run_tests([("quantised times say nothing", quantised),
                      ("control: times that are not quantised do", control)])


if __name__ == "__main__":
    sys.exit(main())
