"""Every block of docs/python is run, in order, and what it prints is what the page says.

What stands under a block is compared to the last digit. Under ```text noisy noise was drawn: there the words
must be those of the page, and each number within a third of the page's, which noise exceeds with a
probability below 1e-9. Limits are chosen privately, so that chance decides which of those columns have a bar,
how wide it is and which are called biased: a bar must be within a factor of 8 of the page's where there is one.

A block of a peer (```python opendp) is run where the peer is installed; with $BRUME_PEERS it must be.
"""

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "docs" / "python"
BLOCK = re.compile(r"^```python *(\w*)\n(.*?)^```\n(?:```text *(\w*)\n(.*?)^```\n)?", re.M | re.S)
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"


def pieces(text):
    """The words of a text with # for its numbers; the numbers; the bars, by line and place."""
    bars = [[float(bar) for bar in re.findall(f"± ({NUMBER})", line)] for line in text.splitlines()]
    text = re.sub(r" ± \S+|^may be biased by .*$", "", text, flags=re.M)
    words = [re.sub(NUMBER, "#", line).split() for line in text.splitlines() if line.strip()]
    return words, [float(number) for number in re.findall(NUMBER, text)], [line for line in bars if line]


def check_noisy(printed, wanted):
    words, numbers, bars = pieces(printed)
    page_words, page_numbers, page_bars = pieces(wanted)
    assert words == page_words
    for number, page_number in zip(numbers, page_numbers):
        assert abs(number - page_number) <= abs(page_number) / 3, (number, page_number)
    for line, page_line in zip(bars, page_bars):
        for bar, page_bar in zip(line, page_line):
            assert len(line) < len(page_line) or page_bar / 8 <= bar <= page_bar * 8, (bar, page_bar)


def check(code, kind, printed, wanted):
    if kind == "noisy":
        check_noisy(printed, wanted)
    else:
        assert kind == "" and printed == wanted, code


@pytest.mark.skipif(not PAGES.exists(), reason="the repository is not here")
@pytest.mark.parametrize("page", ["README.md", "from-other-libraries.md", "opacus.md"])
def test_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, ran = {}, 0
    blocks = BLOCK.findall((PAGES / page).read_text())
    for peer, code, kind, wanted in blocks:
        if peer and not os.environ.get("BRUME_PEERS") and importlib.util.find_spec(peer) is None:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), names)
        check(code, kind, printed.getvalue(), wanted)
        ran += 1
    if not ran:
        pytest.skip("what it is about is not installed")
    assert len(blocks) >= 1


@pytest.mark.parametrize("printed", ["Aix  4987 ± 27", "Aix 1987 ± 27000", "Bex 1987 ± 27", "Aix 1987 ± 0.1"])
def test_a_page_that_says_something_else_is_refused(printed):
    check_noisy("Aix  2087 ± 40\n", "Aix 1987 ± 27\n")
    with pytest.raises(AssertionError):
        check_noisy(printed, "Aix 1987 ± 27\n")
    with pytest.raises(AssertionError):
        check("", "", "1\n", "2\n")


@pytest.mark.skipif(not PAGES.exists(), reason="the repository is not here")
def test_the_reference_is_what_the_docstrings_say():
    maker = PAGES.parents[1] / "tools" / "docs" / "python_reference"
    assert subprocess.run([sys.executable, str(maker), "--check"]).returncode == 0
