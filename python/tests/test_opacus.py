"""Opacus: a private training loop that brume accounts for. Skipped where Opacus is not installed."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("opacus")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import brume  # noqa: E402


@pytest.fixture(scope="module")
def trained():
    import opacus_training

    brume.opacus.register()
    engine, right = opacus_training.train("brume")
    return opacus_training, engine, right


def test_training_is_accounted(trained):
    _, engine, right = trained
    steps = len(engine.accountant)
    assert steps == 120 and right > 0.7
    wanted = brume.account(f"poisson(rate=0.025, gaussian(sigma=1.1))*{steps}", delta=1e-5)
    assert engine.get_epsilon(1e-5) == wanted.upper


def test_tighter_than_rdp_and_near_prv(trained):
    bench, engine, _ = trained
    rows = {name: (epsilon, time) for name, epsilon, time in bench.compare(engine.accountant.history)}
    assert rows["brume"][0] <= rows["rdp"][0]
    assert abs(rows["brume"][0] - rows["prv"][0]) < 0.05
    assert rows["brume"][1] < rows["prv"][1] and rows["brume"][1] < rows["rdp"][1]


def test_noise_for_a_target(trained):
    from opacus.accountants.utils import get_noise_multiplier

    found = get_noise_multiplier(target_epsilon=2.0, target_delta=1e-5, sample_rate=0.025, steps=120,
                                 accountant="brume")
    assert brume.account(f"poisson(rate=0.025, gaussian(sigma={found!r}))*120", delta=1e-5).upper <= 2.0


def test_registering_again_changes_nothing():
    brume.opacus.register()
    brume.opacus.register()
