#!/usr/bin/env python3
"""brume's auditor on brume's mechanisms, and on those of others, each claimed at epsilon 1.

    audit.py BENCH [DRAWS [ANSWERS [PROGRAM...]]]

BENCH is brume's own measurement, given DRAWS (10000000; 0: it is left out). The programs of bench/peers/audited, or
those that are named, are attacked by 'brume audit --program' with ANSWERS (10000) on each neighbour; SmartNoise, whose
answers take milliseconds, with a fifth.
"""
import importlib.metadata
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.abspath(sys.argv[1])
BRUME = os.path.join(os.path.dirname(BENCH), "..", "src", "cli", "brume")
DRAWS = sys.argv[2] if len(sys.argv) > 2 else "10000000"
ANSWERS = int(sys.argv[3]) if len(sys.argv) > 3 else 10000

# (program, whose it is, adjacency, delta)
PROGRAMS = [("opendp_count", "opendp", "add-remove", 0), ("opendp_sum", "opendp", "add-remove", 0),
            ("diffprivlib_count", "diffprivlib", "add-remove", 0),
            ("diffprivlib_mean", "diffprivlib", "replace", 0),
            ("diffprivlib_median", "diffprivlib", "replace", 0),
            ("smartnoise_count", "smartnoise-sql", "add-remove", 1e-6),
            ("smartnoise_sum", "smartnoise-sql", "add-remove", 1e-6),
            ("doubles_sum", None, "add-remove", 0)]


def attack(program, adjacency, delta, answers):
    command = f"{sys.executable} {os.path.join(HERE, 'audited', program + '.py')}"
    began = time.monotonic()
    done = subprocess.run([BRUME, "audit", "--program", command, "--epsilon", "1", "--delta", str(delta),
                           "--adjacency", adjacency, "--samples", str(answers), "--json"],
                          stdout=subprocess.PIPE, check=False)
    return (json.loads(done.stdout) if done.returncode == 0 else None), time.monotonic() - began


def main():
    if DRAWS != "0":
        subprocess.run([BENCH, DRAWS], check=True)
    print(f"\n{'program, claimed at epsilon 1':36s} {'neighbours':11s} {'answers':>8s} {'reached':>8s} {'seconds':>8s}")
    for program, package, adjacency, delta in PROGRAMS:
        if len(sys.argv) > 4 and program not in sys.argv[4:]:
            continue
        answers = ANSWERS // 5 if program.startswith("smartnoise") else ANSWERS
        answer, seconds = attack(program, adjacency, delta, answers)
        name = program + (f" ({package} {importlib.metadata.version(package)})" if package else " (the control)")
        if answer is None:
            print(f"{name:36s} failed")
            continue
        print(f"{name:36s} {adjacency:11s} {answers:8d} {answer['epsilon_lower']:8.3f} {seconds:8.1f} "
              f"{answer['verdict']}: {answer['witness']['outcome'].split(',')[0]}", flush=True)


if __name__ == "__main__":
    main()
