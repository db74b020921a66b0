"""A build backend that calls meson-python in the folder above, where the C library and the settings
are: `pip install ./python` and `pip install .` build the same package.

What is missing on the machine is named before anything is built. The list of packages is that of ./run.
"""

import os
import re
import shutil
import subprocess
import sys

import mesonpy

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
os.chdir(TOP)
os.environ.setdefault("BRUME_PYTHON", sys.executable)  # which has pip: tools/fetch-duckdb uses it

# Of the list: what pip brings itself, and what only the command line, the server and the tests need.
NOT_NEEDED = {"meson", "ninja-build", "libedit-dev", "libmicrohttpd-dev", "libcmocka-dev"}


def build_packages():
    """(Debian's name, how to see that it is there) of each package that is needed to build; a name with ? is of
    one that not every release has."""
    with open("run", encoding="utf-8") as file:
        listed = re.search(r"^build_packages='\n(.*?)^'", file.read(), re.M | re.S)
    pairs = [line.split() for line in listed[1].splitlines() if line.strip()]
    return [(name, probe) for name, probe in pairs if name not in NOT_NEEDED]


def is_there(probe):
    kind, what = probe.split(":", 1)
    if kind == "command":
        return shutil.which(what) is not None
    return any(preprocesses(f"#include <{name}>\n".encode()) for name in what.split(","))


def preprocesses(text):
    compiler = os.environ.get("CC") or "cc"
    try:
        return subprocess.run([*compiler.split(), "-E", "-x", "c", "-"], input=text,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def check():
    missing = [name for name, probe in build_packages() if not is_there(probe)]
    if missing:
        everywhere = " ".join(name for name in missing if not name.endswith("?"))
        some = " ".join(name[:-1] for name in missing if name.endswith("?"))
        raise SystemExit("brume cannot be built: these packages are missing (by their names in Debian): "
                         + " ".join(missing).replace("?", "")
                         + (f"\ninstall them, for example with: apt-get install {everywhere}" if everywhere else "")
                         + (f"\nwhere the release has it, also: apt-get install {some}" if some else ""))


def build_wheel(*arguments, **named):
    check()
    return mesonpy.build_wheel(*arguments, **named)


def build_editable(*arguments, **named):
    check()
    return mesonpy.build_editable(*arguments, **named)


build_sdist = mesonpy.build_sdist
get_requires_for_build_wheel = mesonpy.get_requires_for_build_wheel
get_requires_for_build_sdist = mesonpy.get_requires_for_build_sdist
get_requires_for_build_editable = mesonpy.get_requires_for_build_editable
