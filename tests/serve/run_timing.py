#!/usr/bin/env python3
"""How long an answer takes says nothing about one person, in TAP.

    run_timing.py DIRECTORY_OF_BRUME [RUNS]

Two servers, whose tables differ in one person: without a row in the first, with as many rows as the rest
has together in the second. RUNS questions, each a new one, are asked of one of the two by the toss of a
coin, and the correlation of the coin with the time of the answer is measured. Under independence it is
below 6.2 / sqrt(RUNS) in absolute value but with a probability below 1e-9 (normal approximation of
Fisher's transform; the times are bounded). The control is the same without quantised times: there the
correlation must be found.
"""
import math
import random
import statistics
import sys

from server import Server, check
from processes import run_tests

ROWS = 60000
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


def correlation(programs, quantum, runs):
    servers = [make(programs, quantum, 0), make(programs, quantum, 1)]
    coin, sides, times = random.Random(), [], []
    for number in range(runs + 20):
        side = coin.randrange(2)
        got = servers[side].query(sql=f"SELECT COUNT(*) FROM visits WHERE age < {number}.5", epsilon=0.01)
        check(got.code == 200 and got.json["cached"] is False, got)
        if number >= 20:  # the first ones warm up
            sides.append(side)
            times.append(got.seconds)
    for server in servers:
        server.end()
        server.close()
    found = statistics.correlation(sides, times)
    print(f"# quantum {quantum} s: correlation {found:+.4f}, interval ± {LEVEL / math.sqrt(runs):.4f} "
          f"({runs} runs, times {min(times):.4f} to {max(times):.4f} s, median {statistics.median(times):.4f} s)")
    return found


def main():
    programs, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    few = max(100, runs // 10)

    def quantised():
        found = correlation(programs, "0.5", runs)
        check(abs(found) < LEVEL / math.sqrt(runs), f"the times tell: {found}")

    def control():
        found = correlation(programs, "0.001", few)
        check(found > LEVEL / math.sqrt(few), f"the control is not found: {found}")

    return run_tests([("quantised times say nothing", quantised),
                      ("control: times that are not quantised do", control)])


if __name__ == "__main__":
    sys.exit(main())
