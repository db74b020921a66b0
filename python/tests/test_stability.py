"""Private keys, tests of a distance, smooth sensitivity: what Python passes on. Laws are tested in C."""

import numpy as np
import pytest

import brume


def test_a_histogram_shows_what_is_frequent_and_nothing_that_does_not_occur():
    # noise of scale 1 moves a count by 300 with probability below 2 exp(-300)
    counts = np.array([0, 0, 500, 1, 900], dtype=np.int64)
    found = brume.stable_histogram(counts, 1.0, 1e-9)
    assert found.shown.dtype == np.bool_ and list(found.shown[[0, 1, 2, 4]]) == [False, False, True, True]
    assert found.counts[0] == 0 and abs(found.counts[4] - 900) < 300 and found.scale >= 1
    # 20 ln 10 is the least threshold that P[Laplace(1) >= threshold - 1] <= 1e-9 / 1 can have, about
    assert 15 < found.threshold < 30
    assert (counts == [0, 0, 500, 1, 900]).all()
    again = brume.stable_histogram(counts, 1.0, 1e-9, out=counts)
    assert again.counts is counts


def test_more_keys_of_a_unit_need_more_noise():
    one = brume.stable_histogram(np.array([9]), 1.0, 1e-6)
    two = brume.stable_histogram(np.array([9]), 1.0, 1e-6, keys_per_unit=4, amount_per_key=2)
    assert two.scale == pytest.approx(8 * one.scale) and two.threshold > one.threshold
    for noise in ("laplace", "gaussian"):
        assert brume.stable_histogram(np.array([9]), 1.0, 1e-6, noise=noise).threshold > 9


def test_keys_alone():
    keep = brume.select_keys(np.array([0, 1000, 0, 1000]), 1.0, 1e-6)
    assert list(keep) == [False, True, False, True]
    with pytest.raises(brume.ArgumentError):
        brume.select_keys(np.array([1]), 1.0, 0.7)


def test_stable_release():
    assert brume.stable_release(None, 1.0, 1e-6) is True
    assert brume.stable_release(10**6, 1.0, 1e-6) is True  # e^-999986
    assert not any(brume.stable_release(0, 1.0, 1e-15) for _ in range(100))  # 1e-13


def test_propose_test_release():
    options = {"epsilon_test": 1.0, "epsilon_release": 1.0, "delta": 1e-15}
    found = brume.propose_test_release(5000, 10**6, 2, **options)
    assert abs(found - 5000) < 600  # noise of scale 2: e^-300
    assert brume.propose_test_release(7, None, 0, **options) == 7  # the same value for all data
    assert all(brume.propose_test_release(5000, 0, 2, **options) is None for _ in range(100))  # 1e-13
    huge = brume.propose_test_release(2**80, None, 1, **options)
    assert huge > 2**61  # clamped, and not taken modulo 2**64


def test_private_sensitivity():
    found = brume.private_sensitivity(1000, 3, 10**6, epsilon_sensitivity=1.0, epsilon_release=1.0, delta=1e-6)
    assert 3 <= found.bound < 400 and abs(found.value - 1000) < 400 * found.bound  # e^-380


@pytest.mark.parametrize("plan", [
    brume.smooth_laplace(1.0, 1e-6), brume.smooth_cauchy(1.0), brume.smooth_student(1.0, 5), brume.smooth_lln(0.5)],
    ids=["laplace", "cauchy", "student", "lln"])
def test_smooth_noise(plan):
    assert plan.s > 0 and plan.t > 0 and (plan.epsilon == 1 or plan.rho == 0.5)
    assert plan.release(42, 0.0, 10.0) == 42  # a sensitivity of 0 needs no noise
    draws = [plan.release(42, 1e9, 1e9) for _ in range(20)]
    assert len(set(draws)) > 10  # 20 equal draws of noise wider than 1e8 have no chance
    assert "t=" in repr(plan)


def test_cards_are_there():
    for name in ("stable_histogram", "stable_release", "propose_test_release", "private_sensitivity",
                 "smooth_laplace", "smooth_cauchy", "smooth_student", "smooth_lln", "above_threshold"):
        assert brume.mechanism(name)["guarantee"] in " ".join(getattr(brume, name).__doc__.split())


@pytest.mark.parametrize("act, wanted", [
    (lambda: brume.stable_histogram(np.array([1.5]), 1, 1e-6), TypeError),
    (lambda: brume.stable_histogram(np.array([1]), 1, 1e-6, keys_per_unit=1.5), TypeError),
    (lambda: brume.stable_histogram(np.array([1]), 1, 1e-6, keys_per_unit=2**64 + 1), brume.ArgumentError),
    (lambda: brume.stable_histogram(np.array([1]), 1, 1e-6, noise="cauchy"), ValueError),
    (lambda: brume.stable_histogram(np.array([1]), float("nan"), 1e-6), brume.ArgumentError),
    (lambda: brume.stable_histogram(np.array([1]), 1, 1e-6, adjacency="edge"), ValueError),
    (lambda: brume.stable_release(-1, 1, 1e-6), brume.ArgumentError),
    (lambda: brume.stable_release(3.7, 1, 1e-6), TypeError),
    (lambda: brume.private_sensitivity(1, 1.5, 9, epsilon_sensitivity=1, epsilon_release=1, delta=1e-6), TypeError),
    (lambda: brume.smooth_student(1, 0), brume.ArgumentError),
    (lambda: brume.smooth_laplace(1, 0.7), brume.ArgumentError),
    (lambda: brume.smooth_cauchy(1).release(1, -1.0, 1.0), brume.ArgumentError),
    (lambda: brume.smooth_cauchy(1).release(1, float("nan"), 1.0), brume.ArgumentError),
])
def test_what_is_wrong_is_said(act, wanted):
    with pytest.raises(wanted):
        act()
