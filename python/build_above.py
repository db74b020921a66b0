"""A build backend that calls meson-python in the folder above, where the C library and the settings
are: `pip install ./python` and `pip install .` build the same package."""

import os

import mesonpy

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

build_wheel = mesonpy.build_wheel
build_sdist = mesonpy.build_sdist
build_editable = mesonpy.build_editable
get_requires_for_build_wheel = mesonpy.get_requires_for_build_wheel
get_requires_for_build_sdist = mesonpy.get_requires_for_build_sdist
get_requires_for_build_editable = mesonpy.get_requires_for_build_editable
