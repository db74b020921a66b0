"""Sessions that are opened and closed in one process, a question in each: memory must stay flat.

    python python/bench/sessions.py [SESSIONS]     10,000 unless said; exit 1 if memory grows

Each session asks a question whose answer is on the ledger, every tenth a new one, and drops the rows
unread. The first tenth of the sessions fills what is filled once (allocators, caches); after it the process
may grow by less than 100 bytes for each session, a ninth of the least object that a session has.
"""

import gc
import os
import random
import sys
import tempfile
import time

import brume


def resident():
    """Bytes of memory that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def handles():
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def one(number):
    with brume.connect("brume.db", progress=False, must_exist=True) as con:
        least = number // 10 if number % 10 == 0 else 0
        con.query(f"SELECT town, COUNT(*) AS n FROM survey WHERE age > {least} GROUP BY town", epsilon=1)


def main(sessions):
    people = random.Random(7)
    with open("survey.csv", "w") as file:
        file.write("person,town,age\n")
        file.writelines(f"{i},{people.choice('ABC')},{people.randint(18, 90)}\n" for i in range(100))
    with brume.connect("brume.db", progress=False) as con:
        con.register("survey", "survey.csv", unit="person", budget=f"epsilon={sessions}",
                     bounds={"age": "0..100"}, domain={"town": "A,B,C"})
    start, before, open_before = time.time(), 0, (0, 0)
    for number in range(sessions):
        if number == sessions // 10:
            gc.collect()
            before, open_before = resident(), handles()
        one(number)
        if number % (sessions // 10) == sessions // 10 - 1:
            print(f"{number + 1:6} sessions  {resident() / 1e6:8.2f} MB  {handles()[0]} files  {handles()[1]} threads"
                  f"  {time.time() - start:6.1f} s", flush=True)
    gc.collect()
    grown = (resident() - before) / (sessions - sessions // 10)
    print(f"{grown:.1f} bytes for each session after the first tenth")
    return 0 if grown < 100 and handles() == open_before else 1


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        result = main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
        os.chdir("/")
    sys.exit(result)
