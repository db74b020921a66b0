"""Every block of docs/python is run, in order; what it prints is what the page says, numbers apart.

Limits are chosen privately, so that chance decides which columns have a bar and which are called biased
(in 3 of 100 runs a column of the first answer has none): these are left out.

A block of a peer (```python opendp) is run where the peer is installed.
"""

import contextlib
import importlib.util
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "docs" / "python"
BLOCK = re.compile(r"^```python *(\w*)\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.M | re.S)


def without_numbers(text):
    text = re.sub(r" ± \S+|^may be biased by .*$", "", text, flags=re.M)
    text = re.sub(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", "#", text)
    return [line.split() for line in text.splitlines() if line.strip()]


@pytest.mark.skipif(not PAGES.exists(), reason="the repository is not here")
@pytest.mark.parametrize("page", ["README.md", "from-other-libraries.md"])
def test_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    ran = 0
    for peer, code, wanted in BLOCK.findall((PAGES / page).read_text()):
        if peer and importlib.util.find_spec(peer) is None:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), names)
        assert without_numbers(printed.getvalue()) == without_numbers(wanted), code
        ran += 1
    assert ran >= 4


@pytest.mark.skipif(not PAGES.exists(), reason="the repository is not here")
def test_the_reference_is_what_the_docstrings_say():
    maker = PAGES.parents[1] / "tools" / "docs" / "python_reference"
    assert subprocess.run([sys.executable, str(maker), "--check"]).returncode == 0
