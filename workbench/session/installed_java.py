"""The Java that Spark would start, and what to do where it is none that the installed Spark runs on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from workbench import spark_versions
from workbench.errors import JavaError

__all__ = ["check_java", "java_remedy"]


def java_remedy() -> str:
    """What installs a Java that the installed Spark runs on."""
    spark = spark_versions.here()
    return (
        f"{spark} needs Java {spark.java_words}: on Debian or Ubuntu `sudo apt-get install openjdk-17-jre-headless`, "
        "on macOS `brew install openjdk@17`, on Windows `winget install EclipseAdoptium.Temurin.17.JRE`"
    )


def check_java() -> str:
    """What ``java -version`` says of the Java that Spark would start.

    Raises
    ------
    JavaError
        If there is none, or none that the installed Spark runs on; one line with the command that installs one.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or (home and not Path(java).exists() and shutil.which(java) is None):
        where = f"JAVA_HOME is {home}, where there is no bin/java" if home else "no Java found"
        raise JavaError(f"{where}. {java_remedy()}")
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JavaError(f"{java} does not run ({error}). {java_remedy()}") from None
    output = done.stderr + done.stdout
    found = re.search(r'version "(?:1\.)?(\d+)', output)
    if found is None:
        raise JavaError(f"{java} is no Java that works. {java_remedy()}")
    if not spark_versions.here().runs_on_java(int(found.group(1))):
        raise JavaError(f"{java} is Java {found.group(1)}. {java_remedy()}, and point JAVA_HOME at it")
    return output
