#!/usr/bin/env python3
"""The numbers of tests/README.md: how often a test with fresh randomness may fail by chance.

Every line is an upper bound: a binomial tail is its first term over 1 - (the ratio of the next two),
a distance of distributions goes by Hoeffding's inequality.
"""
import math


def tail_above(n, p, k):
    """P[Binomial(n, p) >= k] for k > n p."""
    term = math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
                    + k * math.log(p) + (n - k) * math.log1p(-p))
    return term / (1 - (n - k) * p / ((k + 1) * (1 - p)))


def tail_below(n, p, k):
    """P[Binomial(n, p) <= k] for k < n p."""
    return tail_above(n, 1 - p, n - k)


def hidden(n, truth, wrong, alarm):
    """P[a count of n trials of `truth` is plausible for `wrong` at `alarm`], as chance.c asks it."""
    low, high = sorted((int(n * truth), int(n * wrong)))
    while high - low > 1:  # the count nearest to the truth that is plausible for the wrong law
        middle = (low + high) // 2
        if truth < wrong:
            plausible = tail_below(n, wrong, middle) > alarm / 2
            low, high = (low, middle) if plausible else (middle, high)
        else:
            plausible = tail_above(n, wrong, middle) > alarm / 2
            low, high = (middle, high) if plausible else (low, middle)
    return tail_above(n, truth, high) if truth < wrong else tail_below(n, truth, low)


def discrete(scale, k):
    """P[X <= k] of discrete Laplace noise."""
    q = math.exp(-1 / scale)
    return math.exp(k / scale) / (1 + q) if k < 0 else 1 - math.exp(-(k + 1) / scale) / (1 + q)


def rounded(scale, k):
    return math.exp((k + .5) / scale) / 2 if k < 0 else 1 - math.exp(-(k + .5) / scale) / 2


def hidden_in_distance(n, truth, wrong, alarm):
    """P[the empirical distribution of n draws of `truth` is within the DKW distance of `wrong`]."""
    seen = math.sqrt(math.log(2 / alarm) / (2 * n))
    apart = max(abs(truth(k) - wrong(k)) for k in range(-100, 100))
    return math.exp(-2 * n * (apart - seen) ** 2)


def main():
    draws, alarm = 2_000_000, 5e-11 / 15
    rows = [("noise_chance, shares of false_alarms.def", 3 * 5e-11)]
    for wrong in (10.5, 9.5):
        rows.append((f"noise_chance, scale 10 taken for {wrong}", hidden_in_distance(
            draws, lambda k: discrete(10, k), lambda k, w=wrong: discrete(w, k), alarm)))
    rows.append(("noise_chance, discrete taken for rounded", hidden_in_distance(
        draws, lambda k: discrete(1, k), lambda k: rounded(1, k), alarm)))
    alarm, truth = 5e-11 / 9 / 21, 1 - math.exp(-.5)
    for what, wrong in (("scale 1.02", 1 - math.exp(-.5 / 1.02)),
                        ("the discrete law", math.tanh(.5))):
        rows.append((f"noise_chance, frequencies of {what}", hidden(draws, truth, wrong, alarm)))
    rows.append(("noise_chance, primitives a tenth off", sum(
        hidden(400_000, p, 1.1 * p, 5e-11 / 4)
        for p in (.1, 1 / 3, math.exp(-5 / 3), math.exp(-.25)))))
    rows.append(("bits, equal or zero words", (6000 * 5999 / 2 + 6000 + 64 + 8) * 2.0 ** -64))
    flip = 1 / (1 + math.exp(.1))
    rows.append(("cli noise, two calls are equal", (flip ** 2 + (1 - flip) ** 2) ** 200))
    rows.append(("cli synth, two nonces are equal", 2.0 ** -64))
    rows.append(("a server that fails, noise at epsilon 600", 2 * 36 * 2 * math.exp(-600)))
    for what, bound in rows:
        print(f"{what:45} {bound:.2g}")
    total = sum(bound for _, bound in rows)
    print(f"{'together':45} {total:.3g}")
    return 0 if total <= 1e-9 else 1


if __name__ == "__main__":
    raise SystemExit(main())
