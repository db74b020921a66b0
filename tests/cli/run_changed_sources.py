#!/usr/bin/env python3
"""Sources that vanish, break or change between registration and query, in TAP.

    run_changed_sources.py DIRECTORY_OF_BRUME WRITE_PARQUET

Each change is made to neighbouring data (one person more or less) and to none at all: the exit
code and every word of the error must be the same, nothing is printed, the ledger holds.
"""
import json
import os
import subprocess
import sys

from processes import Folder, check, run_tests

PEOPLE = [[(f"p{i}", 20 + i) for i in range(6)]]
PEOPLE += [PEOPLE[0][:-1], []]
SQL = "SELECT COUNT(*), SUM(age) FROM visits"


class Place(Folder):
    """A folder with sources that change."""

    def __init__(self, programs, parquet):
        super().__init__(programs)
        self.parquet = os.path.abspath(parquet)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def write_parquet(self, name, people, age="INTEGER", columns="who, age"):
        values = ", ".join(f"('{who}', {age_of}::{age})" for who, age_of in people)
        where = ""
        if not people:
            values, where = f"('p', 1::{age})", " WHERE false"
        select = f"SELECT {columns} FROM (VALUES {values}) t(who, age){where}"
        subprocess.run([self.parquet, select, self.path(name)], check=True)

    def register(self, source):
        declared = ["--columns", "who, age"] if source.endswith(".json") else []
        self.run("register", "visits", source, "--unit", "who", "--budget", "epsilon=1", "--bounds",
                 "age=0..100", *declared)


def csv(people, header="who,age", line="{0},{1}"):
    return "".join(text + "\n" for text in [header] + [line.format(*person) for person in people])


def lines(people):
    return "".join(json.dumps({"who": who, "age": age}) + "\n" for who, age in people)


def on_csv(change):
    def make(place, people):
        place.write("visits.csv", csv(PEOPLE[0]))
        place.register("visits.csv")
        change(place, people)
    return make


def on_parquet(change):
    def make(place, people):
        place.write_parquet("visits.parquet", PEOPLE[0])
        place.register("visits.parquet")
        change(place, people)
    return make


def on_glob(change):
    def make(place, people):
        place.write_parquet("a.parquet", PEOPLE[0])
        place.register("*.parquet")
        place.write_parquet("a.parquet", people)
        change(place, people)
    return make


def on_json(change):
    def make(place, people):
        place.write("visits.json", lines(PEOPLE[0]))
        place.register("visits.json")
        change(place, people)
    return make


def cut_parquet(place, people):
    place.write_parquet("visits.parquet", people)
    os.truncate(place.path("visits.parquet"), 40)


def replace_by_folder(place, _):
    os.unlink(place.path("visits.csv"))
    os.mkdir(place.path("visits.csv"))


# name, how, exit code, what the error says; exit code 0: it is answered
CHANGES = [
    ("a CSV that vanished", on_csv(lambda p, _: os.unlink(p.path("visits.csv"))), 6, "no file"),
    ("a CSV that became a folder", on_csv(replace_by_folder), 6, ""),
    ("an empty CSV", on_csv(lambda p, _: p.write("visits.csv", "")), 6, "other columns"),
    ("a CSV without its header", on_csv(lambda p, people: p.write(
        "visits.csv", csv(people).partition("\n")[2])), 6, "other columns"),
    ("a CSV without its header, of lines that cannot be read", on_csv(lambda p, people: p.write(
        "visits.csv", "".join(f'"{who},{age}\n' for who, age in people))), 6, "other columns"),
    ("a CSV with columns in another order", on_csv(lambda p, people: p.write(
        "visits.csv", csv(people, "age,who", "{1},{0}"))), 6, "other columns"),
    ("a CSV with a column more", on_csv(lambda p, people: p.write(
        "visits.csv", csv(people, "who,age,ward", "{0},{1},w"))), 6, "other columns"),
    ("a CSV with a preamble", on_csv(lambda p, people: p.write(
        "visits.csv", "report\n" + csv(people))), 6, "other columns"),
    ("a CSV with another separator", on_csv(lambda p, people: p.write(
        "visits.csv", csv(people, "who;age", "{0};{1}"))), 6, "other columns"),
    ("a Parquet that vanished", on_parquet(lambda p, _: os.unlink(p.path("visits.parquet"))), 6,
     "no file"),
    ("a Parquet that was cut", on_parquet(cut_parquet), 6, "is no Parquet file"),
    ("a Parquet that is a text", on_parquet(lambda p, people: p.write(
        "visits.parquet", csv(people))), 6, "is no Parquet file"),
    ("a Parquet with another type", on_parquet(lambda p, people: p.write_parquet(
        "visits.parquet", people, age="VARCHAR")), 6, "type"),
    ("a Parquet without a column", on_parquet(lambda p, people: p.write_parquet(
        "visits.parquet", people, columns="who")), 6, "no column"),
    ("a glob that a file of another type joined", on_glob(lambda p, people: p.write_parquet(
        "b.parquet", people, age="VARCHAR")), 6, "different columns"),
    ("a glob that a broken file joined", on_glob(lambda p, people: p.write(
        "b.parquet", csv(people))), 6, ""),
    ("a JSON that vanished", on_json(lambda p, _: os.unlink(p.path("visits.json"))), 6, "no file"),
    ("a CSV of its header alone", on_csv(lambda p, _: p.write("visits.csv", csv([]))), 0, ""),
    ("a CSV with broken lines", on_csv(lambda p, people: p.write(
        "visits.csv", csv(people) + "x\n1,2,3\n\"open\n")), 0, ""),
    ("a CSV of bytes that are no text", on_csv(lambda p, people: open(
        p.path("visits.csv"), "wb").write(csv(people).encode() + b"\xff\xfe\x00,\x80\n")), 0, ""),
    ("a CSV with ages that are no numbers", on_csv(lambda p, people: p.write(
        "visits.csv", csv(people, line="{0},x{1}"))), 0, ""),
    ("a JSON of broken lines", on_json(lambda p, people: p.write(
        "visits.json", lines(people) + "{\n[1]\n{\"who\":[],\"age\":\"x\"}\n")), 0, ""),
    ("a JSON that became an array", on_json(lambda p, people: p.write(
        "visits.json", json.dumps([{"who": w, "age": a} for w, a in people]))), 0, ""),
]


def run(programs, parquet, how, exit_code, says):
    seen = set()
    for people in PEOPLE:
        place = Place(programs, parquet)
        try:
            how(place, people)
            code, out, err = place.brume("query", SQL, "--epsilon", "0.5")
            reserved = place.json("ledger", "verify")["reservations"]
            if exit_code == 0:
                check(code == 0, f"exit {code}: {err}")
                check(reserved == 1, reserved)
                continue
            check(out == "", out)
            check(says in err, err)
            check(reserved == 0, "it was charged although nothing was read")
            seen.add((code, err.replace(place.folder, "FOLDER")))
        finally:
            place.close()
    check(exit_code == 0 or (len(seen) == 1 and seen.pop()[0] == exit_code), f"not the same: {seen}")


def main():
    return run_tests([(f"{name} is {'refused in the same words' if exit_code else 'read'}, whatever "
                       "its rows",
                       lambda case=(how, exit_code, says): run(sys.argv[1], sys.argv[2], *case))
                      for name, how, exit_code, says in CHANGES])


if __name__ == "__main__":
    sys.exit(main())
