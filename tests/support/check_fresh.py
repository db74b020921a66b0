#!/usr/bin/env python3
"""Which tests draw fresh randomness? Only those that tests/README.md lists with a bound, in TAP.

    check_fresh.py TESTS

A C test draws fresh bits where it calls brume_bits_open; a case of the command line where it runs
brume without the fixed source. The bounds of tests/README.md are those that fresh_bounds.py computes,
and together at most 1e-9.
"""
import glob
import os
import re
import subprocess
import sys


def main():
    tests = sys.argv[1]
    with open(os.path.join(tests, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    listed, found = set(re.findall(r"`([a-z_]+/[\w.]+)`", readme)), set()
    for pattern, mark in (("*/*.c", "brume_bits_open("), ("cli/*.case", "LD_PRELOAD= brume")):
        for path in glob.glob(os.path.join(tests, pattern)):
            with open(path, encoding="utf-8") as file:
                if mark in file.read():
                    found.add(os.path.relpath(path, tests))
    unknown = sorted(found - listed)
    print("1..2")
    print(f"{'not ok' if unknown or not found else 'ok'} 1 - every test with fresh randomness has a bound")
    for path in unknown:
        print(f"# {path} is not in tests/README.md")
    done = subprocess.run([sys.executable, os.path.join(tests, "support", "fresh_bounds.py")],
                          capture_output=True, text=True, check=False)
    total = done.stdout.split()[-1] if done.stdout else ""
    good = done.returncode == 0 and total and f"together {total}" in readme
    print(f"{'ok' if good else 'not ok'} 2 - the bounds add up to what tests/README.md says, at most 1e-9")
    if not good:
        print("\n".join("# " + line for line in (done.stdout + done.stderr).splitlines()))
    return 0 if good and not unknown and found else 1


if __name__ == "__main__":
    sys.exit(main())
