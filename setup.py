# SPDX-License-Identifier: MIT
"""Builds the wheel: the Makefile builds library, command and package, and setuptools packs them."""
import os
import re
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

os.makedirs("build", exist_ok=True)
with open("include/vouch.h", encoding="utf-8") as header:
    VERSION = re.search(r'#define VOUCH_VERSION "(.*)"', header.read())[1]


class BuildPackage(build_py):
    """Takes the package from `make python`, which has all of it, generated files and binaries too."""

    def run(self):
        build = os.environ.get("BUILD", "release")
        result = subprocess.run(["make", "python", f"PYTHON={sys.executable}", f"BUILD={build}"], check=False)
        if result.returncode:
            raise SystemExit("vouch: `make python` failed; the message above says why")
        target = os.path.join(self.build_lib, "vouch")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(f"build/{build}/python/vouch", target, ignore=shutil.ignore_patterns("__pycache__"))


class Wheel(bdist_wheel):
    """The binaries fit one platform and any Python 3."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(version=VERSION, distclass=PlatformDistribution, cmdclass={"build_py": BuildPackage, "bdist_wheel": Wheel},
      options={"egg_info": {"egg_base": "build"}})
