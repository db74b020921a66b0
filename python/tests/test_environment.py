"""The host's rounding mode, subnormal numbers and locale change no number, or are refused."""

import ctypes
import ctypes.util
import locale
import os
import subprocess
import sys

import numpy as np
import pytest

import brume

NEAREST, MODES = 0, {"down": 0x400, "up": 0x800, "zero": 0xC00}  # of x86-64's <fenv.h>
COUNT = "SELECT COUNT(*) AS n FROM survey"
libm = ctypes.CDLL(ctypes.util.find_library("m"))
on_x86 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="the modes are those of x86-64")


@pytest.fixture(params=sorted(MODES))
def rounding(request):
    assert libm.fesetround(MODES[request.param]) == 0
    yield
    libm.fesetround(NEAREST)


def numbers():
    return (brume.account("gaussian(sigma=5)*10 + laplace(scale=20)*3", delta=1e-6),
            brume.calibrate("gaussian(sigma=?)*100", epsilon=1, delta=1e-6),
            brume.accuracy("laplace(scale=2)", beta=0.05), str(brume.mechanism("laplace")))


EXPECTED = numbers()


@on_x86
def test_accounts_in_every_rounding_mode(rounding):
    mode = libm.fegetround()
    assert mode != NEAREST and numbers() == EXPECTED and libm.fegetround() == mode


@on_x86
@pytest.mark.parametrize("draw", [
    lambda: brume.discrete_laplace(np.arange(100), 1e-3), lambda: brume.laplace(np.arange(100), 1e-3),
    lambda: brume.discrete_gaussian(np.arange(100), 1e-3), lambda: brume.gaussian(np.arange(100), 1e-3),
    lambda: brume.randomized_response(np.arange(100), 1e3, 100),
], ids=["discrete_laplace", "laplace", "discrete_gaussian", "gaussian", "randomized_response"])
def test_noise_is_right_or_refused_in_every_rounding_mode(rounding, draw):
    """P[any of 100 is moved] < 200 exp(-500) at these spreads; a mode that a law cannot have is refused."""
    mode = libm.fegetround()
    try:
        assert (draw() == np.arange(100)).all()
    except brume.ArgumentError as refused:
        assert "rounding" in refused.message and refused.hint
    assert libm.fegetround() == mode


@on_x86
def test_questions_in_every_rounding_mode(rounding, folder):
    with brume.connect("brume.db", progress=False) as con:
        con.register("survey", "survey.csv", unit="person", budget="epsilon=1",
                     bounds={"age": "0..100"})
        assert con.explain(COUNT, epsilon=0.1)["cost"]["epsilon"] == 0.1
        con.query(COUNT, epsilon=0.1)
        con.query("SELECT COUNT(*) AS n FROM survey WHERE age > 30", epsilon=0.2)
        libm.fesetround(NEAREST)
        assert con.budget("survey")["spent"]["epsilon"] == pytest.approx(0.3, rel=1e-15)


COMMA = """
import locale, sys
locale.setlocale(locale.LC_ALL, sys.argv[1])
import brume
assert locale.localeconv()["decimal_point"] == ","
assert brume.account("laplace(scale=0.5)", delta=0).upper == 2
assert brume.account("laplace(scale=0.5)", epsilon=1.5).upper > 0
assert "1.414 " in str(brume.mechanism("laplace")).replace("\\n", " ")
assert brume.discrete_laplace(7, 0.001) == 7
assert locale.localeconv()["decimal_point"] == ","
"""


@pytest.fixture
def locale_with_a_comma(tmp_path):
    """German numbers, compiled for this test where the system's sources of locales are there."""
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")],
                          capture_output=True) if os.path.exists("/usr/share/i18n/locales/de_DE") else None
    if made is None or not (tmp_path / "de_DE.UTF-8").exists():
        pytest.skip("no sources of locales")
    return dict(os.environ, LOCPATH=str(tmp_path))


def test_a_locale_with_a_decimal_comma(locale_with_a_comma):
    assert subprocess.run([sys.executable, "-c", COMMA, "de_DE.UTF-8"], env=locale_with_a_comma).returncode == 0
    assert locale.localeconv()["decimal_point"] == "."


OTHER_VERSION = """
import sys, types
sys.modules["brume._version"] = other = types.ModuleType("brume._version")
other.__version__ = "99.0.0"
import brume
"""


@pytest.mark.parametrize("code, folder_of_libraries, said", [
    (OTHER_VERSION, None, "install both from one source"), ("import brume", "/nonexistent", "BRUME_LIBRARY_DIR")])
def test_a_library_that_is_not_there_or_of_another_version(code, folder_of_libraries, said):
    environment = dict(os.environ)
    if folder_of_libraries:
        environment["BRUME_LIBRARY_DIR"] = folder_of_libraries
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and "ImportError" in done.stderr and said in done.stderr
