"""Accounting from Python: the numbers of the command line, and events of dp_accounting."""

import math

import pytest

import brume


def test_an_interval():
    found = brume.account("gaussian(sigma=5)*10", delta=1e-6)
    assert found.lower <= found.upper <= found.lower * (1 + 1e-9)
    assert float(found) == found.upper
    back = brume.account("gaussian(sigma=5)*10", epsilon=found.upper)
    assert back.lower <= 1e-6 * (1 + 1e-6) and back.upper <= 1e-6 * (1 + 1e-6)


def test_pure_sums_are_exact():
    assert brume.account("pure(epsilon=0.1)*10", delta=0).upper == 1


def test_methods_groups_adjacency():
    basic = brume.account("pure(epsilon=0.1)*10", delta=1e-6, method="basic")
    assert basic.method == "basic" and basic.upper == 1
    assert brume.account("pure(epsilon=0.1)", delta=0, group=3).upper == pytest.approx(0.3)


def test_infinite():
    assert math.isinf(brume.account("gaussian(sigma=1)", delta=0).upper)


@pytest.mark.parametrize("options", [{}, {"delta": 1e-6, "epsilon": 1}])
def test_one_of_the_two(options):
    with pytest.raises(TypeError):
        brume.account("laplace(scale=1)", **options)


def test_bad_expressions():
    with pytest.raises(brume.BrumeError, match="laplase"):
        brume.account("laplase(scale=1)", delta=0)
    with pytest.raises(TypeError):
        brume.account(3, delta=0)
    with pytest.raises(brume.ArgumentError):
        brume.account("laplace(scale=1)", delta=math.nan)


def test_calibrate_and_accuracy():
    found = brume.calibrate("gaussian(sigma=?)*100", epsilon=1, delta=1e-6)
    assert found.parameter == "sigma" and found.epsilon_upper <= 1
    assert brume.account(f"gaussian(sigma={found.value!r})*100", delta=1e-6).upper <= 1 + 1e-12
    assert brume.accuracy("laplace(scale=2)", beta=0.05).alpha == pytest.approx(2 * math.log(20))


def test_loss():
    found = brume.loss("laplace(scale=1)", epsilon=[0.5], order=[2])
    assert found["mean"] == pytest.approx(1 / math.e) and found["tail"][0]["epsilon"] == 0.5
    typed = brume.loss(p=[0.75, 0.25], q=[0.25, 0.75])
    assert typed["mean"] == pytest.approx(0.5 * math.log(3))


def test_cards():
    assert "laplace" in {card["name"] for card in brume.mechanisms()}


def test_events_of_dp_accounting():
    dp = pytest.importorskip("dp_accounting")
    steps = dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0)), 1000)
    assert brume.account(steps, delta=1e-5) == brume.account(
        "poisson(rate=0.01, gaussian(sigma=1.0))*1000", delta=1e-5)
    both = dp.ComposedDpEvent([dp.LaplaceDpEvent(2.0), dp.NoOpDpEvent(), steps])
    assert brume.account(both, delta=1e-5).upper > brume.account(steps, delta=1e-5).upper
    response = dp.dp_event.RandomizedResponseDpEvent(0.5, 4)
    assert brume.account(response, delta=0).upper == pytest.approx(math.log(5), rel=1e-12)
    discrete = dp.dp_event.DiscreteLaplaceDpEvent(0.5, 2)
    assert brume.account(discrete, delta=0).upper == pytest.approx(1, rel=1e-12)
    assert brume.account(dp.ZCDpEvent(0.1), delta=1e-6).upper > 0
    for nothing in (dp.NoOpDpEvent(), dp.SelfComposedDpEvent(dp.GaussianDpEvent(1.0), 0), dp.ComposedDpEvent([])):
        assert brume.account(nothing, delta=1e-6).upper == 0 and brume.account(nothing, epsilon=1).upper == 0
    for everything in (dp.NonPrivateDpEvent(), dp.ComposedDpEvent([dp.GaussianDpEvent(1.0), dp.NonPrivateDpEvent()])):
        assert math.isinf(brume.account(everything, delta=1e-6).upper)
        assert brume.account(everything, epsilon=1).upper == 1
    with pytest.raises(brume.ArgumentError):
        brume.account(dp.NoOpDpEvent(), delta=2)
    with pytest.raises(brume.UnsupportedError):
        brume.account(dp.PoissonSampledDpEvent(0.1, dp.SelfComposedDpEvent(dp.GaussianDpEvent(1.0), 3)), delta=1e-6)


def test_the_same_numbers_as_dp_accounting():
    """Its PLD accountant brackets the truth by its own two estimates; brume's interval must meet them."""
    dp = pytest.importorskip("dp_accounting")
    pld = pytest.importorskip("dp_accounting.pld")
    events = [dp.SelfComposedDpEvent(dp.GaussianDpEvent(5.0), 10), dp.LaplaceDpEvent(2.0),
              dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0)), 100)]
    for event in events:
        above = pld.PLDAccountant(value_discretization_interval=1e-4).compose(event).get_epsilon(1e-5)
        found = brume.account(event, delta=1e-5)
        assert found.lower <= above + 1e-9 and found.upper >= above - 0.05


def test_cards_are_python_documentation():
    """One source: help() and the card show what 'brume mechanisms NAME' does."""
    for name, documented in (("laplace", brume.laplace), ("discrete_gaussian", brume.discrete_gaussian),
                             ("randomized_response", brume.randomized_response),
                             ("exponential", brume.exponential), ("sparse_vector", brume.SparseVector)):
        card = brume.mechanism(name)
        assert card["name"] == name and card["guarantee"] and card["parameters"] and card["proof"]
        assert all(line.strip() in documented.__doc__ for line in str(card).splitlines())
        assert "guarantee" in repr(card) and card in brume.mechanisms()
    with pytest.raises(brume.UnknownNameError, match="laplace"):
        brume.mechanism("laplase")
    with pytest.raises(TypeError):
        brume.mechanism(object())
