"""The app that ``%workbench`` opens."""

from __future__ import annotations

from workbench.app._app import App, close_all, current

__all__ = ["App", "close_all", "current"]
