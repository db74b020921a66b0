#!/usr/bin/env python3
"""ledgers: the bars of a hospital's counts, through the command line, on fresh ledgers.

    ledgers BRUME CLINIC_VISITS [LEDGERS [EPSILON]]     100 ledgers at epsilon 0.3 unless said

The file has 50,000 patients with 400,000 visits, one of them with 1,065 (hospital.csv: how many patients
have how many visits), in eight wards; those with more than 150 visits come for dialysis mostly. Each
ledger is asked for the number of visits once; then one ledger three times at slightly other prices, with
what `explain` announced before each. A table of 10,000 people with one row each is asked for its number at
epsilon 1, on as many ledgers: how often is it said that some may have more? Printed: the bar that is shown, in order, how often it covers the
truth, the greatest error, and of the three questions announced and shown bar.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

BRUME = os.path.abspath(sys.argv[1])
LEDGERS = int(sys.argv[3]) if len(sys.argv) > 3 else 100
EPSILON = float(sys.argv[4]) if len(sys.argv) > 4 else 0.3
WARDS = {"emergency": 30, "surgery": 15, "cardiology": 15, "maternity": 1.2, "dialysis": 2, "oncology": 6,
         "pediatrics": 20, "dental": 12}
COUNT = "SELECT COUNT(*) AS n FROM visits"


def make(path):
    random.seed(5)
    rows = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hospital.csv")
    names, weights, total, patient = list(WARDS), list(WARDS.values()), 0, 0
    with open(rows, encoding="ascii") as source, open(path, "w", encoding="ascii") as out:
        out.write("patient,ward,cost\n")
        for line in csv.DictReader(source):
            visits = int(line["visits"])
            for _ in range(int(line["patients"])):
                patient += 1
                total += visits
                for _ in range(visits):
                    often = visits > 150 and random.random() < 0.8
                    ward = "dialysis" if often else random.choices(names, weights)[0]
                    out.write(f"p{patient},{ward},{int(random.lognormvariate(5, 1))}\n")
    return total


def brume(folder, ledger, *words):
    done = subprocess.run([BRUME, *words, "--json"], cwd=folder, capture_output=True, check=True, text=True,
                          env={**os.environ, "BRUME_LEDGER": ledger})
    return json.loads(done.stdout)


def register(folder, ledger):
    brume(folder, ledger, "register", "visits", "visits.csv", "--unit", "patient", "--budget", "epsilon=1000",
          "--bounds", "cost=0..20000", "--domain", "ward=" + ",".join(WARDS))


def one_row_each(folder):
    with open(os.path.join(folder, "people.csv"), "w", encoding="ascii") as out:
        out.write("person\n" + "".join(f"p{i}\n" for i in range(10000)))
    said = 0
    for number in range(LEDGERS):
        ledger = os.path.join(folder, f"people{number}.ledger")
        brume(folder, ledger, "register", "people", "people.csv", "--unit", "person", "--budget", "epsilon=10")
        answer = brume(folder, ledger, "query", "SELECT COUNT(*) AS n FROM people", "--epsilon", "1")
        said += "cut_hidden" in answer["columns"][0]
    print(f"10,000 people with one row each, epsilon 1, {LEDGERS} ledgers: {said} say that some may have more, unseen")


def bar(column):
    return column["error_95"] + (column.get("cut_allowance") or 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        truth = make(os.path.join(folder, "visits.csv"))
        bars, errors, covered = [], [], 0
        for number in range(LEDGERS):
            ledger = os.path.join(folder, f"{number}.ledger")
            register(folder, ledger)
            answer = brume(folder, ledger, "query", COUNT, "--epsilon", str(EPSILON))
            bars.append(bar(answer["columns"][0]))
            errors.append(abs(answer["rows"][0][0] - truth))
            covered += errors[-1] <= bars[-1]
        bars.sort()
        print(f"{truth} visits, epsilon {EPSILON}, {LEDGERS} ledgers: median bar {bars[len(bars) // 2]:.0f}, "
              f"least {bars[0]:.0f}, greatest {bars[-1]:.0f}; covers the truth in {covered}; "
              f"greatest error {max(errors):.0f}")
        ledger = os.path.join(folder, "again.ledger")
        register(folder, ledger)
        for i in range(4):
            epsilon = str(EPSILON + i / 1000)
            announced = brume(folder, ledger, "explain", COUNT, "--epsilon", epsilon)["columns"][0]["bar_95"]
            shown = bar(brume(folder, ledger, "query", COUNT, "--epsilon", epsilon)["columns"][0])
            text = "not known" if announced is None else (
                f"{announced[0]:.0f} to {announced[1]:.0f}" if isinstance(announced, list) else f"{announced:.0f}")
            print(f"question {i + 1} on one ledger: announced {text}, shown {shown:.0f}")
        one_row_each(folder)


main()
