#!/usr/bin/env python3
"""A made hospital, to look at answers on skewed data: visits.csv with 50,000 patients and 400,000
visits, one patient with 1,065 of them, and wards of very different size.

    bench/hospital.py FOLDER
"""
import pathlib
import random
import sys

PATIENTS, VISITS, MOST = 50_000, 400_000, 1_065
WARDS = {"emergency": 40, "surgery": 21, "medicine": 18, "dialysis": 8, "oncology": 6, "children": 4,
         "eyes": 1.7, "maternity": 1.2, "burns": 0.1}


def visits_of_each(draw):
    """How many visits each patient has: most a few, some many, one MOST; VISITS together."""
    counts = [1 + int(draw.lognormvariate(1.2, 1.05)) for _ in range(PATIENTS - 1)]
    counts = [min(count, 600) for count in counts]
    wanted = VISITS - MOST
    while sum(counts) != wanted:
        at, more = draw.randrange(len(counts)), sum(counts) < wanted
        counts[at] = counts[at] + 1 if more else max(1, counts[at] - 1)
    return [MOST] + counts


def main(folder):
    draw = random.Random(20261118)
    names, weights = list(WARDS), list(WARDS.values())
    lines = []
    for patient, count in enumerate(visits_of_each(draw)):
        home = "dialysis" if count > 100 else None
        age = min(110, max(0, int(draw.gauss(52, 23))))
        for _ in range(count):
            ward = home if home and draw.random() < .9 else draw.choices(names, weights)[0]
            day = f"{draw.choice((2023, 2024))}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
            cost = min(60000, int(draw.lognormvariate(6.3, 1.1)))
            lines.append(f"{patient},{ward},{day},{age},{draw.choice('fm')},{cost}\n")
    draw.shuffle(lines)
    path = pathlib.Path(folder) / "visits.csv"
    path.write_text("patient_id,ward,day,age,sex,cost\n" + "".join(lines))
    print(f"{path}: {len(lines):,} visits of {PATIENTS:,} patients")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
