"""The library's mechanism cards as Python documentation: ``help(brume.laplace)`` ends with the card."""

from __future__ import annotations

import inspect
from typing import Any, Callable, TypeVar

from ._client import text_without_ledger

__all__ = ["with_card"]

Documented = TypeVar("Documented", bound=Any)


def with_card(name: str) -> Callable[[Documented], Documented]:
    """Add the card of a mechanism to the docstring of what draws from it."""
    def add(documented: Documented) -> Documented:
        card = text_without_ledger("mechanisms", {"name": name})
        documented.__doc__ = f"{inspect.cleandoc(documented.__doc__ or '')}\n\nThe mechanism's card::\n\n" + "".join(
            f"    {line}\n" if line else "\n" for line in card.splitlines())
        return documented

    return add
