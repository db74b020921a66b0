"""preview: does the bar that is announced hold? Random questions through the command line.

    preview BRUME CLINIC_VISITS [QUESTIONS [SEED]]     1,000 questions unless said

A table of 12,500 patients with 100,000 visits (every fourth of hospital.csv, one with 1,065) is asked random
counts, sums and means, of random wards, costs and sexes, with and without groups, at random prices from
epsilon 0.1 to 2. The limits of each question are bought first, by `limits` or by the same question at another price; then `explain` announces
a bar, and `query` shows one. Printed by kind of question: how many were asked and announced a bar, the median
and the greatest of shown over announced, and how many are within 1.2 times what was announced. `to the digit`:
explain says the bar, and not "about". Every question is of other rows, so that none uses the looks of another.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

BRUME = os.path.abspath(sys.argv[1])
QUESTIONS = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
WARDS = {"emergency": 30, "surgery": 15, "cardiology": 15, "dialysis": 4, "oncology": 6, "pediatrics": 20}


def make(path):
    draw = random.Random(5)
    rows = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hospital.csv")
    names, weights, patient = list(WARDS), list(WARDS.values()), 0
    with open(rows, encoding="ascii") as source, open(path, "w", encoding="ascii") as out:
        out.write("patient,ward,sex,cost\n")
        for line in csv.DictReader(source):
            visits = int(line["visits"])
            for _ in range(int(line["patients"])):
                patient += 1
                if patient % 4 and visits < 1000:
                    continue
                sex = draw.choice("fm")
                for _ in range(visits):
                    often = visits > 150 and draw.random() < 0.8
                    ward = "dialysis" if often else draw.choices(names, weights)[0]
                    out.write(f"{patient},{ward},{sex},{int(draw.lognormvariate(5, 1))}\n")


def brume(folder, *words):
    done = subprocess.run([BRUME, *words, "--json"], cwd=folder, capture_output=True, check=False, text=True,
                          env={**os.environ, "BRUME_LEDGER": "one.db"})
    if done.returncode != 0:
        sys.exit(f"preview: brume {' '.join(words)}\n{done.stderr}")
    return json.loads(done.stdout)


def question(draw, number):
    """(kind, SQL): the condition on `cost` is another one for each number."""
    kind, what = draw.choice([("count", "COUNT(*)"), ("sum", "SUM(cost)"), ("mean", "AVG(cost)")])
    where = [f"cost > {draw.choice((1, 20, 60, 150))}", f"{number} = {number}"]
    if draw.random() < 0.4:
        where.append("ward IN (" + ", ".join(f"'{ward}'" for ward in draw.sample(list(WARDS), 3)) + ")")
    if draw.random() < 0.3:
        where.append(f"sex = '{draw.choice('fm')}'")
    key = draw.choice(["", "", "ward", "sex"]) if kind != "mean" else ""
    group = f" GROUP BY {key}" if key else ""
    return (kind + (" by group" if key else ""),
            f"SELECT {key + ', ' if key else ''}{what} AS n FROM visits WHERE {' AND '.join(where)}{group}")


def shown_bar(answer):
    return [one.get("bar_95") for one in answer["columns"] if one["name"] == "n"][0]


def main():
    draw = random.Random(SEED)
    kinds = {}
    with tempfile.TemporaryDirectory() as folder:
        make(os.path.join(folder, "visits.csv"))
        brume(folder, "register", "visits", "visits.csv", "--unit", "patient", "--budget", "epsilon=1e6",
              "--bounds", "cost=0..20000", "--domain", "ward=" + ",".join(WARDS), "--domain", "sex=f,m")
        for number in range(1, QUESTIONS + 1):
            kind, sql = question(draw, number)
            first, then = (f"{0.1 * 20 ** draw.random():.3f}" for _ in range(2))
            brume(folder, draw.choice(["limits", "query"]), sql, "--epsilon", first)
            told = [one for one in brume(folder, "explain", sql, "--epsilon", then)["columns"] if one["name"] == "n"][0]
            announced, shown = told["bar_95"], shown_bar(brume(folder, "query", sql, "--epsilon", then))
            for name in (kind, "all", "all, about" if told.get("bar_about") else "all, to the digit"):
                of = kinds.setdefault(name, {"asked": 0, "ratios": []})
                of["asked"] += 1
                if isinstance(announced, (int, float)) and shown is not None:
                    of["ratios"].append(shown / announced)
    print(f"{'kind':18} {'asked':>5} {'told':>5} {'median':>7} {'99 %':>6} {'greatest':>8} {'within 1.2':>10}")
    for name in sorted(kinds):
        ratios = sorted(kinds[name]["ratios"])
        if ratios:
            within = sum(ratio <= 1.2 for ratio in ratios)
            print(f"{name:18} {kinds[name]['asked']:5} {len(ratios):5} {ratios[len(ratios) // 2]:7.3f} "
                  f"{ratios[int(0.99 * (len(ratios) - 1))]:6.3f} {ratios[-1]:8.3f} {within:5} ({100 * within / len(ratios):.1f} %)")


main()
