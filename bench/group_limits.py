"""group_limits: how should the limit of small groups beside large ones be found? A simulation.

    group_limits BRUME CLINIC_VISITS [SHAPE]     all shapes unless one is named

A count by group under Laplace noise, by three designs. `one`: one limit on the sum of a unit's rows over all groups.
`root`, `size`: the same for weighted rows, where the groups' limits go as the root of their sizes, or as their
sizes (noise goes with them). `apart`: groups with less than an eighth of the largest are a question of their own, each of two
for half of the price. Sizes are noisy votes (each unit spreads one vote by its rows) for 0.03 of the price.

Limits are the best that one could choose by looking at the data, for a bar of noise and all that is cut, at 0.35 of
the price, which gives about the bars of the shipped rule at all of it. Printed: bar over value of the largest and of the smallest group,
their geometric mean over all groups, and how many are below a tenth and above 1.
"""
import csv
import math
import pathlib
import random
import subprocess
import sys
import tempfile
from collections import defaultdict

ONLY = sys.argv[3] if len(sys.argv) > 3 else ""
LEFT = 0.35
LIMITS = sorted({2**k for k in range(30)} | {3 * 2**k for k in range(30)}, reverse=True)


def hospital(key):
    with tempfile.TemporaryDirectory() as folder:
        tool = pathlib.Path(__file__).resolve().parent.parent / "tools/hospital"
        subprocess.run([sys.executable, str(tool), folder], check=True, stdout=subprocess.DEVNULL)
        units = defaultdict(lambda: defaultdict(int))
        with open(pathlib.Path(folder) / "visits.csv", encoding="ascii") as rows:
            for row in csv.DictReader(rows):
                units[row["patient_id"]][key(row)] += 1
    return list(units.values())


def made(people, groups, fall, rows, home):
    """Units whose rows are in their own group with the chance `home`; groups fall off as a power."""
    weights = [1 / (i + 1) ** fall for i in range(groups)]
    units = []
    for _ in range(people):
        own, unit = random.choices(range(groups), weights)[0], defaultdict(int)
        for _ in range(min(3000, rows())):
            unit[own if random.random() < home else random.choices(range(groups), weights)[0]] += 1
        units.append(unit)
    return units


SHAPES = {
    "hospital by ward": lambda: hospital(lambda row: row["ward"]),
    "hospital by age": lambda: hospital(lambda row: int(row["age"]) // 10),
    "hospital by month": lambda: hospital(lambda row: row["day"][:7]),
    "towns": lambda: made(20000, 30, 1.3, lambda: random.randint(1, 20), 1),
    "countries": lambda: made(20000, 30, 1.3, lambda: 1 + int(random.lognormvariate(1, 1.3)), 0.8),
    "articles": lambda: made(10000, 100, 1, lambda: 1 + int(random.lognormvariate(2, 1)), 0),
    "a rare flag": lambda: made(50000, 2, 6.6, lambda: random.choice([1] * 9 + [2]), 1),
}


def shortest_bar(norms, epsilon):
    """Of noise and cut together, by the best limit."""
    norms, above, sum_above, best = sorted(norms, reverse=True), 0, 0, math.inf
    for limit in LIMITS:
        while above < len(norms) and norms[above] > limit:
            sum_above += norms[above]
            above += 1
        best = min(best, 3 * limit / (LEFT * epsilon) + sum_above - above * limit)
    return best


def weighted(units, weights, epsilon):
    bar = shortest_bar([sum(n * weights[group] for group, n in unit.items()) for unit in units], epsilon)
    return {group: bar / weight for group, weight in weights.items()}


def apart(units, classes, epsilon):
    bars = {}
    for groups in classes:
        norms = [sum(n for group, n in unit.items() if group in groups) for unit in units]
        bars.update(dict.fromkeys(groups, shortest_bar(norms, epsilon / len(classes))))
    return bars


def main():
    random.seed(4)
    for name, make in SHAPES.items():
        if ONLY not in name:
            continue
        units, sizes, votes = make(), defaultdict(int), defaultdict(float)
        for unit in units:
            for group, n in unit.items():
                sizes[group] += n
                votes[group] += n / sum(unit.values())
        order = sorted(sizes, key=sizes.get)
        for epsilon in (0.3, 1):
            noise = 1 / (0.03 * epsilon)
            seen = {group: max(3 * noise, votes[group] + random.choice((-1, 1)) * random.expovariate(1 / noise))
                    for group in order}
            most, left = max(seen.values()), 0.97 * epsilon
            small = {group for group in order if seen[group] < most / 8}
            designs = {
                "one": weighted(units, dict.fromkeys(order, 1), epsilon),
                "root": weighted(units, {group: math.sqrt(most / seen[group]) for group in order}, left),
                "size": weighted(units, {group: most / seen[group] for group in order}, left),
                "apart": apart(units, [part for part in (set(order) - small, small) if part], left),
            }
            print(f"{name}, epsilon {epsilon}: {len(units)} units in {len(order)} groups, {len(small)} of them small")
            for design, bars in designs.items():
                ratios = [bars[group] / sizes[group] for group in order]
                mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
                print(f"  {design:6} largest {ratios[-1]:7.4f}  smallest {ratios[0]:7.3f}  mean {mean:7.4f}  "
                      f"short {sum(ratio < 0.1 for ratio in ratios):3}  too few {sum(ratio > 1 for ratio in ratios):3}",
                      flush=True)


main()
