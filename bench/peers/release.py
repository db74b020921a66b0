"""MWEM beside SmartNoise's (snsynth): time and error, as ratios, on the same tables.

    release.py PROGRAM [ARGUMENT...]      (./run bench release does it)

PROGRAM is brume's own bench; it runs first, for its own table. Then both make a synthetic histogram
for all pairs of columns of the same records, with the same epsilon and rounds, one record more or
less as neighbours, the number of records known. snsynth measures whole marginals and repeats its
updates (20 times a round, its default); it knows the domains from the data. Errors are counts of
records over all cells of all pairs; times are by the clock on the wall, the least of the runs;
errors their mean.
"""
import itertools
import json
import subprocess
import sys
import tempfile
import time
import warnings

import numpy
from snsynth.mwem import MWEMSynthesizer
from snsynth.transform import NoTransformer

warnings.filterwarnings("ignore")
EPSILON, RECORDS, RUNS = 1.0, 100_000, 2
CASES = [([4] * 6, 15), ([4] * 8, 15)]


def table(sizes):
    """Each column follows the one before it three times out of four."""
    random = numpy.random.default_rng(1)
    out = numpy.zeros((RECORDS, len(sizes)), int)
    before = numpy.zeros(RECORDS, int)
    for column, size in enumerate(sizes):
        fresh = random.random(RECORDS) < 0.25
        before = numpy.where(fresh, random.integers(0, size, RECORDS), before % size)
        out[:, column] = before
    return out


def errors(truth, synthetic):
    columns = range(truth.ndim)
    far = []
    for pair in itertools.combinations(columns, 2):
        others = tuple(c for c in columns if c not in pair)
        far.append(numpy.abs(truth.sum(others) - synthetic.sum(others)).ravel())
    far = numpy.concatenate(far)
    return far.max(), far.mean()


def snsynth(records, rounds):
    seconds, worst, mean = float("inf"), 0, 0
    for _ in range(RUNS):
        maker = MWEMSynthesizer(epsilon=EPSILON, iterations=rounds, marginal_width=2)
        start = time.perf_counter()
        maker.fit(records, transformer=NoTransformer(), preprocessor_eps=0.0)
        seconds = min(seconds, time.perf_counter() - start)
        synthetic, truth, _ = maker.synthetic_histograms[0]
        one = errors(truth, synthetic)
        worst, mean = worst + one[0] / RUNS, mean + one[1] / RUNS
    return seconds, worst, mean


def brume(program, sizes, records, rounds):
    cells = numpy.ravel_multi_index(records.T, sizes)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        print(len(sizes), *sizes, file=file)
        file.write("\n".join(map(str, cells)))
        file.flush()
        text = subprocess.check_output([program, "--file", file.name, str(EPSILON), str(rounds), "5"],
                                       text=True)
    return json.loads(text)


def main():
    program = sys.argv[1]
    subprocess.run([program] + sys.argv[2:], check=True)
    sys.stdout.flush()
    for sizes, rounds in CASES:
        records = table(sizes)
        theirs = snsynth(records, rounds)
        print(f"\nMWEM beside snsynth: all pairs of {len(sizes)} columns of {sizes[0]} values, "
              f"{RECORDS} records, epsilon {EPSILON:g}, {rounds} rounds")
        print(f"  {'':46} {'seconds':>9} {'worst error':>12} {'mean error':>12}   snsynth over it")
        print(f"  {'snsynth':46} {theirs[0]:9.3f} {theirs[1]:12.0f} {theirs[2]:12.1f}")
        for ours in brume(program, sizes, records, rounds):
            print(f"  {ours['name']:46} {ours['seconds']:9.3f} {ours['worst']:12.0f} "
                  f"{ours['mean']:12.1f}   {theirs[0] / ours['seconds']:.0f} x time, "
                  f"{theirs[1] / ours['worst']:.2f} x worst, {theirs[2] / ours['mean']:.2f} x mean")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
