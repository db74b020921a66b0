#!/usr/bin/env python3
"""Rows are in memory only: no process leaves or opens a file with them, however it ends, in TAP.

    run_spilling.py DIRECTORY_OF_BRUME LITTLE_MEMORY

LITTLE_MEMORY is a library that makes DuckDB believe that the computer has little memory. DuckDB then
writes rows to a folder, `./.tmp` if nobody names one, unless it is told not to: then the query fails. That
it fails with little memory and not with enough is what shows that this test can fail.

And how much memory one person's rows can take (docs/threat-model.md): of a query whose groups are declared,
hardly any.
"""
import os
import resource
import signal
import sys
import time

from processes import Folder, check, run_functions

ROWS, LONG = 200_000, "so long a text that it fills the memory " * 6
# Both texts are needed after the join, so that DuckDB keeps one of the tables, with its text, in memory.
JOIN = "SELECT COUNT(*) FROM people JOIN places ON people.place = places.place WHERE note <> name"
LEDGER = ("brume.db", "brume.db-wal", "brume.db-shm", "brume.db-journal")
LITTLE_MEMORY = None
# Megabytes with which DuckDB has room for half of the joined table, for nearly all of it, and for all of it.
LITTLE, MORE, ENOUGH = "64", ("80", "96"), "100000"


class Place(Folder):
    """Two tables of which DuckDB keeps one in memory to join them, and folders that must stay as they are."""

    def __init__(self, programs):
        super().__init__(programs)
        for name in ("work", "temporary", "ledger"):
            os.mkdir(self.path(name))
        with open(self.path("people.csv"), "w", encoding="utf-8") as file:
            file.write("person,place,age,note\n")
            file.writelines(f"p{i},{i},{i % 90},{LONG}\n" for i in range(ROWS))
        with open(self.path("places.csv"), "w", encoding="utf-8") as file:
            file.write("place,name\n")
            file.writelines(f"{i},{LONG}{i}\n" for i in range(ROWS))
        self.environment.update(TMPDIR=self.path("temporary"), BRUME_LEDGER=self.path("ledger/brume.db"))
        self.run("register", "people", self.path("people.csv"), "--unit", "person", "--bounds", "age=0..100",
                 "--budget", "epsilon=1000")
        self.run("register", "places", self.path("places.csv"), "--public")
        self.others = self.elsewhere()

    @staticmethod
    def elsewhere():
        """What is in the folders of everybody that could be brume's."""
        return {os.path.join(folder, name) for folder in ("/tmp", "/var/tmp", "/dev/shm") if os.path.isdir(folder)
                for name in os.listdir(folder) if name.startswith("duckdb_temp") or name == ".tmp"}

    def left(self):
        """The files that nobody wrote by hand."""
        files = [os.path.join(folder, name) for folder, _, names in os.walk(self.folder) for name in names]
        folders = [os.path.join(folder, name) for folder, names, _ in os.walk(self.folder) for name in names]
        known = [self.path(name) for name in ("people.csv", "places.csv", "work", "temporary", "ledger")]
        known += [self.path(os.path.join("ledger", name)) for name in LEDGER]
        return sorted((set(files) | set(folders) | self.elsewhere()) - set(known) - self.others)

    def begin(self, words, memory):
        environment = {**self.environment, "LITTLE_MEMORY": memory}
        environment["LD_PRELOAD"] = " ".join([LITTLE_MEMORY] + environment.get("LD_PRELOAD", "").split())
        environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        return self.start(*words, cwd=self.path("work"), env=environment)

    def watch(self, process, seconds):
        """What it has open for writing, or left, at any look, until it ends or the time is over."""
        seen, ended = set(), time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < ended:
            seen.update(opened_for_writing(process.pid))
            seen.update(self.left())
        return {name for name in seen if not name.startswith(self.path("ledger/brume.db"))}


def opened_for_writing(pid):
    found = set()
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            target = os.readlink(f"/proc/{pid}/fd/{number}")
            with open(f"/proc/{pid}/fdinfo/{number}", encoding="utf-8") as info:
                flags = next(int(line.split()[1], 8) for line in info if line.startswith("flags:"))
            if target.startswith("/") and not target.startswith(("/dev/", "/memfd:")) and flags & os.O_ACCMODE != os.O_RDONLY:
                found.add(target)
    except (OSError, StopIteration):
        pass  # it was closed, or the process has ended
    return found


PRICES = iter(range(1, 1000))


def query(sql=JOIN):
    return ["query", sql, "--epsilon", f"0.1{next(PRICES):03}"]


def a_join_that_does_not_fit_writes_no_row_anywhere(programs):
    place = Place(programs)
    try:
        for memory, codes in [(ENOUGH, [0]), (LITTLE, [6])] + [(memory, [0, 6]) for memory in MORE]:
            process = place.begin(query(), memory)
            seen = place.watch(process, 90)
            _, err = process.communicate(timeout=90)
            check(not seen and not place.left(), f"memory {memory}: {seen} {place.left()}")
            check(process.returncode in codes, f"memory {memory}: {process.returncode} {err}")
    finally:
        place.close()


def a_killed_process_leaves_nothing(programs):
    """At any moment: some kills are between the charge and the answer."""
    place = Place(programs)
    try:
        began = time.monotonic()
        place.begin(query(), ENOUGH).communicate(timeout=90)
        usual = time.monotonic() - began
        for memory in (ENOUGH, LITTLE, MORE[0]):
            for part in range(1, 10, 2):
                process = place.begin(query(), memory)
                seen = place.watch(process, usual * part / 10)
                process.send_signal(signal.SIGKILL)
                process.communicate(timeout=90)
                check(not seen and not place.left(), f"memory {memory}, moment {part}: {seen} {place.left()}")
        states = [event["state"] for event in place.json("history", "people")["events"]]
        check("reserved" in states, f"no process was killed in the middle: {states}")
        check(place.holds(), "the ledger does not hold")
    finally:
        place.close()


def statistics_that_are_not_sql_write_no_row_either(programs):
    place = Place(programs)
    try:
        for words in (["release", "median", "people", "--column", "age", "--bounds", "0..100", "--epsilon", "1"],
                      ["release", "mean", "people", "--column", "age", "--bounds", "0..100", "--epsilon", "1"]):
            process = place.begin(words, ENOUGH)
            seen = place.watch(process, 90)
            _, err = process.communicate(timeout=90)
            check(not seen and not place.left() and process.returncode == 0,
                  f"{words}: {process.returncode} {err} {seen} {place.left()}")
    finally:
        place.close()


def most_memory(place, *words):
    """The most that a process had, in MB; a process of its own asks for the peak of its child."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code, _, err = place.brume(*words)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        os.write(writer, f"{code} {peak} {err}".encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as file:
        code, peak, err = file.read().split(" ", 2)
    check(code == "0", f"{words}: {err}")
    return int(peak)


def one_unit_of_many_rows_takes_no_memory_where_groups_are_declared(programs):
    """A million rows of one unit, in as many groups: undeclared, they are all held; declared, none is."""
    place = Folder(programs)
    try:
        for name, more in (("few", 0), ("many", 1_000_000)):
            with open(place.path(name + ".csv"), "w", encoding="utf-8") as file:
                file.write("who,k\n")
                file.writelines(f"p{i},k{i % 9}\n" for i in range(1000))
                file.writelines(f"victim,z{i}\n" for i in range(more))
            place.run("register", name, name + ".csv", "--unit", "who", "--budget", "epsilon=9,delta=1e-3", "--domain",
                      "k=" + ",".join(f"k{i}" for i in range(9)))
        for aggregate in ("COUNT(*)", "COUNT(DISTINCT who)"):
            peaks = [most_memory(place, "query", f"SELECT {key}, {aggregate} FROM {name} GROUP BY 1", "--epsilon", "1")
                     for key in ("k", "lower(k)") for name in ("few", "many")]
            check(abs(peaks[1] - peaks[0]) < 40, f"declared groups: {peaks}")
            check(peaks[3] - peaks[2] > 60, f"the test sees no memory: {peaks}")
    finally:
        place.close()


def main():
    global LITTLE_MEMORY
    LITTLE_MEMORY = os.path.abspath(sys.argv[2])
    return run_functions([a_join_that_does_not_fit_writes_no_row_anywhere, a_killed_process_leaves_nothing,
                          statistics_that_are_not_sql_write_no_row_either,
                          one_unit_of_many_rows_takes_no_memory_where_groups_are_declared], sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
