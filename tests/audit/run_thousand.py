#!/usr/bin/env python3
"""Sound mechanisms and queries are not accused: 1,000 audits of all cards and of 50 queries, in TAP.

    run_thousand.py BRUME [RUNS [RECORD [SECONDS]]]

Each audit is at a confidence of .999, so that a sound subject is accused with probability at most .001. Of 1,000
independent runs 12 or more are then accused with probability below 1e-9 (a Poisson number of mean 1): that fails.
How many were is printed.

RECORD is a file that gets a line for each audit; those that it has are not made again, so that runs can be made in
parts. After SECONDS no new audit is begun, and what was made until then is judged by the same rule.
"""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

BRUME, RUNS = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000
RECORD = sys.argv[3] if len(sys.argv) > 3 else None
END = time.monotonic() + float(sys.argv[4]) if len(sys.argv) > 4 else math.inf
CARDS = [("randomized_response(epsilon=1)", 0), ("randomized_response(epsilon=1, k=5)", 0), ("laplace(scale=1)", 0),
         ("discrete_laplace(scale=2)", 0), ("discrete_laplace(scale=4, sensitivity=3)*2", 0),
         ("gaussian(sigma=1)", .01), ("discrete_gaussian(sigma=2)*4", .01), ("exponential(epsilon=2)", 0),
         ("exponential(epsilon=2, monotone=true)", 0), ("noisy_max(epsilon=1)", 0), ("permute_and_flip(epsilon=1)", 0),
         ("above_threshold(epsilon=1)", 0), ("sparse_vector(epsilon=2, hits=2)", 0),
         ("stable_release(epsilon=1, delta=0.01)", .01), ("stable_histogram(epsilon=1, delta=0.01)", .01),
         ("propose_test_release(epsilon_test=1, epsilon_release=1, delta=0.01)", .01),
         ("smooth_laplace(epsilon=1, delta=0.01)", .01), ("smooth_cauchy(epsilon=1)", 0),
         ("smooth_student(epsilon=1, degrees=3)", 0), ("smooth_lln(rho=0.5)", .01)]
VALUES = ["COUNT(*)", "SUM(age)", "AVG(age)", "MEDIAN(age)", "COUNT(*), SUM(age)"]
PLACES = ["", " WHERE age >= 50", " GROUP BY ward", " GROUP BY age"]
MORE = ["SELECT COUNT(DISTINCT person) FROM {t}", "SELECT MODE() WITHIN GROUP (ORDER BY city) FROM {t}",
        "SELECT age FROM {t} GROUP BY age", "SELECT VARIANCE(age) FROM {t}", "SELECT COUNT(age), AVG(age) FROM {t}"]


def queries():
    for table in ("rows", "visits"):
        for value in VALUES:
            for place in PLACES:
                key = place.split()[-1] + ", " if "GROUP BY" in place else ""
                yield f"SELECT {key}{value} FROM {table}{place}"
        for each in MORE:
            yield each.format(t=table)


def make_ledger(folder):
    for name, unit, adjacency in (("rows", "row", "replace"), ("visits", "person", "add-remove")):
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["person", "ward", "age", "city"])
            table.writerows([[f"{name}{i}", "abc"[i % 3], i, "xyz"[i % 3]] for i in range(50)])
        subprocess.run([BRUME, "register", name, name + ".csv", "--unit", unit, "--budget", "epsilon=10,delta=0.01",
                        "--bounds", "age=0..100", "--domain", "ward=a,b,c", "--adjacency", adjacency],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)


def verdict(words, folder):
    done = subprocess.run([BRUME, "audit"] + words + ["--json"], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    return json.loads(done.stdout)["verdict"] if done.returncode == 0 else done.stderr.decode().strip()


def fails_from(runs):
    """The least number of accusations that comes with probability below 1e-9."""
    mean, count, tail = runs / 1000, 0, 1.0
    while tail >= 1e-9:
        tail -= math.exp(-mean) * mean ** count / math.factorial(count)
        count += 1
    return count


def jobs():
    """Queries and cards in turn, as many of both."""
    asked = [["--query", sql, "--epsilon", "1", "--samples", "100"] for sql in queries()]
    drawn = [[card, "--delta", str(delta), "--samples", "20000"] for card, delta in CARDS]
    for i in range(RUNS):
        yield asked[i // 2 % len(asked)] if i % 2 == 0 else drawn[i // 2 % len(drawn)]


def read_record():
    """What was found before, by the number of the job."""
    if not RECORD or not os.path.exists(RECORD):
        return {}
    with open(RECORD, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {line["number"]: line["verdict"] for line in lines if line["number"] < RUNS}


def run_all(all_jobs, found, folder):
    """Audit what has no verdict yet, until the time is over."""
    lock = threading.Lock()

    def run(number):
        if time.monotonic() > END:
            return
        what = verdict(all_jobs[number], folder)
        with lock:
            found[number] = what
            if RECORD:
                with open(RECORD, "a", encoding="utf-8") as file:
                    file.write(json.dumps({"number": number, "audited": all_jobs[number], "verdict": what}) + "\n")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, [i for i in range(len(all_jobs)) if i not in found]))


def main():
    all_jobs, found = list(jobs()), read_record()
    with tempfile.TemporaryDirectory() as folder:
        make_ledger(folder)
        run_all(all_jobs, found, folder)
    accused = [all_jobs[i] for i, what in found.items() if what == "violation"]
    failed = [(all_jobs[i], what) for i, what in found.items() if what not in ("violation", "consistent")]
    subjects = {all_jobs[i][0] if all_jobs[i][0] != "--query" else all_jobs[i][1] for i in found}
    print("1..2")
    for job, what in failed[:10]:
        print(f"# {job}: {what}")
    print(f"{'not ' if failed else ''}ok 1 - {len(found)} audits of {len(subjects)} queries and cards are made")
    for job in accused:
        print(f"# accused: {job}")
    good = len(accused) < fails_from(len(found))
    print(f"{'' if good else 'not '}ok 2 - of {len(found)} audits of sound subjects {len(accused)} accuse, "
          f"{fails_from(len(found))} would be too many")
    return 0 if good and not failed and found else 1


sys.exit(main())
