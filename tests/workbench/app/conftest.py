"""What tests of the page share."""

from __future__ import annotations

import pytest
from page import Page

from workbench.app import close_all


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
