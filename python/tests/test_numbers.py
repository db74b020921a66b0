"""Prices as Decimal and Fraction, numbers of numpy, and the direction in which doubles are rounded."""

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import brume
from conftest import write_table
from brume._numbers import at_least, at_most, encode

COUNT = "SELECT COUNT(*) AS n FROM survey"


def charged(con):
    """The epsilon of the last charge, as the ledger has it."""
    return con.history("survey")[-1]["cost"]["epsilon"]


@pytest.mark.parametrize("epsilon, wanted", [
    (Decimal("0.1"), 0.1), (Fraction(1, 8), 0.125), (np.float64(0.25), 0.25), (np.int64(1), 1), ("0.1", 0.1),
])
def test_a_price_is_charged_as_it_was_given(con, epsilon, wanted):
    assert con.explain(COUNT, epsilon=epsilon)["cost"]["epsilon"] == wanted
    assert con.query(COUNT, epsilon=epsilon).cost["epsilon"] == wanted
    assert charged(con) == wanted


def test_decimals_add_up_exactly(folder):
    """Prices that no double has: three of them fill a budget to its last digit, and not one digit more."""
    third = Decimal("0.10000000000000000001")
    with brume.connect("brume.db", progress=False) as con:
        con.register("survey", "survey.csv", unit="person", budget={"epsilon": 3 * third}, bounds={"age": "0..100"})
        for age in (30, 40):
            con.query(f"{COUNT} WHERE age > {age}", epsilon=third)
        with pytest.raises(brume.BudgetError):
            con.query(f"{COUNT} WHERE age > 50", epsilon=third + Decimal("1e-20"))
        con.query(f"{COUNT} WHERE age > 50", epsilon=third)
        assert con.budget("survey")["remaining"]["epsilon"] == 0
        with pytest.raises(brume.BudgetError):
            con.query(f"{COUNT} WHERE age > 60", epsilon=Decimal("1e-6"))


@pytest.mark.parametrize("epsilon, wanted", [
    (Decimal("NaN"), brume.ArgumentError), (Decimal("Infinity"), brume.ArgumentError),
    (Decimal(-1), brume.ArgumentError), (Fraction(1, 3), brume.ArgumentError), (1j, TypeError),
    (np.array([0.1]), TypeError),
])
def test_what_is_no_price(con, epsilon, wanted):
    with pytest.raises(wanted):
        con.query(COUNT, epsilon=epsilon)
    assert con.budget("survey")["spent"]["epsilon"] == 0


def test_options_of_other_types(con, folder):
    assert encode({"a": [np.int8(3), np.bool_(True), np.float32(0.5)], "b": Path("x")}) == (
        b'{"a": [3, true, 0.5], "b": "x"}')
    write_table(folder / "again.csv", 100)
    con.register("again", Path("again.csv"), unit="person", budget="epsilon=1", max_rows=np.int64(1))
    assert {one["name"] for one in con.datasets()} == {"survey", "again"}


def test_accounts_of_decimals():
    assert brume.account("pure(epsilon=0.1)*10", delta=Decimal("1e-6")) == brume.account(
        "pure(epsilon=0.1)*10", delta=1e-6)
    assert brume.calibrate("laplace(scale=?)", epsilon=Decimal("0.5")).value >= 2
    assert brume.loss(p=[Decimal("0.75"), Decimal("0.25")], q=[Fraction(1, 4), 0.75])["mean"] == pytest.approx(
        0.5 * math.log(3))


@pytest.mark.parametrize("number", [
    Decimal("0.1"), Fraction(1, 3), Decimal("0.3"), Fraction(2, 3), 2**53 + 1, -(2**53) - 1, Decimal("1e-400"), 7,
    np.int64(2**53 + 1), Decimal("1e300"), np.longdouble(1) / 3])
def test_doubles_are_rounded_in_the_direction_that_protects(number):
    exact = Fraction(*(int(number) if isinstance(number, np.integer) else number).as_integer_ratio())
    low, high = at_most(number), at_least(number)
    assert Fraction(low) <= exact <= Fraction(high)
    assert high == low or (high == math.nextafter(low, math.inf) and Fraction(low) < exact < Fraction(high))


def test_doubles_stay_as_they_are():
    for number in (0.1, 1e-320, math.inf, np.float64(0.3)):
        assert at_least(number) == at_most(number) == number
    assert math.isnan(at_least(math.nan))
    assert at_least(np.array(0.5)) == 0.5
    with pytest.raises(TypeError):
        at_least("0.1")
    with pytest.raises(brume.ArgumentError):
        brume.laplace(0, Decimal("NaN"))


def test_noise_of_decimals():
    assert brume.discrete_laplace(7, Decimal("0.001")) == 7  # another with probability below 2 exp(-1000)
    assert brume.exponential([0, 1000], Decimal(1), sensitivity=Fraction(1, 3)) == 1  # e^-1500
    assert brume.SparseVector(100, Decimal("0.5")).hits_left == 1


def test_the_magic_charges_what_was_typed(con):
    from brume.magic import brume_magic

    con.query(COUNT, epsilon=Decimal("9.9"))
    with pytest.raises(brume.BudgetError):  # 10 less 9.9; read as a double it would be 0.1
        brume_magic("--epsilon 0.10000000000000000001", "SELECT COUNT(*) AS m FROM survey WHERE age > 30")
