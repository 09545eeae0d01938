"""How Sphinx builds the site: ``python3 dev.py docs``. The notebooks are shown as they were saved."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import workbench

project = "Stream-join workbench"
author = "the maintainers"
version = release = workbench.__version__

sys.path.insert(0, str(Path(__file__).parent))  # explorable.py, gallery.py

extensions = ["explorable", "gallery", "myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["refresh.py"]
html_static_path = ["static"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "off"
default_role = "py:obj"  # docstrings name classes and functions in single backticks
suppress_warnings = ["misc.highlighting_failure"]  # text with "…" in it is no whole program

autodoc_typehints = "none"  # the signatures have them
autodoc_member_order = "bysource"
napoleon_google_docstring = False

html_theme = "furo"
html_title = project
html_show_copyright = False
html_show_sphinx = False

linkcheck_anchors = False
linkcheck_ignore = [r"https://pypi\.org/"]  # where packages come from a mirror, it answers in its place
linkcheck_timeout = 10
linkcheck_retries = 1


def _notebooks() -> None:
    """The saved notebooks, below the site's source, with their links to the pages as they are from there."""
    here = Path(__file__).parent
    target = here / "notebooks"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for each in sorted((here.parent / "notebooks").glob("*.ipynb")):
        (target / each.name).write_text(each.read_text().replace("](../docs/", "](../"))


_notebooks()
