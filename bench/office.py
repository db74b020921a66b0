"""office: what a hospital's office asks (office.sql), through the command line, on a fresh ledger each.

    office BRUME CLINIC_VISITS [ROUNDS [--show]]     2 rounds unless said

The data are those of tools/hospital: 50,000 patients with 400,000 visits, one of them with 1,065, in wards of
400 to 158,000 visits. The owner declares domains and bounds and no ceiling. Truths come from the same file as
a public table. A line for each question: its price; how many of its bars are shorter than a tenth of the
value, how many cells say that they are too few, and how many are neither; of the values how many are within
their bars; the median bar over its value. --show prints each answer of the first round as well, with its notes.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BRUME = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 2
SHOW = "--show" in sys.argv
HERE = pathlib.Path(__file__).resolve().parent
POLICY = """budget: epsilon=1000,delta=1e-6
unit-name: patient
tables:
  visits:
    source: visits.csv
    unit: patient_id
    columns: patient_id integer, day date
    bounds: {age: 0..110, cost: 0..100000, day: 2023-01-01..2024-12-31}
    domain:
      ward: [emergency, surgery, medicine, dialysis, oncology, children, eyes, maternity, burns]
      sex: [f, m]
"""


def questions():
    text = (HERE / "office.sql").read_text(encoding="utf-8")
    for price, words, sql in re.findall(r"^-- ([\d.]+) (.*)\n((?:(?!--).+\n)+)", text, re.M):
        yield price, words, sql.strip().rstrip(";")


def brume(folder, ledger, *words):
    done = subprocess.run([BRUME, *words], cwd=folder, capture_output=True, check=False, text=True,
                          env={**os.environ, "BRUME_LEDGER": ledger})
    if done.returncode != 0:
        sys.exit(f"office: brume {' '.join(words)}\n{done.stderr}")
    return done.stdout


def keyed(answer, keys):
    """Rows by their keys as text; dates and months by what they share."""
    return {tuple(re.sub(r" 00:00:00$|\.0$", "", str(row[i])) for i in keys): row for row in answer["rows"]}


def bar_of(answer, row, column):
    """The half-width that is shown, or None."""
    ends = answer.get("rows_interval_95")
    if ends and ends[row][column]:
        low, high = ends[row][column]
        return (high - low) / 2
    if "rows_bar_95" in answer:
        return answer["rows_bar_95"][row][column]
    return answer["columns"][column].get("bar_95")


def judge(answer, truth):
    """(short, too few, long, held, asked, ratios) over the cells of an answer."""
    short = few = rest = held = asked = 0
    ratios = []
    names = [one["name"] for one in answer["columns"]]
    keys = [i for i, one in enumerate(answer["columns"]) if one["role"] == "key"]
    true = keyed(truth, keys)
    for r, (key, row) in enumerate(keyed(answer, keys).items()):
        for i in range(len(names)):
            bar, flags = bar_of(answer, r, i), answer.get("rows_too_few")
            if i in keys or (isinstance(row[i], str) and bar is None):
                continue
            if flags and flags[r][i]:
                few += 1
            elif bar is not None and bar <= abs(row[i] or 0) / 10:
                short += 1
            else:
                rest += 1
            if bar is None or row[i] is None:
                continue
            exact = true[key][i] if key in true else 0
            ends = (answer.get("rows_interval_95") or {r: {i: None}})[r][i] or (row[i] - bar, row[i] + bar)
            asked += 1
            held += ends[0] - 1e-6 <= float(exact or 0) <= ends[1] + 1e-6
            if row[i]:
                ratios.append(bar / abs(row[i]))
    return short, few, rest, held, asked, ratios


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(HERE.parent / "tools/hospital"), folder], check=True)
        path = pathlib.Path(folder)
        (path / "hospital.yaml").write_text(POLICY, encoding="utf-8")
        brume(folder, "truth.db", "register", "visits", "visits.csv", "--public", "--columns",
              "patient_id integer, day date, age integer, cost integer")
        all_of = [0] * 5
        print(f"{'epsilon':>7} {'short':>5} {'few':>4} {'long':>4} {'held':>9} {'bar/value':>9}  question")
        for price, words, sql in questions():
            public = re.sub(r"CLAMP\((\w+), (\d+), (\d+)\)", r"GREATEST(\2, LEAST(\1, \3))", sql)
            truth = json.loads(brume(folder, "truth.db", "query", public, "--json"))
            sums, ratios = [0] * 5, []
            for number in range(ROUNDS):
                ledger = f"{number}.db"
                (path / ledger).unlink(missing_ok=True)
                brume(folder, ledger, "register", "hospital", "--policy", "hospital.yaml")
                answer = json.loads(brume(folder, ledger, "query", sql, "--epsilon", price, "--json"))
                *counts, more = judge(answer, truth)
                sums = [a + b for a, b in zip(sums, counts)]
                ratios += more
                if SHOW and number == 0:
                    explained = brume(folder, ledger, "explain", sql, "--epsilon", price)
                    print(f"\n== {words}\n{sql}\n{explained}\n{brume(folder, ledger, 'query', sql, '--epsilon', price)}")
            ratios.sort()
            middle = f"{ratios[len(ratios) // 2]:9.3f}" if ratios else f"{'':9}"
            print(f"{price:>7} {sums[0]:5} {sums[1]:4} {sums[2]:4} {sums[3]:4}/{sums[4]:<4} {middle}  {words}", flush=True)
            all_of = [a + b for a, b in zip(all_of, sums)]
        bars = sum(all_of[:3])
        print(f"{bars} bars: {all_of[0]} shorter than a tenth of the value, {all_of[1]} too few, {all_of[2]} neither: "
              f"{100 * (all_of[0] + all_of[1]) / bars:.1f} % as wanted; {all_of[3]} of {all_of[4]} hold the truth")


main()
