"""JupyterLab in a process of its own, and a page in Debian's chromium."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
import warnings
from pathlib import Path

import nbformat
import page as pages
import parts
from playwright.sync_api import TimeoutError as TimedOut

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
]


@contextlib.contextmanager
def lab(home: Path, root: Path):
    """Start JupyterLab on `root`; gives its address."""
    folders = {
        name: str(home / name)
        for name in (
            "JUPYTER_CONFIG_DIR",
            "JUPYTER_DATA_DIR",
            "JUPYTER_RUNTIME_DIR",
            "JUPYTERLAB_SETTINGS_DIR",
            "JUPYTERLAB_WORKSPACES_DIR",
            "IPYTHONDIR",
        )
    }
    quiet = home / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}))
    unsaved = quiet.parents[1] / "docmanager-extension" / "plugin.jupyterlab-settings"
    unsaved.parent.mkdir()
    unsaved.write_text(json.dumps({"autosave": False}))  # a page comes back as its notebook was saved
    port = parts.free_port()
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}", *options(port)]
    with serving(command, port, env=os.environ | folders) as address:
        yield address


def options(port: int) -> list[str]:
    """JupyterLab's options for a test: no token, no browser, its app to be called from the page."""
    return [
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        "--ServerApp.password=",
        "--LabApp.expose_app_in_browser=True",
    ]


@contextlib.contextmanager
def serving(command, port: int, end=subprocess.Popen.terminate, **more):
    """A server of JupyterLab, from its first answer to its end; gives its address."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 90
        while True:
            try:
                urllib.request.urlopen(address + "/api", timeout=2).close()  # noqa: S310 - our own server
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.3)
        yield address
    finally:
        end(process)
        process.wait(30)


@contextlib.contextmanager
def chromium():
    """Debian's chromium, driven by Playwright, of which there is one at a time in a process."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def page(address: str, notebook: str, size=(1440, 1100), dark=False, browser=None):
    """Open a notebook, its kernel ready, in a window of a browser or in a browser of its own; gives Playwright's page."""
    with contextlib.ExitStack() as ends:
        browser = browser or ends.enter_context(chromium())
        window = browser.new_context(viewport={"width": size[0], "height": size[1]})
        ends.callback(window.close)
        opened = window.new_page()
        opened.set_default_timeout(90_000)  # two tests, Spark and a kernel share two cores
        opened.goto(f"{address}/lab/workspaces/test/tree/{notebook}?reset")
        opened.wait_for_selector(".jp-Notebook .jp-Cell", timeout=180_000)
        opened.wait_for_function(
            """() => {
                const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
                return context?.isReady && context.session?.kernel?.status === 'idle';
            }""",
            timeout=180_000,
        )
        theme = f"JupyterLab {'Dark' if dark else 'Light'}"
        opened.evaluate("theme => void window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
        yield opened


def notebook(*cells):
    """A notebook of cells of code."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    book.metadata.kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return book


def saved(folder, name, *cells):
    """The name of a notebook of cells of code, written into a folder."""
    nbformat.write(notebook(*cells), folder / name)
    return name


def come(opened, ask, arrived):
    """Ask a page to come and wait until it has; once more, and told, if a busy machine lost it."""
    ask()
    try:
        arrived()
    except TimedOut as lost:
        told = f"the page did not come, and is asked for again: {lost.message}\n{there(opened)}"
        warnings.warn(told, stacklevel=2)
        ask()
        arrived()


def run_all(opened, arrived):
    """Run every cell of the notebook that is open, and wait until its page has come."""
    run = "void window.jupyterapp.commands.execute('notebook:run-all-cells')"
    come(opened, lambda: opened.evaluate(run), arrived)


def view(opened, name):
    """Open a view of the page, in its group."""
    group = pages.GROUP_OF[name]
    opened.click(f".sjw-groups button:text-is('{group}')")
    if list(pages.GROUP_OF.values()).count(group) > 1:
        opened.click(f".sjw-tabs button:text-is('{name}')")


def settings(opened):
    """Show the settings, which are folded away where the page is narrow."""
    opened.wait_for_selector(".sjw-head button:has-text('Settings')")
    if not opened.locator(".sjw-left:visible").count():
        opened.locator(".sjw-head button:has-text('Settings')").first.click()
        opened.wait_for_selector(".sjw-left:visible")
        fits = """() => [...document.querySelectorAll('.sjw-chart canvas')].every(
            each => !each.offsetParent || each.clientWidth <= each.closest('.sjw-chart').clientWidth)"""
        opened.wait_for_function(fits)  # drawn anew in what room is left


def there(opened):
    """What a notebook and its charts show, for a page that did not come."""
    script = """() => [
        ...[...document.querySelectorAll('.jp-Cell')].map(each => each.innerText.slice(0, 1000)),
        ...[...document.querySelectorAll('.sjw-chart')].map(each => each.outerHTML.slice(0, 1000)),
        document.visibilityState,
    ].join('\\n---\\n')"""
    return opened.evaluate(script)
