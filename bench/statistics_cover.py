#!/usr/bin/env python3
"""statistics_cover: how often intervals hold what they are for.

    ./run bench statistics_cover [RUNS [QUERIES]]      RUNS of 20 designs each, 100 unless said; QUERIES, 200

Coefficients of `brume release regression --method ridge` on 20 designs (one to three columns, correlated or not,
3,000 to 20,000 rows, Laplace and Gaussian noise): the share of the intervals at 95 % that hold the least
squares of the rows, for each design and in all. Then CORR, COVAR_POP and REGR_SLOPE in SQL, of persons with one
row and with many, at epsilon 1: how often the intervals hold the values of all rows, and how wide they are.
Intervals of SQL hold five numbers at once, so that they cover more than 95 %; where persons have many rows they
also allow for what a limit cuts.
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile


def solve(matrix, right):
    """Gauss with pivots."""
    rows = [list(row) + [b] for row, b in zip(matrix, right)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(len(rows)):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def least_squares(xs, y):
    rows = [list(row) + [1.0] for row in zip(*xs)]
    size = len(rows[0])
    matrix = [[sum(row[i] * row[j] for row in rows) for j in range(size)] for i in range(size)]
    return solve(matrix, [sum(row[i] * b for row, b in zip(rows, y)) for i in range(size)])


def design(number):
    """Columns within 0..10, a target within 0..40, and how they are asked about."""
    chance = random.Random(number)
    features, count = 1 + number % 3, [3000, 6000, 20000][number % 3 if number % 2 else 2 - number % 3]
    mixed = [0, 0.4][number % 2]
    xs = [[] for _ in range(features)]
    y = []
    slopes = [chance.uniform(-2, 2) for _ in range(features)]
    for _ in range(count):
        shared = chance.uniform(0, 10)
        row = [mixed * shared + (1 - mixed) * chance.uniform(0, 10) for _ in range(features)]
        target = 20 + sum(s * (x - 5) for s, x in zip(slopes, row)) + chance.gauss(0, 1.5)
        for to, x in zip(xs, row):
            to.append(round(x, 3))
        y.append(round(min(40, max(0, target)), 3))
    return xs, y, [] if number % 4 < 2 else ["--delta", "1e-6"]


def run(brume, folder, *words):
    result = subprocess.run([brume, *words, "--json"], cwd=folder, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"statistics_cover: {' '.join(words)}: {result.stderr}")
    return json.loads(result.stdout)


def regressions(brume, folder, runs):
    held = asked = 0
    print("design  columns    rows  noise     held  of")
    for number in range(20):
        xs, y, delta = design(number)
        names = [f"x{i}" for i in range(len(xs))]
        with open(os.path.join(folder, "design.csv"), "w") as out:
            out.write(",".join(names + ["y"]) + "\n")
            out.writelines(",".join(map(str, row)) + "\n" for row in zip(*xs, y))
        truth, own, all_own = least_squares(xs, y), 0, 0
        bounds = [word for name in names for word in ("--bounds", f"{name}=0.000..10.000")]
        for _ in range(runs):
            answer = run(brume, folder, "release", "regression", "design.csv", "--method", "ridge", "--columns",
                         ",".join(names), "--target", "y", *bounds, "--bounds", "y=0.000..40.000", "--epsilon", "1",
                         "--no-ledger", *delta)
            for interval, right in zip(answer["rows_interval_95"], truth):
                all_own += interval is not None
                own += interval is not None and interval[0] <= right <= interval[1]
        held, asked = held + own, asked + all_own
        print(f"{number + 1:6}  {len(xs):7}  {len(y):6}  {'gaussian' if delta else 'laplace':8}  "
              f"{100 * own / max(1, all_own):.1f} %  {all_own}")
    print(f"all: {100 * held / asked:.1f} % of {asked}\n")


def moments(pairs):
    n = len(pairs)
    mean_y, mean_x = (sum(p[i] for p in pairs) / n for i in (0, 1))
    both = sum((y - mean_y) * (x - mean_x) for y, x in pairs) / n
    var_y, var_x = sum((y - mean_y) ** 2 for y, _ in pairs) / n, sum((x - mean_x) ** 2 for _, x in pairs) / n
    return {"CORR": both / math.sqrt(var_y * var_x), "COVAR_POP": both, "REGR_SLOPE": both / var_x}


def queries(brume, folder, count):
    chance = random.Random(7)
    print("rows of one person  function      held   of  true value  median half-width")
    for rows in (1, "many"):
        pairs, name = [], f"people_{rows}"
        with open(os.path.join(folder, name + ".csv"), "w") as out:
            out.write("id,x,y\n")
            for person in range(10000):
                for _ in range(1 if rows == 1 else 1 + int(chance.expovariate(1 / 3))):
                    x = round(chance.uniform(0, 10), 2)
                    y = round(min(40, max(0, 5 + 2 * x + chance.gauss(0, 5))), 2)
                    pairs.append((y, x))
                    out.write(f"{person},{x},{y}\n")
        with open(os.path.join(folder, name + ".yaml"), "w") as out:
            out.write(f"budget: {{epsilon: 100000}}\ntables:\n  {name}:\n    source: {name}.csv\n    unit: id\n"
                      f"    columns: id integer, x double, y double\n    bounds: {{x: 0..10, y: 0..40}}\n"
                      + ("    max-rows: 1\n" if rows == 1 else ""))
        run(brume, folder, "register", name, "--policy", name + ".yaml", "--ledger", "ledger")
        for function, right in moments(pairs).items():
            held, widths = 0, []
            for i in range(count):
                answer = run(brume, folder, "query", f"SELECT {function}(y, x) AS v FROM {name}", "--epsilon",
                             f"1.{i + 1:06}", "--ledger", "ledger")
                value, bar = answer["rows"][0][0], answer["columns"][0].get("bar_95")
                bars = answer.get("rows_bar_95")
                bar = bars[0][0] if bar is None and bars else bar
                held += value is None or bar is None or abs(value - right) <= bar
                widths.append(math.inf if bar is None else bar)
            print(f"{rows!s:18}  {function:10}  {100 * held / count:6.1f} %  {count:3}  {right:10.4f}  "
                  f"{sorted(widths)[count // 2]:.4f}")


def main():
    brume = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 200
    with tempfile.TemporaryDirectory() as folder:
        regressions(brume, folder, runs)
        queries(brume, folder, count)


if __name__ == "__main__":
    main()
