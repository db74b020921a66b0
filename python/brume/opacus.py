"""brume as an accountant of Opacus: ``brume.opacus.register()``, then
``PrivacyEngine(accountant="brume")``."""

from __future__ import annotations

from typing import Any

from .accounting import account


def _epsilon(history: Any, delta: float) -> float:
    terms = []
    for noise_multiplier, sample_rate, steps in history:
        release = f"gaussian(sigma={float(noise_multiplier)!r})"
        if float(sample_rate) < 1:
            release = f"poisson(rate={float(sample_rate)!r}, {release})"
        terms.append(f"{release}*{int(steps)}")
    return account(" + ".join(terms), delta=float(delta)).upper if terms else 0.0


def register(name: str = "brume") -> None:
    """Make brume's accountant known to Opacus under ``name``. It may be called again."""
    from opacus.accountants import IAccountant
    from opacus.accountants.registry import register_accountant

    class BrumeAccountant(IAccountant):  # type: ignore[misc]
        """Certified upper bounds of epsilon for Poisson-sampled Gaussian steps."""

        def __init__(self) -> None:
            super().__init__()

        def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
            if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
                self.history[-1] = (noise_multiplier, sample_rate, self.history[-1][2] + 1)
            else:
                self.history.append((noise_multiplier, sample_rate, 1))

        def get_epsilon(self, delta: float, **_: Any) -> float:
            return _epsilon(self.history, delta)

        def __len__(self) -> int:
            return sum(steps for _, _, steps in self.history)

        @classmethod
        def mechanism(cls) -> str:
            return name

    register_accountant(mechanism=name, accountant=BrumeAccountant, force=True)
