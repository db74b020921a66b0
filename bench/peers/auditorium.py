#!/usr/bin/env python3
"""brume's auditor beside dp_auditorium, on the broken mechanisms of tests/audit/test_controls.c.

    auditorium.py CONTROLS FOLDER [MOST [NAME...]]

CONTROLS is the program test_controls: it draws for both auditors, from the same functions, on the same neighbours.
FOLDER holds the package dp_auditorium: the folder python/dp_auditorium of a clone of
https://github.com/google/differential-privacy, as it is not on PyPI. What it needs is in auditorium.txt
('bench/peers/environment auditorium' makes bench/.venv/auditorium of it).

Printed is how many draws on each neighbour, doubled from 500 on, catch a mechanism at a confidence of 0.999, and the
processor time of that audit: of brume with its draws, of dp_auditorium without them. dp_auditorium is given MOST
(1024000) draws or as many as brume took, if these are more. With each number of draws all its testers that apply try,
in both directions as its own runner does, each with a failure probability of 0.001; the one that accuses first is
shown, and of several the one that takes the least time. That they are many is not held against them. NAME: only these
mechanisms.
"""
import contextlib
import os
import subprocess
import sys
import time

for setting in ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS"):
    os.environ[setting] = "1"  # threads that wait for each other use processor time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

CONFIDENCE = .999
FAILURE = 1 - CONFIDENCE

# What the controls claim, where it is not epsilon 1 and delta 0.
CLAIMS = {"mode by the gap": (2, .01), "distance that is not 1-Lipschitz": (1, .001),
          "stable histogram for add-remove under replace": (1, .001), "threshold off by one": (1, .001),
          "keys without a threshold": (1, .001)}

# Outcomes that are several numbers in one: how a network gets them.
PARTS = {"replace with add-remove scale": lambda o: [o // 16, o % 16],
         "sparse vector without cut-off": lambda o: [o // 6, o % 6],
         "sparse vector with the noise of one hit": lambda o: [o // 6, o % 6],
         "sparse vector without query noise": lambda o: [o >> i & 1 for i in range(2)],
         "sparse vector without threshold noise": lambda o: [o >> i & 1 for i in range(8)],
         "sparse vector that shows what it compared": lambda o: [o == -1000, o == -2000, (o > -1000) * o],
         "mode by the gap": lambda o: [o == 1, o == 2],
         "stable histogram for add-remove under replace": lambda o: [o // 8, o % 8]}

if len(sys.argv) < 3:
    sys.exit(__doc__)
sys.path.insert(0, sys.argv[2])
try:
    import numpy as np
    import tensorflow as tf
    from dp_auditorium.configs import privacy_property, property_tester_config
    from dp_auditorium.testers import histogram_tester, hockey_stick_tester, renyi_tester
except ImportError as missing:
    sys.exit(f"{missing}\nSee the head of {__file__} for where dp_auditorium is, and what it needs.")


def draw(name, count):
    """Outcomes on the first neighbour and on the second."""
    made = subprocess.run([sys.argv[1], "--write", name, str(count)], stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(made, dtype=np.int64).reshape(2, count)


def columns(name, outcomes):
    """The outcomes as numbers for a network, each with mean 0 and deviation 1 over both neighbours."""
    parts = PARTS.get(name, lambda o: [o])(outcomes)
    whole = np.stack([np.asarray(part, dtype=np.float32) for part in parts], axis=-1)
    spread = whole.std(axis=(0, 1))
    return (whole - whole.mean(axis=(0, 1))) / np.where(spread > 0, spread, 1)


def training(epochs, count):
    """With 2 epochs what dp_auditorium gives the hockey-stick tester; with more, at most 500 batches in each."""
    made = hockey_stick_tester.make_default_hs_training_config()
    if epochs != made.training_epochs:
        made.training_epochs, made.batch_size = epochs, max(made.batch_size, count // 1000)
    return made


# ---- what no model could exceed on the draws that it is judged by: where that is too little, none is trained ----

def counts(outcomes):
    _, index = np.unique(np.concatenate(outcomes), return_inverse=True)
    first = len(outcomes[0])
    return (np.bincount(part, minlength=index.max() + 1) for part in (index[:first], index[first:]))


def hockey_stick_ceiling(tester, first, second):
    half = len(first) // 2
    features, labels = tester._generate_inputs_to_model(first[half:], second[half:])
    of = [features[labels[:, 0] == label, 0] for label in (0, 1)]
    accuracy = np.maximum(*counts(of)).sum() / len(features)
    accuracy -= hockey_stick_tester._get_accuracy_confidence_bound(1, half, CONFIDENCE)
    return accuracy * (1 + np.exp(tester._epsilon)) - np.exp(tester._epsilon)


def renyi_ceiling(order, bound, first, second):
    """The best model is the logarithm of the ratio, moved and cut."""
    half = len(first) // 2
    with np.errstate(invalid="ignore"):  # its own: too few draws for a bound at all
        error = renyi_tester._compute_error_from_samples(half, FAILURE, bound, order)
    if np.isnan(error):
        return -np.inf
    p, q = (part / half for part in counts((first[half:], second[half:])))
    with np.errstate(divide="ignore"):
        ratio = np.log(p) - np.log(q)
    models = [np.clip(ratio + by, -bound, bound) for by in np.arange(-10, 10, .01)]
    best = max(order / (order - 1) * np.log(p @ np.exp((order - 1) * g)) - np.log(q @ np.exp(order * g))
               for g in models)
    return best + .01 - error  # more than is missed by moving in steps


# ---- its testers ----

def histogram(epsilon, delta, bins, low, high):
    config = property_tester_config.HistogramPropertyTesterConfig(
        test_discrete_mechanism=low is None, histogram_size=bins, min_value=low, max_value=high,
        approximate_dp=privacy_property.ApproximateDp(epsilon=epsilon, delta=delta))
    return histogram_tester.HistogramTester(config)


def hockey_stick(epsilon, delta, epochs, count):
    config = property_tester_config.HockeyStickPropertyTesterConfig(
        training_config=training(epochs, count),
        approximate_dp=privacy_property.ApproximateDp(epsilon=epsilon, delta=delta))
    return hockey_stick_tester.HockeyStickPropertyTester(config, hockey_stick_tester.make_default_hs_base_model())


def renyi(epsilon, order, bound, epochs, count):
    config = property_tester_config.RenyiPropertyTesterConfig(
        alpha=order, training_config=training(epochs, count),
        privacy_property=privacy_property.PrivacyProperty(pure_dp=privacy_property.PureDp(epsilon=epsilon)))
    config.training_config.optimizer_learning_rate = 1e-3
    config.training_config.model_output_coordinate_bound = bound
    return renyi_tester.RenyiPropertyTester(config, renyi_tester.make_default_renyi_base_model())


def attempts(name, outcomes):
    """(what it is called, how it is made, its samples, whether it could accuse in a direction)."""
    epsilon, delta = CLAIMS.get(name, (1, 0))
    count = outcomes.shape[1]
    named, index = np.unique(outcomes, return_inverse=True)
    if len(named) <= 512:
        yield (f"histogram of {len(named)} outcomes", lambda: histogram(epsilon, delta, len(named), None, None),
               index.reshape(2, count), None)
    low, high = np.quantile(outcomes, [.01, .99])
    if name not in PARTS and low < high:
        for bins in (2, 4, 8, 16, 32):
            yield (f"histogram of {bins} bins", lambda bins=bins: histogram(epsilon, delta, bins, low, high),
                   outcomes, None)
    samples = columns(name, outcomes)
    whole = index.reshape(2, count, 1).astype(np.float64)
    for epochs in (2, 20) if count <= 128000 else (2,):  # many draws are many steps in 2 epochs
        yield (f"hockey-stick, {epochs} epochs", lambda epochs=epochs: hockey_stick(epsilon, delta, epochs, count),
               samples, lambda tester, a, b: hockey_stick_ceiling(tester, whole[a], whole[b]))
    if delta == 0:
        for order, bound in ((1.5, .5), (1.5, 1), (2, .5), (2, 1)):
            yield (f"Rényi of order {order} up to {bound}, 20 epochs",
                   lambda order=order, bound=bound: renyi(epsilon, order, bound, 20, count), samples,
                   lambda tester, a, b, order=order, bound=bound: renyi_ceiling(
                       order, bound, whole[a, :, 0], whole[b, :, 0]))


def accuses(make, samples, ceiling):
    """Whether it does, and its processor time."""
    tf.keras.utils.set_random_seed(1)
    before, found = time.process_time(), False
    tester = make()
    used = time.process_time() - before
    for a, b in ((0, 1), (1, 0)):
        if ceiling and not tester.reject_property(ceiling(tester, a, b)):
            continue
        before = time.process_time()
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
            bound = tester.estimate_lower_bound(samples[a], samples[b], FAILURE)
        used += time.process_time() - before
        found = found or bool(tester.reject_property(bound))
    return found, used


def catch(name, most):
    """(draws, seconds, tester) of the first that accuses, or None."""
    count = 500
    while count <= most:
        outcomes = draw(name, count)
        found = []
        for called, make, samples, ceiling in attempts(name, outcomes):
            did, used = accuses(make, samples, ceiling)
            print(f"  {name}: {count} draws, {called}: {'caught' if did else '-'} {used:.2f} s", file=sys.stderr)
            if did:
                found.append((used, called))
        if found:
            return count, *min(found)
        count *= 2
    return None


def main():
    tf.get_logger().setLevel("ERROR")
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 1024000
    told = subprocess.run([sys.argv[1], "--draws"], stdout=subprocess.PIPE, check=True, text=True).stdout
    print("| broken mechanism | brume: draws | seconds | dp_auditorium: draws | seconds | its tester |")
    print("|---|---|---|---|---|---|")
    for line in told.splitlines()[2:]:
        name, draws, seconds = [cell.strip() for cell in line.strip("| ").split("|")]
        if len(sys.argv) > 4 and name not in sys.argv[4:]:
            continue
        allowed = max(most, int(draws))
        caught = catch(name, allowed)
        theirs = f"{caught[0]} | {caught[1]:.2f} | {caught[2]}" if caught else f"not by {allowed} | | "
        print(f"| {name} | {draws} | {seconds} | {theirs} |", flush=True)


if __name__ == "__main__":
    main()
