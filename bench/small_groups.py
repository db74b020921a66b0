"""small_groups: what does a question of their own give small groups?

    small_groups BRUME CLINIC_VISITS [LEDGERS]     8 ledgers unless said

The hospital of tools/hospital is asked for the visits in each ward at epsilon 1, and on other ledgers for the
same in two questions at epsilon 0.5 each: the five large wards in one, the four small ones in the other. Printed
for each ward: its visits, and the median bar over them, in one question and in two; and in how many of the
cells the bar holds the truth.
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter

BRUME = os.path.abspath(sys.argv[1])
LEDGERS = int(sys.argv[3]) if len(sys.argv) > 3 else 8
LARGE = ["emergency", "surgery", "medicine", "dialysis", "oncology"]
SMALL = ["children", "eyes", "maternity", "burns"]
SQL = "SELECT ward, COUNT(*) AS n FROM visits{} GROUP BY ward"


def brume(folder, ledger, *words):
    done = subprocess.run([BRUME, *words, "--json"], cwd=folder, capture_output=True, check=False, text=True,
                          env={**os.environ, "BRUME_LEDGER": ledger})
    if done.returncode != 0:
        sys.exit(f"small_groups: brume {' '.join(words)}\n{done.stderr}")
    return json.loads(done.stdout)


def ask(folder, ledger, wards, epsilon):
    """(ward, number, bar) of each ward."""
    where = " WHERE ward IN (" + ", ".join(f"'{ward}'" for ward in wards) + ")" if wards else ""
    answer = brume(folder, ledger, "query", SQL.format(where), "--epsilon", epsilon)
    bar = answer["columns"][1]["bar_95"]
    return [(ward, n, bar) for ward, n in answer["rows"] if not wards or ward in wards]


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(pathlib.Path(__file__).resolve().parent.parent / "tools/hospital"), folder],
                       check=True)
        with open(os.path.join(folder, "visits.csv"), encoding="ascii") as rows:
            truth = Counter(row["ward"] for row in csv.DictReader(rows))
        bars, held, cells = {}, [0, 0], 0
        for number in range(2 * LEDGERS):
            ledger, two = f"{number}.db", number % 2
            brume(folder, ledger, "register", "visits", "visits.csv", "--unit", "patient_id", "--budget", "epsilon=10",
                  "--domain", "ward=" + ",".join(LARGE + SMALL))
            cells += 1 - two
            for ward, n, bar in (ask(folder, ledger, LARGE, "0.5") + ask(folder, ledger, SMALL, "0.5") if two
                                 else ask(folder, ledger, None, "1")):
                bars.setdefault((ward, two), []).append(bar)
                held[two] += abs(n - truth[ward]) <= bar
        print(f"{'ward':10} {'visits':>8} {'one question':>14} {'two questions':>14}")
        for ward in LARGE + SMALL:
            middle = [sorted(bars[ward, two])[LEDGERS // 2] for two in (0, 1)]
            print(f"{ward:10} {truth[ward]:8} {middle[0]:7.0f} {100 * middle[0] / truth[ward]:4.0f} % "
                  f"{middle[1]:7.0f} {100 * middle[1] / truth[ward]:4.0f} %")
        print(f"of {cells * len(LARGE + SMALL)} cells each the bar holds the truth in {held[0]} and {held[1]}")


main()
