"""The app that ``%workbench`` opens."""

from __future__ import annotations

from workbench.app._app import App, current
from workbench.app._kept_settings import kept_in_notebook
from workbench.process import close_pages as close_all

__all__ = ["App", "close_all", "current", "kept_in_notebook"]
