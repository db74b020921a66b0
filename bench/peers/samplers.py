"""Noise beside other libraries: nanoseconds per draw, as ratios, in one run.

    samplers.py PROGRAM [ARGUMENT...]      (./run bench samplers does it)

PROGRAM is brume's own bench; it runs first, for its own table, and again in every round here, so
that a busy machine slows all alike. The others are timed at their best: OpenDP noises a whole vector
in one call (its single calls cost more, and are shown too); diffprivlib has only single calls. Times
are of the processor; a ratio is the median over the rounds.
"""
import json
import statistics
import subprocess
import sys
import time

import diffprivlib.mechanisms
import opendp.prelude as dp

ROUNDS, CALLS, LENGTH = 5, 300, 2000
dp.enable_features("contrib")


def per_draw(action, draws):
    start = time.process_time()
    action()
    return (time.process_time() - start) * 1e9 / draws


def vector(maker, kind, metric, parameter):
    atom = dp.atom_domain(T=int) if kind is int else dp.atom_domain(T=float, nan=False)
    measurement = maker(dp.vector_domain(atom), metric, parameter)
    zeros = [kind(0)] * LENGTH
    return lambda: per_draw(lambda: measurement(zeros), LENGTH)


def single(maker, metric, parameter):
    measurement = maker(dp.atom_domain(T=int), metric, parameter)
    return lambda: per_draw(lambda: [measurement(0) for _ in range(CALLS)], CALLS)


def calls(mechanism):
    return lambda: per_draw(lambda: [mechanism.randomise(0) for _ in range(CALLS)], CALLS)


# What is compared: a name, how to time it, and the sampler of brume with the same law. The parameter
# of diffprivlib's discrete Gaussian is what its epsilon and delta make it.
PEERS = [
    ("OpenDP discrete Laplace, vector", vector(dp.m.make_laplace, int, dp.l1_distance(T=int), 10.0),
     "discrete Laplace, scale 10", (500, 2000)),
    ("OpenDP discrete Laplace, single", single(dp.m.make_laplace, dp.absolute_distance(T=int), 10.0),
     "discrete Laplace, scale 10", None),
    ("OpenDP discrete Gaussian, vector", vector(dp.m.make_gaussian, int, dp.l2_distance(T=float), 64.0),
     "discrete Gaussian, sigma 64", (500, 2000)),
    ("OpenDP real Laplace, vector", vector(dp.m.make_laplace, float, dp.l1_distance(T=float), 10.0),
     "rounded Laplace, scale 10", (500, 2000)),
    ("diffprivlib integer Laplace (Geometric)", calls(diffprivlib.mechanisms.Geometric(epsilon=0.1, sensitivity=1)),
     "discrete Laplace, scale 10", None),
    ("diffprivlib Laplace (float)", calls(diffprivlib.mechanisms.Laplace(epsilon=0.1, sensitivity=1)),
     "rounded Laplace, scale 10", None),
    ("diffprivlib GaussianDiscrete", calls(diffprivlib.mechanisms.GaussianDiscrete(epsilon=0.1, delta=1e-6, sensitivity=1)),
     "discrete Gaussian, sigma 64", None),
]


def brume(program):
    """(name, way) to nanoseconds, from a short run."""
    text = subprocess.check_output([program, "--json", "--rounds", "11"], text=True)
    return {(one["name"], one["way"]): one["median"] for one in json.loads(text)["samplers"]}


def main():
    program = sys.argv[1]
    subprocess.run([program] + sys.argv[2:], check=True)
    sys.stdout.flush()
    times = {name: [] for name, *_ in PEERS}
    ratios = {(name, way): [] for name, *_ in PEERS for way in ("single", "batch")}
    for _ in range(ROUNDS):
        ours = brume(program)
        for name, action, same, _ in PEERS:
            taken = action()
            times[name].append(taken)
            for way in ("single", "batch"):
                if (same, way) in ours:
                    ratios[name, way].append(taken / ours[same, way])
    print(f"\nother libraries, ns per draw, {ROUNDS} rounds; how many times brume is faster\n")
    print(f"{'':42} {'ns':>10} {'single':>10} {'batch':>10}   wanted")
    for name, _, _, wanted in PEERS:
        line = f"{name:42} {statistics.median(times[name]):10.0f}"
        medians = []
        for way in ("single", "batch"):
            medians.append(statistics.median(ratios[name, way]) if ratios[name, way] else 0)
            line += f" {medians[-1]:9.0f}x"
        if wanted:
            missed = any(got < least for got, least in zip(medians, wanted))
            line += f"   {wanted[0]}x, {wanted[1]}x{'  MISSED' if missed else ''}"
        print(line)


if __name__ == "__main__":
    main()
