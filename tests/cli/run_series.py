#!/usr/bin/env python3
"""Series of running totals as real processes: killed, racing, late, refused, in TAP.

    run_series.py DIRECTORY_OF_BRUME

What is checked holds for every draw: budgets, refusals, that a window has one value. Noise is at
epsilon 2000 where numbers are compared: a total is then off by less than 1 with probability 1 - 1e-20.
"""
import csv
import datetime
import io
import os
import random
import signal
import sqlite3
import sys
import time

from processes import Folder, check, run_functions

DAYS = 20
FIRST = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=DAYS)


class Place(Folder):
    """A dataset that grows."""

    def __init__(self, programs, *options, budget="epsilon=5000"):
        super().__init__(programs)
        self.rows = []
        self.write()
        self.run("register", "visits", "visits.csv", "--unit", "person", "--columns",
                 "person text, ward text, day date, cost integer", "--budget", budget, "--domain",
                 "ward=A,B", "--bounds", "cost=-10..100", *options)

    def write(self):
        with open(self.path("visits.csv.new"), "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["person", "ward", "day", "cost"])
            writer.writerows(self.rows)
        os.replace(self.path("visits.csv.new"), self.path("visits.csv"))

    def open(self, name="daily", sql="SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", limit="3",
             epsilon="2000", *more):
        more = more if "--close-after" in more else (*more, "--close-after", "0d")
        return self.brume("series", "open", name, sql, "--limit", limit, "--epsilon", epsilon, "--window",
                          "day day", "--from", str(FIRST), "--horizon", "400", *more)

    def points(self, name="daily", *more):
        return self.json("series", "show", name, *more)["points"]


def day(number):
    return str(FIRST + datetime.timedelta(days=number))


def made_rows(generator, people=60):
    return [(f"p{person}", generator.choice("AB"), day(generator.randrange(DAYS)), generator.randrange(-10, 101))
            for person in range(people) for _ in range(generator.randrange(6))]


def kept(rows, limit):
    """What counts: of each person the earliest rows."""
    counted = []
    for person in sorted({row[0] for row in rows}):
        counted += sorted((row for row in rows if row[0] == person), key=lambda row: row[2])[:limit]
    return counted


def totals_are_those_of_the_earliest_rows(programs):
    """Totals at hardly any noise are those of each unit's three earliest rows; months add up."""
    place = Place(programs, "--append-only", "true")
    try:
        place.rows = made_rows(random.Random(3))
        place.rows += [("p1", "C", day(3), 1), ("", "A", day(3), 1), ("p2", "A", "", 1)]
        place.write()
        code, _, err = place.open()
        check(code == 0, err)
        made = place.json("series", "update", "daily")
        check(made["published"] == DAYS and made["closed_until"] == day(DAYS - 1), f"{made}")
        declared = [row for row in place.rows if row[0] and row[2] and row[1] in "AB"]
        truth = kept(declared, 3)
        points = place.points()
        check(len(points) == 2 * DAYS, f"{len(points)} points")
        per_day = {}
        for row in truth:  # which rows of its last day a unit keeps is drawn; their number is not
            per_day[row[2]] = per_day.get(row[2], 0) + 1
        for number in range(DAYS):
            both = [point for point in points if point["window"] == day(number)]
            told = sum(point["in_window"] for point in both)
            check(abs(told - per_day.get(day(number), 0)) <= 1, f"{day(number)}: {told}, {per_day.get(day(number), 0)}")
        check(abs(sum(point["total"] for point in points[-2:]) - len(truth)) <= 1, "the last totals")
        years = place.points("daily", "--by", "year")
        check(abs(sum(point["in_window"] for point in years) - len(truth)) <= 2, "years")
        check(place.holds(), "the ledger does not hold")
    finally:
        place.close()


def a_window_has_one_value_however_processes_die(programs):
    """24 updates, two at a time, half of them killed at random moments: each window that was ever shown has
    one value, the price is paid once, and the ledger holds."""
    place = Place(programs, "--append-only", "true")
    moments, shown, killed = random.Random(20261119), {}, 0
    try:
        place.rows = made_rows(random.Random(4))
        place.write()
        check(place.open("daily", "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "3", "0.5")[0] == 0, "open")
        began = time.monotonic()
        place.json("series", "list")
        usual = 2 * (time.monotonic() - began)
        for _ in range(12):
            pair = [place.start("series", "update", "daily", "--json") for _ in range(2)]
            time.sleep(moments.random() * usual)
            pair[0].send_signal(signal.SIGKILL)
            for process in pair:
                process.communicate(timeout=60)
                killed += process.returncode == -signal.SIGKILL
            for point in place.points():
                key = point["window"], point["keys"][0]
                check(shown.setdefault(key, point["total"]) == point["total"], f"{key} has two values")
        check(killed > 0 and len(shown) == 2 * DAYS, f"{killed} killed, {len(shown)} shown")
        events = place.json("history", "visits")["events"]
        check(len(events) == 1 and events[0]["cost"]["epsilon"] == 0.5, f"{events}")
        check(place.json("series", "update", "daily")["published"] == 0, "published again")
        check(place.holds(), "the ledger does not hold")
    finally:
        place.close()


def a_point_that_vanishes_is_damage_and_not_drawn_again(programs):
    place = Place(programs, "--append-only", "true")
    try:
        check(place.open()[0] == 0, "open")
        place.run("series", "update", "daily")
        with sqlite3.connect(place.path("brume.db")) as ledger:
            gone = ledger.execute("DELETE FROM answer WHERE committed = (SELECT max(committed) FROM answer)").rowcount
        check(gone == 1, "nothing was deleted")
        for words in (("update", "daily"), ("show", "daily")):
            code, out, err = place.brume("series", *words)
            check(code == 6 and not out and "not there" in err, f"{words}: exit {code}: {out}{err}")
    finally:
        place.close()


def what_no_series_can_be_is_refused_before_a_price(programs):
    place = Place(programs)
    try:
        count = "SELECT COUNT(*) FROM visits"
        check(place.open("daily", count)[0] == 3, "without append-only")
        check("append-only" in place.open("daily", count)[2], "the hint")
        check(place.open("daily", count, "3/day")[0] == 3, "a limit of windows without budgets of windows")
        place.run("amend", "visits", "--append-only", "true")
        for sql, code in ((count, 0), ("SELECT AVG(cost) FROM visits", 4), ("SELECT person, COUNT(*) FROM visits GROUP BY person", 4),
                          ("SELECT MEDIAN(cost) FROM visits", 4), ("SELECT COUNT(*), SUM(cost) FROM visits", 4),
                          ("SELECT COUNT(*) FROM visits HAVING COUNT(*) > 3", 4), ("SELECT 2 * COUNT(*) FROM visits", 4),
                          ("SELECT COUNT(*) FROM visits a JOIN visits b ON a.person = b.person", 4),
                          ("SELECT COUNT(*) FROM nothing", 4)):
            told = place.open("daily", sql, "3", "1", "--dry-run")
            check(told[0] == code or (code == 4 and "nothing" in sql and told[0] != 0), f"{sql}: {told}")
        for more, code in ((("--horizon", "soon"), 2), (("--close-after", "x"), 2), (("--ever",), 2), (("--delta", "1e-9"), 3)):
            told = place.open("daily", count, "3", "1", "--dry-run", *more)
            check(told[0] == code, f"{more}: {told}")
        for limit in ("0", "-1", "3/hour", "x", ""):
            check(place.open("daily", count, limit)[0] == 2, f"limit {limit}")
        check(place.json("history", "visits")["events"][-1]["state"] == "amended", "something was charged")
        check(place.json("series", "list") == {"series": []}, "a series is there")
        check(place.open("daily", count, "3", "1")[0] == 0 and place.open("daily", count, "3", "1")[0] == 3, "twice")
        check(place.open("a b", count)[0] == 2, "a name")
        check(place.open("dear", count, "3", "6000")[0] == 3, "more than the budget")
    finally:
        place.close()


def amending_the_policy_and_ending_stop_a_series(programs):
    place = Place(programs, "--append-only", "true")
    try:
        check(place.open("one")[0] == 0 and place.open("two")[0] == 0, "open")
        place.run("series", "update", "one")
        before = place.points("one")
        place.run("amend", "visits", "--budget", "epsilon=9000")
        check(place.brume("series", "update", "two")[0] == 0, "a budget does not end it")
        place.run("series", "end", "one")
        check(place.brume("series", "end", "one")[0] == 3, "ended twice")
        check(place.brume("series", "update", "one")[0] == 3, "an update of one that has ended")
        check(place.points("one") == before, "its totals stay")
        check(place.open("three", "SELECT COUNT(*) FROM visits", "3", "1")[0] == 0, "open")
        place.run("amend", "visits", "--domain", "ward=A,B,C")
        code, _, err = place.brume("series", "update", "three")
        check(code == 3 and "amended" in err, f"exit {code}: {err}")
        os.remove(place.path("visits.csv"))
        check(place.json("series", "show", "two")["points"], "shown without its source")
        check(place.holds(), "the ledger does not hold")
    finally:
        place.close()


def taking_append_only_back_ends_a_series_for_good(programs):
    """What was edited meanwhile is not covered: saying it again does not help. Another amendment does not end it."""
    place = Place(programs, "--append-only", "true")
    try:
        count = "SELECT COUNT(*) FROM visits"
        check(place.open("one", count, "3", "1")[0] == 0, "open")
        place.run("amend", "visits", "--timeout", "100")
        check(place.json("series", "update", "one")["published"] == DAYS, "an amendment that keeps append-only")
        check(place.open("two", count, "3", "1")[0] == 0, "open")
        place.run("amend", "visits", "--append-only", "false")
        place.run("amend", "visits", "--append-only", "true")
        for name in ("one", "two"):
            code, _, err = place.brume("series", "update", name)
            check(code == 3 and "ended" in err, f"exit {code}: {err}")
        check(place.json("series", "show", "one")["ended"] is True, "shown as going on")
        check(place.open("three", count, "3", "1")[0] == 0 and place.json("series", "update", "three")["published"] == DAYS, "a new one")
        check(place.holds(), "the ledger does not hold")
    finally:
        place.close()


def a_redacted_series_is_gone_and_the_others_are_listed(programs):
    """Its totals go with its text, so that has to be typed; the others stay, and its name is paid for again."""
    place = Place(programs, "--append-only", "true")
    try:
        for name in ("one", "two", "three"):
            check(place.open(name, "SELECT COUNT(*) AS n FROM visits", "3", "1")[0] == 0, "open")
            place.run("series", "update", name)
        charge = str(place.json("history", "visits")["events"][0]["id"])
        code, _, err = place.brume("ledger", "redact", charge, "--reason", "test")
        check(code == 3 and "--answers" in err and place.points("one"), f"exit {code}: {err}")
        place.run("ledger", "redact", charge, "--reason", "test", "--answers")
        names = [one["series"] for one in place.json("series", "list")["series"]]
        check(names == ["two", "three"], f"{names}")
        for name in ("four", "one", "five"):
            check(place.open(name, "SELECT COUNT(*) AS n FROM visits", "3", "1")[0] == 0, "open")
        names = {one["series"] for one in place.json("series", "list")["series"]}
        check(names == {"one", "two", "three", "four", "five"}, f"{names}")
        paid = [event["cost"]["epsilon"] for event in place.json("history", "visits")["events"]]
        check(paid == [1] * 6, f"the name was not paid for again: {paid}")
        check(not place.points("one") and place.holds(), "the ledger does not hold")
    finally:
        place.close()


def bars_say_what_they_leave_out(programs):
    """Wherever a number is shown; and windows close two days after their end unless typed."""
    place = Place(programs, "--append-only", "true")
    try:
        count = "SELECT COUNT(*) AS n FROM visits"
        told = place.run("series", "open", "daily", count, "--limit", "3", "--epsilon", "1", "--window", "day day",
                         "--from", str(FIRST), "--horizon", "400")
        check("2d after" in told and "comes on top" in told, told)
        made = place.json("series", "update", "daily")
        check(made["published"] == DAYS - 2, f"{made}")
        told = " ".join(place.run("series", "show", "daily").split())
        check("later than 2d after" in told and told.count("does not include") == 2, told)
        shown = place.json("series", "show", "daily")
        check((shown["error_covers"], shown["late_rows"], shown["close_after"]) == ("noise", "in part", "2d"), f"{shown}")
        dry = place.brume("series", "open", "b", count, "--limit", "3", "--epsilon", "1", "--window", "day day",
                          "--close-after", "36h", "--dry-run")
        check("36h after" in dry[1], f"{dry}")
        table = list(csv.DictReader(io.StringIO(place.run("series", "show", "daily", "--format", "csv"))))
        check(all(row["error_covers"] == "noise" for row in table) and len(table) == DAYS - 2, "CSV")
        place.run("series", "show", "daily", "--plot", place.path("totals.svg"))
        with open(place.path("totals.svg"), encoding="utf-8") as picture:
            check("late rows" in picture.read(), "the picture")
    finally:
        place.close()


def catching_up_is_the_same_as_day_by_day(programs):
    """A source that is gone records nothing, and the next update catches up; sums and units too."""
    place = Place(programs, "--append-only", "true")
    try:
        place.rows = made_rows(random.Random(5))
        place.write()
        check(place.open("sum", "SELECT SUM(cost) AS total FROM visits", "100000")[0] == 0, "sum")
        check(place.open("ever", "SELECT COUNT(DISTINCT person) AS people FROM visits", "1", "2000", "--ever")[0] == 0, "ever")
        os.rename(place.path("visits.csv"), place.path("away.csv"))
        check(place.brume("series", "update", "sum")[0] == 6, "a source that is gone")
        os.rename(place.path("away.csv"), place.path("visits.csv"))
        for name in ("sum", "ever"):
            place.run("series", "update", name)
        for number in range(DAYS):
            point = place.points("sum")[number]
            truth = sum(row[3] for row in place.rows if row[2] <= day(number))
            check(abs(point["total"] - truth) <= 12 * point["error_95"] + 1, f"{point} {truth}")
        people = len({row[0] for row in place.rows})
        check(abs(place.points("ever")[-1]["total"] - people) <= 1, "people")
        told = list(csv.DictReader(io.StringIO(place.run("series", "show", "sum", "--format", "csv"))))
        check(len(told) == DAYS and float(told[-1]["total"]) == place.points("sum")[-1]["total"], "CSV")
        place.run("series", "show", "sum", "--plot", place.path("sum.svg"))
        with open(place.path("sum.svg"), encoding="utf-8") as picture:
            check("<svg" in picture.read(300), "a picture")
    finally:
        place.close()


WINDOWED = ["--window", "day day", "--window-budget", "epsilon=5000"]


def open_windowed(place, name, limit, epsilon, *more):
    return place.brume("series", "open", name, "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "--limit",
                       limit, "--epsilon", epsilon, "--from", str(FIRST), "--horizon", "60", "--close-after", "0d",
                       *more)


def a_limit_of_each_window_is_paid_by_each_window(programs):
    """Datasets whose units have no budget: each window of the horizon pays the price once, a person counts with
    at most so many rows of a day, and rows may change."""
    place = Place(programs, *WINDOWED, budget="none")
    try:
        place.rows = made_rows(random.Random(6), 100)
        place.rows += [("p1", "A", day(3), 1)] * 7
        place.write()
        code, out, err = open_windowed(place, "daily", "2/day", "2000", "--json")
        check(code == 0 and '"unit-window"' in out, err)
        code, _, err = open_windowed(place, "all", "2", "1")
        check(code == 3 and "only added" in err, f"a limit for all time without the owner's word: {code}: {err}")
        runs = place.json("budget", "visits")["windows"]["runs"]
        check([(run["first"], run["last"], run["left"]["epsilon"]) for run in runs] == [(day(0), day(59), 3000.0)],
              f"{runs}")
        half = place.rows
        place.run("series", "update", "daily")
        truth = {}
        for person, _, at, _ in half:
            if at:
                truth[at, person] = min(2, truth.get((at, person), 0) + 1)
        for number in range(DAYS):
            told = sum(point["in_window"] for point in place.points() if point["window"] == day(number))
            sure = sum(count for (at, _), count in truth.items() if at == day(number))
            check(abs(told - sure) <= 1, f"{day(number)}: {told}, {sure}")
        place.run("amend", "visits", "--timeout", "100")
        check(place.json("series", "update", "daily")["published"] == 0, "an amendment ended it")
        code, _, err = open_windowed(place, "more", "2/day", "3001")
        check(code == 3 and day(0) in err and "nothing was charged" in err, f"{code}: {err}")
        code, _, err = place.brume("series", "open", "w", "SELECT COUNT(*) FROM visits", "--limit", "2/day", "--epsilon",
                                   "1", "--window", "day week")
        check(code == 2 and "has windows already" in err, f"{code}: {err}")
        check(place.holds(), "the ledger does not hold")
    finally:
        place.close()


def a_limit_for_all_time_is_paid_by_a_history_and_twice_by_each_window(programs):
    """Rows of later windows count in the place of those that go: windows pay for a unit that is replaced."""
    for rule, price, each in (("epsilon=5000", ["--epsilon", "1"], 2.0),
                              ("epsilon=5000,delta=1e-6", ["--rho", "0.5"], 1.0),
                              ("epsilon=5000,delta=1e-6", ["--epsilon", "1", "--delta", "1e-9"], None)):
        more = ["--rule", "approximate"] if each is None else ["--rule", "concentrated"] if "delta" in rule else []
        window = ["--window", "day day", "--window-budget", rule]
        place = Place(programs, "--append-only", "true", *window, *more, budget=rule)
        try:
            sql = "SELECT COUNT(*) AS n FROM visits"
            opened = place.json("series", "open", "daily", sql, "--limit", "2", *price, "--horizon", "60")
            paid = opened["windows"]["price"]["rho" if "--rho" in price else "epsilon"]
            check(opened["protects"] == "unit" and opened["windows"]["count"] == 60, f"{opened}")
            if each is None:  # the change is the square root of 2 times as large: more than that in epsilon
                check(1.42 < paid < 1.6, f"{paid}")
            else:
                check(paid == each, f"{paid} for {each}")
            check(place.holds(), "the ledger does not hold")
        finally:
            place.close()


if __name__ == "__main__":
    sys.exit(run_functions([totals_are_those_of_the_earliest_rows, a_window_has_one_value_however_processes_die,
                            a_point_that_vanishes_is_damage_and_not_drawn_again,
                            what_no_series_can_be_is_refused_before_a_price,
                            amending_the_policy_and_ending_stop_a_series,
                            taking_append_only_back_ends_a_series_for_good,
                            a_redacted_series_is_gone_and_the_others_are_listed, bars_say_what_they_leave_out, catching_up_is_the_same_as_day_by_day,
                            a_limit_of_each_window_is_paid_by_each_window,
                            a_limit_for_all_time_is_paid_by_a_history_and_twice_by_each_window],
                           sys.argv[1]))
