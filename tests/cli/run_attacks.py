#!/usr/bin/env python3
"""Ways to an answer that nobody paid for, each tried through the program, in TAP.

    run_attacks.py DIRECTORY_OF_BRUME
"""
import json
import os
import shutil
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

from processes import Folder, check, run_functions

COUNT = "SELECT COUNT(*) FROM visits"


class Place(Folder):
    """A folder with a registered dataset."""

    def __init__(self, programs, budget, rows=300, more=()):
        super().__init__(programs)
        self.ledger = self.path("brume.db")
        self.write_visits(rows)
        self.run("register", "visits", "visits.csv", "--unit", "person", "--budget", budget,
                 "--bounds", "age=0..100", *more)

    def spent(self):
        """The ledger's own decimal. What the JSON of `budget` prints is no less: this or the double above it."""
        with sqlite3.connect(self.ledger) as reader:
            (text,), = reader.execute("SELECT filter FROM dataset WHERE name = 'visits'")
        reader.close()
        exact = Decimal(dict(word.split("=") for word in text.split() if "=" in word)["spent"])
        shown = Decimal(repr(self.json("budget", "visits")["spent"]["epsilon"]))  # as it is printed
        check(exact <= shown <= exact * (1 + Decimal(2) ** -51), f"{exact} is shown as {shown}")
        return exact

    def check_holds(self):
        check(self.holds(), "the ledger does not hold")


def prices_that_are_no_prices_buy_nothing(programs):
    """NaN, infinite, negative, absurd: refused by every option that pays."""
    numbers = ["nan", "NaN", "inf", "-inf", "Infinity", "-1", "0", "1e308", "1e400", "1e-400", "-1e-300",
               "0x1p-3", "0,1", "", " 0.1", "1e"]
    mean = ["release", "mean", "visits", "--column", "age", "--bounds", "0..100"]
    asked = [["query", COUNT, "--epsilon"], mean + ["--epsilon"],
             ["query", COUNT, "--epsilon", "0.1", "--delta"],
             ["query", COUNT, "--within"], ["query", COUNT, "--within", "10", "--confidence"]]
    place = Place(programs, "epsilon=0.5,delta=1e-6")
    try:
        for words in asked:
            for number in numbers:
                if words[-1] == "--delta" and number in ("0", "1e-400"):
                    continue  # no delta, or next to none, is a price
                code, out, err = place.brume(*words, number)
                enough = words[-1] == "--within" and number in ("1e308",)  # any noise is near enough
                check(enough or (code in (2, 3) and out == "" and err), f"{words} {number!r}: {code} {err}")
        check(place.spent() < Decimal("1e-9"), f"{place.spent()} was spent")
        place.check_holds()
    finally:
        place.close()
    place = Place(programs, "epsilon=0.5,delta=1e-6", more=["--rule", "concentrated"])
    try:
        for number in numbers:
            code, out, err = place.brume("query", COUNT, "--rho", number)
            check(code in (2, 3) and out == "" and err, f"--rho {number!r}: {code} {err}")
        check(place.states() == [], "something was charged")
    finally:
        place.close()


def questions_that_are_nearly_the_same_are_paid_for_or_answered_alike(programs):
    """Averaging needs new noise, and new noise is charged: answers that differ are charges."""
    questions = [COUNT, "select count(*) from visits", "SELECT  COUNT( * )  FROM visits ;",
                 "SELECT COUNT(*) FROM visits -- again", "SELECT COUNT(*) FROM \"visits\"",
                 "SELECT COUNT(*) AS n FROM visits", "SELECT COUNT(*) FROM visits v",
                 "SELECT COUNT(*) FROM visits WHERE true", "SELECT COUNT(*) FROM visits WHERE 1 = 1",
                 "SELECT COUNT(*) FROM visits WHERE age = age OR age IS NULL",
                 "SELECT COUNT(*) + 0 FROM visits", "SELECT COUNT(*), COUNT(*) FROM visits",
                 "SELECT COUNT(*) FROM (SELECT * FROM visits) t", "SELECT COUNT(person) FROM visits",
                 "SELECT COUNT(*) FROM visits LIMIT 1", "SELECT COUNT(*) FROM visits ORDER BY 1"]
    prices = ["0.001", "1.0e-3", "0.001000000000001"]
    place = Place(programs, "epsilon=1")
    try:
        charged, cost, answers = 0, Decimal(0), set()
        for question in questions:
            for price in prices:
                code, out, err = place.brume("query", question, "--epsilon", price, "--json")
                check(code == 0 or (code in (2, 4) and out == ""), f"{question}: {code} {err}")
                now = len(place.states())
                check(now - charged <= 1, "charged twice")
                if code == 0:
                    answer = json.loads(out)
                    check(answer["cached"] is (now == charged), f"{question}: {answer['cached']}")
                    value = answer["rows"][0][0]
                    check(now > charged or value in answers, f"{question}: a new answer for nothing")
                    answers.add(value)
                cost += (now - charged) * Decimal(price)
                charged = now
        check(len(answers) <= charged and place.spent() == cost, f"{place.spent()} instead of {cost}")
        print(f"# {len(questions) * len(prices)} questions, {charged} charged")
    finally:
        place.close()


def two_who_share_what_they_learn_have_one_budget(programs):
    """Two people, each with a folder, a path to the ledger and questions of their own."""
    place = Place(programs, "epsilon=1")
    try:
        homes = []
        for name in ("ada", "bob"):
            home = os.path.join(place.folder, name)
            os.mkdir(home)
            shutil.copy2(os.path.join(place.folder, "visits.csv"), home)
            homes.append(home)
        os.symlink(place.ledger, os.path.join(homes[1], "mine.db"))
        users = [{"cwd": place.folder, "env": {**place.environment, "HOME": homes[0], "USER": "ada"}},
                 {"cwd": place.folder, "env": {**place.environment, "HOME": homes[1], "USER": "bob",
                                               "BRUME_LEDGER": os.path.join(homes[1], "mine.db")}}]
        answered = 0
        for i in range(30):
            code, out, err = place.brume("query", f"{COUNT} WHERE age < {40 + i}", "--epsilon", "0.1",
                                         "--json", **users[i % 2])
            check(code in (0, 3), err)
            answered += code == 0
            if code == 0:  # the other one gets the same answer, not another one
                code, again, err = place.brume("query", f"{COUNT} WHERE age < {40 + i}", "--epsilon",
                                               "0.1", "--json", **users[1 - i % 2])
                check(code == 0 and json.loads(again)["rows"] == json.loads(out)["rows"], err)
        check(answered == 10 and place.spent() == 1, f"{answered} answers of 0.1 from a budget of 1")
        place.check_holds()
    finally:
        place.close()


def statements_that_play_with_transactions_are_refused(programs):
    """SELECTs over registered datasets, or nothing: all of a text are checked before one is charged."""
    tricks = [f"BEGIN; {COUNT}; ROLLBACK", f"{COUNT}; ROLLBACK", "ROLLBACK",
              "SAVEPOINT s", "SET TRANSACTION READ WRITE", f"EXPLAIN ANALYZE {COUNT}",
              f"PREPARE p AS {COUNT}", "EXECUTE p", f"COPY ({COUNT}) TO '/tmp/out'",
              f"CREATE TABLE t AS {COUNT}", f"{COUNT} INTO t", "SELECT COUNT(*) INTO t FROM visits",
              "WITH d AS (DELETE FROM visits RETURNING *) SELECT COUNT(*) FROM d",
              f"{COUNT} FOR UPDATE", "SELECT COUNT(*) FROM visits, pg_sleep(1)",
              "SELECT COUNT(*) FROM read_csv('visits.csv')", "SELECT COUNT(*) FROM 'visits.csv'",
              "SELECT COUNT(*) FROM main.source_0", "SELECT COUNT(*) FROM sqlite_schema",
              "ATTACH 'brume.db' AS l", "PRAGMA user_version", "VACUUM", "CHECKPOINT", "", ";", "--"]
    place = Place(programs, "epsilon=1")
    try:
        for sql in tricks:
            code, out, err = place.brume("query", sql, "--epsilon", "0.1")
            check(code in (2, 4) and out == "" and err, f"{sql}: {code} {out} {err}")
        check(place.states() == [], "something was charged")
    finally:
        place.close()


def a_ledger_that_is_edited_during_a_query_keeps_the_answer_back(programs):
    """Reserved, then another program gives the budget back: no answer, and no further one."""
    place = Place(programs, "epsilon=1", rows=2_000_000)
    try:
        process = place.start("query", "SELECT VAR_POP(age), COUNT(DISTINCT person) FROM visits",
                              "--epsilon", "0.5")
        limit = time.monotonic() + 60
        while not place.states():
            check(time.monotonic() < limit, "it was not reserved")
        with sqlite3.connect(place.ledger) as editor:
            editor.execute("UPDATE dataset SET queries = 0, last = 2, filter = (SELECT "
                           "json_extract(body, '$.filter') FROM journal WHERE kind = 'register')")
        out, err = process.communicate(timeout=90)
        check(process.returncode == 6 and out == "" and "not what the journal says" in err,
              f"{process.returncode} {out!r} {err!r}")
        code, out, err = place.brume("query", COUNT, "--epsilon", "0.1")
        check(code == 6 and out == "", f"{code} {err}")
    finally:
        place.close()


def a_disk_that_is_full_at_any_moment_gives_no_uncharged_answer(programs):
    """Room for no page of the ledger's log, for one, for two, ...: an error, or a charged answer."""
    place = Place(programs, "epsilon=100")
    try:
        for i in range(8):  # the log must be longer than its index, or the index is what does not fit
            place.json("query", f"{COUNT} WHERE age > {i}", "--epsilon", "0.01")
            if i == 0:  # while somebody reads the log is not shortened
                reader = sqlite3.connect(place.ledger, isolation_level=None)
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM journal").fetchone()
        outcomes = []
        for pages in range(30):
            limit = os.path.getsize(place.ledger + "-wal") + pages * 4120 + 50
            known = len(place.states())
            code, out, err = place.brume("query", f"{COUNT} WHERE age < {pages}", "--epsilon", "0.01",
                                         "--json", before=["prlimit", f"--fsize={limit}"])
            new = place.states()[known:]
            check((code == 0 and new == ["committed"] and "rows" in json.loads(out)) or
                  (code == 5 and out == "" and new in ([], ["reserved"], ["failed"])),
                  f"{pages} pages: {code} {new} {out} {err}")
            if code == 5:
                check(("the price stays spent" in err) is (new != []), f"{new} {err}")
            outcomes.append((code, *new))
            if code == 0:
                break
        place.check_holds()
        print(f"# {outcomes}")
        check(outcomes[0] == (5,) and (5, "reserved") in outcomes and outcomes[-1] == (0, "committed"),
              f"{outcomes}: no test")
        reader.close()
        check(place.spent() == Decimal("0.01") * len(place.states()), "a charge was lost")
    finally:
        place.close()


def an_answer_that_cannot_be_printed_stays_charged_and_is_read_again(programs):
    """Standard output is full."""
    place = Place(programs, "epsilon=1")
    try:
        with open("/dev/full", "w", encoding="utf-8") as full:
            code, _, err = place.brume("query", COUNT, "--epsilon", "0.5", stdout=full)
        check(code == 5 and "standard output" in err, f"{code} {err}")
        check(place.states() == ["committed"] and place.spent() == 0.5, "it was not charged")
        check(place.json("query", COUNT, "--epsilon", "0.5")["cached"] is True, "it was drawn again")
    finally:
        place.close()


def a_file_that_is_no_whole_ledger_is_refused_and_left_alone(programs):
    """Foreign, cut, edited, newer: exit code, no answer, no byte changed."""
    place = Place(programs, "epsilon=1")
    try:
        place.json("query", COUNT, "--epsilon", "0.1")
        with open(place.ledger, "rb") as file:
            whole = file.read()

        def edited(sql):
            path = os.path.join(place.folder, "edited.db")
            with open(path, "wb") as file:
                file.write(whole)
            with sqlite3.connect(path) as editor:
                editor.executescript(sql)
            editor.close()
            with open(path, "rb") as file:
                return file.read()

        files = [("a text", b"person,age\nada,36\n" * 300, 6), ("nothing", b"", 6),
                 ("half of it", whole[:len(whole) // 2], 6), ("noise", os.urandom(8192), 6),
                 ("its head alone", whole[:100], 6),
                 ("another database", edited("DROP TABLE charge; PRAGMA application_id = 7"), 6),
                 ("one with a trigger", edited(
                     "CREATE TRIGGER refund AFTER INSERT ON charge BEGIN UPDATE dataset SET queries = "
                     "0; END"), 6),
                 ("one without marks", edited("DELETE FROM mark"), 6),
                 ("a newer one", edited("PRAGMA user_version = 1000"), 4),
                 ("one that says it is older", edited("PRAGMA user_version = 2"), 6)]
        for name, content, expected in files:
            for suffix in ("", "-wal", "-shm"):
                if os.path.exists(place.ledger + suffix):
                    os.unlink(place.ledger + suffix)
            with open(place.ledger, "wb") as file:
                file.write(content)
            code, out, err = place.brume("query", f"{COUNT} WHERE age < 50", "--epsilon", "0.1")
            check(code == expected and out == "" and err, f"{name}: {code} {out} {err}")
            with open(place.ledger, "rb") as file:
                check(file.read() == content, f"{name}: the file was changed")
    finally:
        place.close()


def a_ledger_that_may_not_be_written_gives_no_answer(programs):
    """The file, or its folder, is read-only for who asks: root too, without its right to pass over that."""
    place = Place(programs, "epsilon=1")
    try:
        bound = ("setpriv", "--bounding-set=-dac_override") if os.geteuid() == 0 else ()
        for folder, file in ((0o777, 0o444), (0o555, 0o444), (0o555, 0o666)):
            os.chmod(place.ledger, file)
            os.chmod(place.folder, folder)
            code, out, err = place.brume("query", COUNT, "--epsilon", "0.1", before=bound)
            os.chmod(place.folder, 0o700)
            os.chmod(place.ledger, 0o600)
            check(code == 5 and out == "" and "read-only" in err, f"{file:o} {folder:o}: {code} {err}")
        check(place.states() == [], "something was charged")
    finally:
        os.chmod(place.folder, 0o700)
        place.close()


def a_ledger_that_stays_locked_gives_no_answer(programs):
    """Another program holds the lock: an error after half a minute, and nothing is spent."""
    place = Place(programs, "epsilon=1")
    try:
        holder = sqlite3.connect(place.ledger, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        code, out, err = place.brume("query", COUNT, "--epsilon", "0.5")
        check(code == 5 and out == "" and "stayed locked" in err, f"{code} {err}")
        holder.execute("ROLLBACK")
        holder.close()
        check(place.states() == [], "something was charged")
    finally:
        place.close()


TESTS = [prices_that_are_no_prices_buy_nothing,
         questions_that_are_nearly_the_same_are_paid_for_or_answered_alike,
         two_who_share_what_they_learn_have_one_budget,
         statements_that_play_with_transactions_are_refused,
         a_ledger_that_is_edited_during_a_query_keeps_the_answer_back,
         a_disk_that_is_full_at_any_moment_gives_no_uncharged_answer,
         an_answer_that_cannot_be_printed_stays_charged_and_is_read_again,
         a_file_that_is_no_whole_ledger_is_refused_and_left_alone,
         a_ledger_that_may_not_be_written_gives_no_answer]


def main():
    # This one waits half a minute, beside the others.
    waiting = ThreadPoolExecutor().submit(a_ledger_that_stays_locked_gives_no_answer, sys.argv[1])

    def a_ledger_that_stays_locked_gives_no_answer_after_half_a_minute(_):
        waiting.result()
    tests = TESTS + [a_ledger_that_stays_locked_gives_no_answer_after_half_a_minute]
    return run_functions(tests, sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
