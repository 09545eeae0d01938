"""What several tests of the project share."""

from __future__ import annotations

import pytest
from sites import sphinx


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The documentation's site, built once."""
    target = tmp_path_factory.mktemp("site")
    built = sphinx("html", target)
    assert built.returncode == 0, built.stderr
    return target
