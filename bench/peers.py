"""peers: 30 questions on five tables, to brume and to four libraries of PyPI, side by side.

    peers BRUME CLINIC_VISITS [RUNS]        3 runs unless said; ./run bench peers installs the libraries

Tables of 5,000 people, with one row each, many (lognormal, 28 on average), a hospital's (skewed: 8 on average,
one with 1,065), mostly one and 40 bots with a thousand, and several (customers with 1 to 40 orders, the region
in another table). Of each: COUNT(*), SUM(x), AVG(x), COUNT(*) and AVG(x) by group, and the median of x, within bounds 0..500, for
epsilon 1 and delta 1e-6. brume is asked in SQL, with nothing typed. The others have the limits on rows per person
that a careful analyst would type (LIMIT below); where a library promises something of rows alone, the rows of a
person are sampled down to the limit first, and epsilon is divided by it. Tables that a library cannot join are
joined for it. A question that a library has no function for is left out.

Per system and question: the mean error in per cent of the truth (in the mean of the groups), the median of the
bar that is shown in per cent of the value (of the libraries OpenDP alone states one for a number), and how many of the values lie
within it. Then seconds for a table's six questions, and most memory in MB; a process for each table and system. The clock starts when libraries are loaded; brume's includes
registering and the start of a process per question.
"""
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
EPSILON, DELTA, HIGH = 1.0, 1e-6, 500.0
PEOPLE = 5000
GROUPS = ["a", "b", "c", "d", "e"]
SHARE = [0.5, 0.25, 0.15, 0.07, 0.03]
LIMIT = {"one": 1, "many": 60, "skewed": 60, "bots": 20, "several": 40}
QUESTIONS = ["count", "sum", "mean", "count by group", "mean by group", "median"]
SYSTEMS = ["brume", "OpenDP", "diffprivlib", "SmartNoise", "PipelineDP"]


# ---- data ----

def rows_of(name, random):
    if name == "one":
        return [1] * PEOPLE
    if name == "many":
        return [1 + int(random.lognormal(2.7, 1.1)) for _ in range(PEOPLE)]
    if name == "skewed":
        return [1065] + [min(600, 1 + int(random.lognormal(1.2, 1.05))) for _ in range(PEOPLE - 1)]
    if name == "bots":
        return [1000] * 40 + [1 + int(random.random() < 0.1) for _ in range(PEOPLE - 40)]
    return [random.integers(1, 41) for _ in range(PEOPLE)]


def table(name):
    import numpy
    import pandas
    random = numpy.random.default_rng(len(name))
    counts = rows_of(name, random)
    people = numpy.repeat(numpy.arange(PEOPLE), counts)
    if name == "several":
        group = random.choice(GROUPS, PEOPLE, p=SHARE)[people]
    else:
        group = random.choice(GROUPS, len(people), p=SHARE)
    x = numpy.minimum(numpy.floor(100 * random.lognormal(3.2, 0.8, len(people))) / 100, HIGH)
    return pandas.DataFrame({"person": people, "g": group, "x": x})


def write(frame, name, folder):
    if name != "several":
        frame.to_csv(os.path.join(folder, "t.csv"), index=False)
        return
    frame[["person", "x"]].to_csv(os.path.join(folder, "orders.csv"), index=False)
    frame[["person", "g"]].drop_duplicates().to_csv(os.path.join(folder, "customers.csv"), index=False)


def truth(frame):
    by = frame.groupby("g")
    return {"count": [len(frame)], "sum": [frame.x.sum()], "mean": [frame.x.mean()],
            "count by group": [len(by.get_group(g)) for g in GROUPS],
            "mean by group": [by.get_group(g).x.mean() for g in GROUPS], "median": [frame.x.median()]}


# ---- the systems: {question: [(value, low, high)]}; no bar: None ----

def careful(frame, name):
    """At most LIMIT rows of a person, drawn at random."""
    return frame.sample(frac=1).groupby("person").head(LIMIT[name])


def bare(values):
    return [(float(value), None, None) for value in values]


def ask_brume(name, folder, number):
    program = os.environ["BRUME"]
    ledger = os.path.join(folder, f"{number}.db")

    def run(*words):
        done = subprocess.run([program, *words], cwd=folder, capture_output=True, check=True, text=True,
                              env={**os.environ, "BRUME_LEDGER": ledger})
        return done.stdout
    if name == "several":
        with open(os.path.join(folder, "policy.yaml"), "w", encoding="utf-8") as file:
            file.write("budget: epsilon=100,delta=1e-4\ntables:\n  customers:\n    source: customers.csv\n    unit: person\n"
                       "    domain: {g: [a, b, c, d, e]}\n  orders:\n    source: orders.csv\n    link: person = customers.person\n"
                       "    bounds: {x: 0..500.00}\n")
        run("register", "shop", "--policy", "policy.yaml")
        source = "orders o JOIN customers c ON o.person = c.person"
    else:
        run("register", "t", "t.csv", "--unit", "person", "--budget", "epsilon=100,delta=1e-4", "--bounds", "x=0..500.00",
            "--domain", "g=a,b,c,d,e")
        source = "t"
    out = {}
    for question in QUESTIONS:
        what = {"count": "COUNT(*)", "sum": "SUM(x)", "mean": "AVG(x)", "median": "MEDIAN(x)"}[question.split()[0]]
        group = "by" in question
        sql = f"SELECT {'g, ' if group else ''}{what} AS n FROM {source}{' GROUP BY g' if group else ''}"
        answer = json.loads(run("query", sql, "--epsilon", str(EPSILON), "--json"))
        at, cells = len(answer["columns"]) - 1, []
        for number, row in enumerate(answer["rows"]):
            ends = answer.get("rows_interval_95")
            bars = answer.get("rows_bar_95")
            bar = bars[number][at] if bars else answer["columns"][at].get("bar_95")
            if row[at] is None:
                cells.append(None)
            elif ends and ends[number][at]:
                cells.append((row[at], *ends[number][at]))
            else:
                cells.append((row[at], row[at] - bar, row[at] + bar) if bar is not None else (row[at], None, None))
        out[question] = cells
    return out


def ask_opendp(name, folder, frame):
    import numpy
    import opendp.prelude as dp
    dp.enable_features("contrib")
    limit = LIMIT[name]
    space = (dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance())
    cut = careful(frame, name)

    def count(part, epsilon):
        scale = limit / epsilon
        bar = dp.laplacian_scale_to_accuracy(scale, 0.05)
        value = (space >> dp.t.then_count() >> dp.m.then_laplace(scale))(part)
        return value, value - bar, value + bar

    def total(part, epsilon):
        scale = limit * HIGH / epsilon
        bar = dp.laplacian_scale_to_accuracy(scale, 0.05)
        value = (space >> dp.t.then_clamp((0.0, HIGH)) >> dp.t.then_sum() >> dp.m.then_laplace(scale))(part)
        return value, value - bar, value + bar

    def mean(part):
        return total(part, EPSILON / 2)[0] / max(1, count(part, EPSILON / 2)[0]), None, None
    x = list(cut.x)
    parts = [list(cut.x[cut.g == g]) for g in GROUPS]  # disjoint: a person has `limit` rows in all of them together
    edges = list(numpy.linspace(0, HIGH, 501))
    score = space >> dp.t.then_quantile_score_candidates(edges, 0.5)
    median = score >> dp.m.then_noisy_max(dp.max_divergence(), 2 * score.map(limit) / EPSILON, negate=True)
    return {"count": [count(x, EPSILON)], "sum": [total(x, EPSILON)], "mean": [mean(x)],
            "count by group": [count(part, EPSILON) for part in parts],
            "mean by group": [mean(part) for part in parts], "median": bare([edges[median(x)]])}


def ask_diffprivlib(name, folder, frame):
    import numpy
    from diffprivlib import tools
    cut, epsilon = careful(frame, name), EPSILON / LIMIT[name]
    bounds = (0.0, HIGH)
    parts = [cut.x[cut.g == g].to_numpy() for g in GROUPS]
    x = cut.x.to_numpy()
    return {"count": bare([tools.count_nonzero(numpy.ones(len(x)), epsilon=epsilon)]),
            "sum": bare([tools.sum(x, epsilon=epsilon, bounds=bounds)]),
            "mean": bare([tools.mean(x, epsilon=epsilon, bounds=bounds)]),
            "count by group": bare(tools.count_nonzero(numpy.ones(len(part)), epsilon=epsilon) for part in parts),
            "mean by group": bare(tools.mean(part, epsilon=epsilon, bounds=bounds) for part in parts),
            "median": bare([tools.median(x, epsilon=epsilon, bounds=bounds)])}


def ask_smartnoise(name, folder, frame):
    from snsql import Privacy, from_connection
    columns = {"person": {"type": "int", "private_id": True}, "g": {"type": "string"},
               "x": {"type": "float", "lower": 0, "upper": HIGH}, "max_ids": LIMIT[name], "row_privacy": False,
               "censor_dims": False, "clamp_counts": False}
    out = {}
    for question in QUESTIONS[:5]:
        what = {"count": "COUNT(*)", "sum": "SUM(x)", "mean": "AVG(x)"}[question.split()[0]]
        group = "by" in question
        sql = f"SELECT {'g, ' if group else ''}{what} AS n FROM t{' GROUP BY g' if group else ''}"
        metadata = {"": {"": {"t": columns}}}
        price = from_connection(frame, privacy=Privacy(epsilon=1.0, delta=DELTA), metadata=metadata).get_privacy_cost(sql)[0]
        reader = from_connection(frame, privacy=Privacy(epsilon=EPSILON / float(price), delta=DELTA), metadata=metadata)
        rows = reader.execute(sql)[1:]
        found = {row[0]: row[1] for row in rows} if group else {None: rows[0][0]}
        out[question] = [None if found.get(g) is None else (float(found[g]), None, None) for g in (GROUPS if group else [None])]
    return out


def ask_pipelinedp(name, folder, frame):
    import pipeline_dp
    from pipeline_dp import Metrics
    rows, limit = list(frame.itertuples(index=False)), LIMIT[name]

    def ask(metric, group):
        budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
        engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
        extract = pipeline_dp.DataExtractors(partition_extractor=(lambda row: row.g) if group else (lambda row: "all"),
                                             privacy_id_extractor=lambda row: row.person, value_extractor=lambda row: row.x)
        partitions = GROUPS if group else ["all"]
        own = 1 if name == "several" else len(GROUPS)  # a customer has one region
        each = max(1, math.ceil(limit / 2)) if group and own > 1 else limit
        params = pipeline_dp.AggregateParams(
            metrics=[metric], noise_kind=pipeline_dp.NoiseKind.LAPLACE, max_partitions_contributed=own if group else 1,
            max_contributions_per_partition=each, min_value=0, max_value=HIGH)
        result = engine.aggregate(rows, params, extract, public_partitions=partitions)
        budget.compute_budgets()
        found = dict(result)
        return bare(found[each][0] for each in partitions)
    return {"count": ask(Metrics.COUNT, False), "sum": ask(Metrics.SUM, False), "mean": ask(Metrics.MEAN, False),
            "count by group": ask(Metrics.COUNT, True), "mean by group": ask(Metrics.MEAN, True),
            "median": ask(Metrics.PERCENTILE(50), False)}


ASK = {"OpenDP": ask_opendp, "diffprivlib": ask_diffprivlib, "SmartNoise": ask_smartnoise, "PipelineDP": ask_pipelinedp}


def child(system, name, folder, runs):
    """Ask in a process of its own; libraries are loaded and data made before the clock starts."""
    frame, out = table(name) if system != "brume" else None, []
    if system != "brume":
        __import__({"OpenDP": "opendp.prelude", "diffprivlib": "diffprivlib.tools", "SmartNoise": "snsql",
                    "PipelineDP": "pipeline_dp"}[system])
    for number in range(runs):
        started = time.perf_counter()
        answers = ask_brume(name, folder, number) if system == "brume" else ASK[system](name, folder, frame)
        seconds = time.perf_counter() - started
        whose = resource.RUSAGE_CHILDREN if system == "brume" else resource.RUSAGE_SELF
        out.append({"answers": answers, "seconds": seconds, "megabytes": resource.getrusage(whose).ru_maxrss / 1024})
    print(json.dumps(out))


# ---- the table ----

def figure(number):
    return "" if number is None else f"{number:.2g}" if number < 10 else f"{number:,.0f}"


def cell(runs, question, exact):
    """error / bar, cover; in per cent."""
    errors, bars, held, asked = [], [], 0, 0
    for run in runs:
        found = run["answers"].get(question)
        if found is None:
            return "–"
        for value, true in zip(found, exact):
            if value is None:
                continue
            errors.append(100 * abs(value[0] - true) / abs(true))
            if value[1] is not None:
                bars.append(100 * max(value[2] - value[0], value[0] - value[1]) / max(1e-9, abs(value[0])))
                held += value[1] <= true <= value[2]
                asked += 1
    if not errors:
        return "too few"
    text = figure(sum(errors) / len(errors))
    return text + (f" ± {figure(sorted(bars)[len(bars) // 2])} ({held} of {asked})" if bars else "")


def main():
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    os.environ["BRUME"] = os.path.abspath(sys.argv[1])
    print(f"epsilon {EPSILON:g}, delta {DELTA:g}, {PEOPLE} people, bounds 0..{HIGH:g}, {runs} runs\n")
    print("| table | question | " + " | ".join(SYSTEMS) + " |\n|---|---|" + "---|" * len(SYSTEMS))
    spent = []
    for name in LIMIT:
        with tempfile.TemporaryDirectory() as folder:
            frame = table(name)
            write(frame, name, folder)
            exact, all_runs = truth(frame), {}
            for system in SYSTEMS:
                all_runs[system] = json.loads(subprocess.run(
                    [sys.executable, os.path.abspath(__file__), "--child", system, name, folder, str(runs)], check=True,
                    capture_output=True, text=True).stdout.splitlines()[-1])
            for question in QUESTIONS:
                cells = [cell(all_runs[system], question, exact[question]) for system in SYSTEMS]
                print(f"| {name} ({len(frame):,} rows) | {question} | " + " | ".join(cells) + " |", flush=True)
            spent.append(f"| {name} | " + " | ".join(
                f"{sum(run['seconds'] for run in all_runs[system]) / runs:.2f} s, "
                f"{max(run['megabytes'] for run in all_runs[system]):.0f} MB" for system in SYSTEMS) + " |")
    print("\n| six questions | " + " | ".join(SYSTEMS) + " |\n|---|" + "---|" * len(SYSTEMS))
    print("\n".join(spent))


if sys.argv[1:2] == ["--child"]:
    child(*sys.argv[2:5], int(sys.argv[5]))
else:
    main()
