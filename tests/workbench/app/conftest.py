"""What tests of the page share."""

from __future__ import annotations

import pytest
from page import Page

from workbench.app import close_all


@pytest.fixture(scope="session")
def shell():
    """IPython in this process, of which there can be one."""
    from IPython.testing.globalipapp import start_ipython

    return start_ipython()


@pytest.fixture(autouse=True)
def closed():
    """Whatever a test opens is closed after it."""
    yield
    close_all()


@pytest.fixture
def page():
    """A page as it opens, its preview shown."""
    opened = Page()
    opened.wait()
    return opened
