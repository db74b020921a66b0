"""The exceptions are those of include/brume/status.def."""

import re
from pathlib import Path

import pytest

import brume
from brume import errors

STATUS = Path(__file__).resolve().parents[2] / "include" / "brume" / "status.def"


@pytest.mark.skipif(not STATUS.exists(), reason="the repository is not here")
def test_every_status_has_its_class():
    rows = re.findall(r'^BRUME_STATUS\((\w+), (\d+), (\d+), "(\w+)", "(\w+)"', STATUS.read_text(), re.M)
    assert len(rows) == len(errors._STATUS) + 1
    for _, value, exit_code, sqlstate, word in rows[1:]:
        made = errors.error_of_status(int(value), "text", "hint")
        assert (made.code, made.exit_code, made.sqlstate) == (word, int(exit_code), sqlstate)
        assert type(errors.error_of_code(word, "text")) is type(made)
        assert isinstance(made, brume.BrumeError) and "text" in str(made) and made.hint == "hint"


def test_the_version_is_the_repository_s():
    version = STATUS.parents[2] / "VERSION"
    if version.exists():
        assert brume.__version__ == version.read_text().strip()
