"""Every block of docs/python is run, in order, and what it prints is what the page says.

What stands under a block is compared to the last digit. Under ```text noisy noise was drawn: there the words
must be those of the page, and each number within a third of the page's, which noise exceeds with a
probability below 1e-9. Limits are chosen privately, so that chance decides which of those columns have a bar,
how wide it is and which are called biased: a bar must be within a factor of 8 of the page's where there is one.

A block of a peer (```python opendp) is run where the peer is installed; with $BRUME_PEERS it must be.

    test_documents.py --write      run the pages and write what the blocks print, as ./run docs does
"""

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "docs" / "python"
BLOCK = re.compile(r"^```python *(\w*)\n(.*?)^```\n(?:```text *(\w*)\n(.*?)^```\n)?", re.M | re.S)
RUN = ["README.md", "from-other-libraries.md", "opacus.md"]
NUMBER = r"[-+]?\d(?:\d|,(?=\d{3}))*(?:\.\d+)?(?:e[-+]?\d+)?"


def number_of(text):
    return float(text.replace(",", ""))


def pieces(text):
    """The words of a text with # for its numbers; the numbers; the bars, by line and place."""
    bars = [[number_of(bar) for bar in re.findall(f"± ({NUMBER})", line)] for line in text.splitlines()]
    text = re.sub(r" ± \d\S*|^.*(?:± (?:includes|does not include)|nobody can see) .*$", "", text, flags=re.M)
    words = [re.sub(NUMBER, "#", line).split() for line in text.splitlines() if line.strip()]
    return words, [number_of(number) for number in re.findall(NUMBER, text)], [line for line in bars if line]


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


def run_blocks(page):
    """Run the blocks of a page here; each with what it printed: (match of BLOCK, text)."""
    names = {}
    for block in BLOCK.finditer((PAGES / page).read_text()):
        if block[1] and not os.environ.get("BRUME_PEERS") and importlib.util.find_spec(block[1]) is None:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block[2], page, "exec"), names)
        yield block, printed.getvalue()
    names.clear()  # streams and connections end while their folder is there


@pytest.mark.skipif(not PAGES.exists(), reason="the repository is not here")
@pytest.mark.parametrize("page", RUN)
def test_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = 0
    for block, printed in run_blocks(page):
        check(block[2], block[3] or "", printed, block[4] or "")
        ran += 1
    if not ran:
        pytest.skip("what it is about is not installed")


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


def write_pages():
    """Put what the blocks print now under them; a noisy one only where the page is wrong."""
    for page in RUN:
        text = (PAGES / page).read_text()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for block, printed in list(run_blocks(page)):
                try:
                    check(block[2], block[3] or "", printed, block[4] or "")
                except AssertionError:
                    fence = f"```text {block[3]}" if block[3] else "```text"
                    text = text.replace(block[0], f"{block[0].split(chr(10) + '```')[0]}\n```\n{fence}\n{printed}```\n")
            os.chdir("/")
        (PAGES / page).write_text(text)


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    write_pages()
