"""Certified accounting: what releases cost together, and how much noise a target needs.

Releases are written as an expression such as ``"laplace(scale=10)*5 + gaussian(sigma=2)*100"``, or given
as an event of dp_accounting (``GaussianDpEvent``, ``PoissonSampledDpEvent``, ...).
"""

from __future__ import annotations

import math
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence

from ._client import call_without_ledger, text_without_ledger
from ._numbers import typed
from .dp_event import NoPrivacy, expression_of

__all__ = ["Interval", "Calibration", "Accuracy", "account", "calibrate", "accuracy", "loss",
           "mechanisms", "mechanism", "Card"]


class Interval(NamedTuple):
    """A certified interval: the truth is between ``lower`` and ``upper``; ``upper`` may be claimed.

    ``lower`` is None where the method gives no lower bound. ``upper`` is infinite where no epsilon
    does.
    """

    lower: Optional[float]
    upper: float
    method: str

    def __float__(self) -> float:
        return self.upper


class Calibration(NamedTuple):
    """The least noise that meets a target: ``parameter`` is its name, ``value`` its number."""

    parameter: str
    value: float
    epsilon_upper: float
    delta: float

    def __float__(self) -> float:
        return self.value


class Accuracy(NamedTuple):
    """P[error >= alpha] <= beta."""

    alpha: float
    beta: float


def _without_none(**options: Any) -> Dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _typed(numbers: Optional[Sequence[float]]) -> Optional[str]:
    return None if numbers is None else ",".join(typed(number) for number in numbers)


def account(expression: Any, *, delta: Optional[float] = None, epsilon: Optional[float] = None,
            method: Optional[str] = None, adjacency: Optional[str] = None,
            group: Optional[int] = None) -> Interval:
    """The epsilon of a ``delta``, or the delta of an ``epsilon``, as a certified interval."""
    if (delta is None) == (epsilon is None):
        raise TypeError("give either delta= or epsilon=")
    word = "epsilon" if epsilon is None else "delta"
    known: Optional[float] = None  # without the library: nothing is released, or everything
    try:
        text = expression_of(expression)
        known = 0.0 if text is None else None
    except NoPrivacy:
        text, known = None, math.inf if word == "epsilon" else 1.0
    answer = call_without_ledger("account", _without_none(
        expr="pure(epsilon=1)" if text is None else text, delta=delta, epsilon=epsilon, method=method,
        adjacency=adjacency, group=group))  # which refuses what is wrong in any case
    if known is not None:
        return Interval(known, known, "exact")
    upper = answer[f"{word}_upper"]
    return Interval(answer[f"{word}_lower"], math.inf if upper is None else upper, answer["method"])


def calibrate(expression: str, *, epsilon: float, delta: Optional[float] = None,
              adjacency: Optional[str] = None) -> Calibration:
    """The least noise for which the expression, with one ``?``, is certified (epsilon, delta)-DP."""
    answer = call_without_ledger("calibrate", _without_none(
        expr=expression, epsilon=epsilon, delta=delta, adjacency=adjacency))
    return Calibration(answer["parameter"], answer["value"], answer["epsilon_upper"], answer["delta"])


def accuracy(expression: str, *, beta: Optional[float] = None,
             alpha: Optional[float] = None) -> Accuracy:
    """How far one release may be off: the alpha of a ``beta``, or the beta of an ``alpha``."""
    answer = call_without_ledger("accuracy", _without_none(expr=expression, beta=beta, alpha=alpha))
    return Accuracy(answer["alpha"], answer["beta"])


def loss(expression: Optional[str] = None, *, p: Optional[Sequence[float]] = None,
         q: Optional[Sequence[float]] = None, epsilon: Iterable[float] = (),
         order: Iterable[float] = ()) -> Dict[str, Any]:
    """The privacy-loss variable: mean, variance, tail at each ``epsilon``, divergence at each ``order``."""
    options = _without_none(expr=expression, p=_typed(p), q=_typed(q))
    for name, values in (("epsilon", list(epsilon)), ("order", list(order))):
        if values:
            options[name] = values
    return call_without_ledger("loss", options)


class Card(Dict[str, Any]):
    """A mechanism's card: what it does, its parameters, its guarantee, accuracy and proof.

    A dict of its fields, which shows as the text that ``brume mechanisms NAME`` has.
    """

    def __str__(self) -> str:
        return text_without_ledger("mechanisms", {"name": self["name"]})

    def __repr__(self) -> str:
        return str(self).rstrip("\n")


def mechanisms() -> List[Card]:
    """Every mechanism's card."""
    return [Card(card) for card in call_without_ledger("mechanisms", {})["mechanisms"]]


def mechanism(name: str) -> Card:
    """The card of one mechanism, by its name in expressions: ``print(brume.mechanism("laplace"))``."""
    return Card(call_without_ledger("mechanisms", {"name": name})["mechanisms"][0])
