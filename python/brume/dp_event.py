"""Events of dp_accounting as expressions of brume. dp_accounting itself is not imported."""

from __future__ import annotations

import math
from typing import Any, List, Optional

from .errors import UnsupportedError


class NoPrivacy(Exception):
    """The event releases data as it is: no epsilon does."""


def _number(value: Any) -> str:
    return repr(float(value))


def _terms(event: Any, count: int) -> List[str]:
    kind = type(event).__name__
    times = f"*{count}" if count != 1 else ""
    if kind == "NoOpDpEvent" or count == 0:
        return []
    if kind == "NonPrivateDpEvent":
        raise NoPrivacy
    if kind == "SelfComposedDpEvent":
        return _terms(event.event, count * int(event.count))
    if kind == "ComposedDpEvent":
        return [term for inner in event.events for term in _terms(inner, count)]
    if kind == "PoissonSampledDpEvent":
        inner = _terms(event.event, 1)
        if len(inner) != 1 or inner[0].endswith(tuple("0123456789")):
            raise UnsupportedError("one sample of several releases has no law here",
                                   "sample for each release, or use one release")
        return [f"poisson(rate={_number(event.sampling_probability)}, {inner[0]}){times}"]
    if kind == "GaussianDpEvent":
        return [f"gaussian(sigma={_number(event.noise_multiplier)}){times}"]
    if kind == "LaplaceDpEvent":
        return [f"laplace(scale={_number(event.noise_multiplier)}){times}"]
    if kind == "DiscreteLaplaceDpEvent":
        # its noise parameter is 1/scale; brume takes parameters as known up to 8 roundings
        return [f"discrete_laplace(scale={_number(1 / event.noise_parameter)}, "
                f"sensitivity={int(event.sensitivity)}){times}"]
    if kind == "RandomizedResponseDpEvent":
        flip, k = float(event.noise_parameter), int(event.num_buckets)
        if flip == 0:
            raise NoPrivacy
        if flip == 1:
            return []
        return [f"randomized_response(epsilon={_number(math.log1p((1 - flip) * k / flip))}, k={k}){times}"]
    if kind == "EpsilonDeltaDpEvent":
        if float(event.delta) == 0:
            return [f"pure(epsilon={_number(event.epsilon)}){times}"]
        return [f"approximate(epsilon={_number(event.epsilon)}, delta={_number(event.delta)}){times}"]
    if kind == "ZCDpEvent" and float(event.xi) == 0:
        return [f"zcdp(rho={_number(event.rho)}){times}"]
    raise UnsupportedError(f"a {kind} is not one of brume's releases",
                           "brume.mechanisms() lists what there is")


def expression_of(expression: Any) -> Optional[str]:
    """The expression as text: itself, or that of an event of dp_accounting. None: nothing is released."""
    if isinstance(expression, str):
        return expression
    if not type(expression).__name__.endswith("DpEvent"):
        raise TypeError(f"an expression is a text or an event of dp_accounting, not {type(expression).__name__}")
    terms = _terms(expression, 1)
    return " + ".join(terms) or None
