"""The site: its pages are what the workbench gives, every link leads somewhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import workbench as wb

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import refresh  # noqa: E402 - a script beside the pages
from sites import sphinx  # noqa: E402


class Page(HTMLParser):
    """The links of a page, and the places in it that links can lead to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places |= {found[name] for name in ("id", "name") if found.get(name)}
        self.links |= {found[name] for name in ("href", "src") if found.get(name)}


def test_every_link_within_the_site_leads_somewhere(site):
    pages = {file: Page(file.read_text()) for file in site.rglob("*.html")}
    assert len(pages) > 25
    lost = []
    for file, page in pages.items():
        for link in page.links:
            to = urlsplit(link)
            if to.scheme or to.netloc:
                continue
            target = (file.parent / unquote(to.path)).resolve() if to.path else file
            named = target.suffix == ".html" and to.fragment not in ("", "top")
            if not target.exists() or (named and to.fragment not in pages[target].places):
                lost.append((file.name, link))
    assert not lost


def test_nothing_is_loaded_from_elsewhere(site):
    loaded = re.compile(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(https?:[^"]+)"')
    found = {link for file in site.rglob("*.html") for link in loaded.findall(file.read_text())}
    assert not found


@pytest.mark.slow
def test_links_to_other_sites_answer_where_there_is_a_network(tmp_path):
    sphinx("linkcheck", tmp_path)
    links = [json.loads(line) for line in (tmp_path / "output.json").read_text().splitlines()]
    assert any(each["uri"].startswith("https://") for each in links)
    lost = [each for each in links if re.match(r"4\d\d ", each["info"])]
    assert not lost


def test_links_in_the_readme_lead_somewhere():
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            assert link.startswith("https://") or (ROOT / link).exists(), link


@pytest.mark.parametrize("file", refresh.PAGES, ids=lambda file: file.stem)
def test_a_joins_page_is_what_the_workbench_gives(file, tmp_path, spark):
    """`python docs/refresh.py` brings the pages up to date."""
    page = file.read_text()
    space, chart = refresh.example(page)
    for word, text in refresh.texts(space["run"]).items():
        assert refresh.block(page, word) == text
    for more in re.findall(r"(?<=^```python\n)(.*?)(?=^```$)", page, re.M | re.S)[1:]:
        exec(more, space)
    chart.save(tmp_path / "now.png", scale_factor=1.5)
    now, kept = (size(each) for each in (tmp_path / "now.png", file.with_suffix(".png")))
    assert all(abs(a - b) <= 8 for a, b in zip(now, kept, strict=True))  # fonts differ between machines
    for part in ("When to use it", "PySpark", "Apache Flink", "What differs, and why", "State and latency"):
        assert f"\n## {part}\n" in page


def size(picture):
    """Width and height, from a PNG's header."""
    head = picture.read_bytes()[16:24]
    return int.from_bytes(head[:4]), int.from_bytes(head[4:])


def test_every_public_name_is_in_the_reference(site):
    text = (site / "api.html").read_text()
    for name in set(wb.__all__) - {"flink", "frames"}:
        assert re.search(rf'id="workbench(\.\w+)*\.{name}"', text), name
    assert 'id="workbench.flink.sql"' in text
    assert 'id="workbench.frames.stream"' in text


def test_the_builds_leavings_are_ignored():
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no git, or no history")
    ignored = subprocess.run(["git", "check-ignore", "-q", "docs/notebooks/x.ipynb"], cwd=ROOT, check=False)
    assert ignored.returncode == 0


def test_the_tests_that_are_named_beside_what_differs_are_there():
    page = (ROOT / "docs" / "spark-versions.md").read_text()
    named = re.findall(r"`([\w./]+\.py)::(\w+)(?:\[([\w.-]+)\])?`", page)
    assert len(named) > 20
    for file, test, case in named:
        text = (ROOT / "tests" / "workbench" / file).read_text()
        assert f"\ndef {test}(" in text, (file, test)
        assert not case or f'"{case.split("-")[0]}"' in text, case
