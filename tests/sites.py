"""The documentation's site, built."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def sphinx(builder: str, target: Path) -> subprocess.CompletedProcess[str]:
    """Build it in a folder; of a site to be read, a warning is an error."""
    command = [sys.executable, "-m", "sphinx", "-q", "--keep-going", "-b", builder, str(ROOT / "docs"), str(target)]
    command += ["-W"] if builder == "html" else []
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
