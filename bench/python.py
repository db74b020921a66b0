#!/usr/bin/env python3
"""The Python package beside the C library: python/bench/overhead.py on the libraries of this build.

    bench/python.py BRUME CLINIC_VISITS

Called by ./run bench python, which passes two programs that are not needed here. numpy comes from PyPI into
a virtual environment in the build folder, as for the tests of the package.
"""
import os
import subprocess
import sys

top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.path.join(top, "build")
sys.exit(subprocess.run([sys.executable, os.path.join(top, "tests", "package", "run_python.py"), top, build,
                         "bench/overhead.py", os.path.join(build, "bench", "session")]).returncode)
