"""What the tests share: a small table and a ledger that has it."""

import pytest

import brume

BUDGET = "epsilon=10,delta=1e-6"


def write_table(path, people=3000):
    towns = ["Aix", "Bex", "Cully"]
    lines = [f"{i},{towns[i % 3]},{20 + i % 60}" for i in range(people)]
    path.write_text("person,town,age\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "survey.csv")
    return tmp_path


@pytest.fixture
def con(folder):
    with brume.connect("brume.db", progress=False) as opened:
        opened.register("survey", "survey.csv", unit="person", budget=BUDGET,
                        bounds={"age": "0..100"}, domain={"town": "Aix,Bex,Cully"})
        yield opened
