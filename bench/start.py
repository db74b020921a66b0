#!/usr/bin/env python3
"""What a call of the command line takes from start to end: brume --version, account, and a query on 1,000 rows.

    ./run bench start [RUNS]     (60 runs each)

Beside each: processor time, and how many shared libraries are loaded. "duckdb alone" is a process that already
runs, which loads DuckDB, opens a database in memory, connects and ends: no query on files can be faster.
"""
import ctypes
import os
import shutil
import sys
import tempfile
import time

SQL = "SELECT town, COUNT(*) AS people, AVG(income) AS mean_income FROM survey GROUP BY town"


def timed(start):
    """Seconds and processor seconds of a child that `start` starts and returns."""
    begin = time.perf_counter()
    _, status, used = os.wait4(start(), 0)
    if status != 0:
        sys.exit("start: a call failed")
    return time.perf_counter() - begin, used.ru_utime + used.ru_stime


def spawn(words, environment=None, errors="/dev/null"):
    return os.posix_spawn(words[0], words, environment or dict(os.environ), file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)])


def libraries(words, folder):
    """How many files the dynamic linker brings in, beside the program and itself."""
    log = os.path.join(folder, "files")
    os.waitpid(spawn(words, dict(os.environ, LD_DEBUG="files"), log), 0)
    with open(log, encoding="utf-8", errors="replace") as text:
        return sum("generating link map" in line for line in text)


def fork_duckdb(path):
    child = os.fork()
    if child == 0:
        library, database, connection = ctypes.CDLL(path, os.RTLD_LAZY), ctypes.c_void_p(), ctypes.c_void_p()
        bad = library.duckdb_open(None, ctypes.byref(database)) or \
            library.duckdb_connect(database, ctypes.byref(connection))
        os._exit(bad)
    return child


def report(name, runs, start, before=lambda: None, loaded=""):
    walls, works = [], []
    for _ in range(runs):
        before()
        wall, work = timed(start)
        walls.append(wall * 1e3)
        works.append(work * 1e3)
    print(f"{name:<22}{min(walls):>10.1f}{sorted(walls)[runs // 2]:>10.1f}{sorted(works)[runs // 2]:>14.1f}{loaded:>12}")


def main():
    brume, runs = os.path.abspath(sys.argv[1]), int(sys.argv[3]) if len(sys.argv) > 3 else 60
    duckdb = os.environ.get("BRUME_DUCKDB") or os.path.abspath("third_party/duckdb/libduckdb.so")
    folder = tempfile.mkdtemp(prefix="brume-start-")
    os.chdir(folder)
    try:
        with open("survey.csv", "w", encoding="ascii") as out:
            out.write("person,town,income\n")
            out.writelines(f"p{i},{'Dole' if i % 3 else 'Cluny'},{i * 7919 % 60000}\n" for i in range(1000))
        os.waitpid(spawn([brume, "register", "survey", "survey.csv", "--unit", "person", "--budget", "epsilon=1",
                          "--bounds", "income=0..100000", "--domain", "town=Cluny,Dole"]), 0)
        os.rename("brume.db", "fresh.db")

        def renew():  # the same question again would be free, and not run
            shutil.copy("fresh.db", "brume.db")
        print("milliseconds of a call      least    median  processor time   libraries")
        for name, words in (("--version", ["--version"]),
                            ("account", ["account", "laplace(scale=10)*5 + gaussian(sigma=20)*100", "--delta", "1e-6"]),
                            ("query, 1,000 rows", ["query", SQL, "--epsilon", "0.4"])):
            renew()
            call = [brume, *words]
            report(name, runs, lambda call=call: spawn(call), renew, libraries(call, folder))
        if os.path.exists(duckdb):
            report("duckdb alone", runs, lambda: fork_duckdb(duckdb))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
