"""The pytest plugin, in processes of its own: pytest, pytest with two workers, unittest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TEST = """
from shop_streams import ORDERS, PAYMENTS, unpaid_orders
from workbench.testing import micro_batches, play


def unpaid(bound=15):
    return play(
        unpaid_orders,
        orders=micro_batches(ORDERS, [("o-1", "10:00:00")], [], [("o-2", "10:05:00")]),
        payments=micro_batches(PAYMENTS, [], [("o-1", "10:00:20", 1)], [("o-2", "10:05:03", 2)]),
    )


def test_right(streams):
    job = unpaid()
    job.expect(unmatched=1, late=0)
    job.matches("unpaid.json")


def test_wrong(streams):
    assert unpaid().fate(orders="o-1") == "matched"


def test_wrong_count(streams):
    unpaid().expect(matched=2)
"""
UNITTEST = """
import unittest
import test_shop


class Shop(unittest.TestCase):
    def test_of_unittest(self):
        test_shop.unpaid().expect(unmatched=1, late=0)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("project")
    (made / "shop_streams.py").write_text((HERE / "shop_streams.py").read_text(encoding="utf-8"), encoding="utf-8")
    (made / "test_shop.py").write_text(TEST, encoding="utf-8")
    (made / "unittest_shop.py").write_text(UNITTEST, encoding="utf-8")
    return made


def python(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.engine
def test_a_project_with_nothing_but_the_plugin(folder):
    code, said = python(folder, "pytest", "-q", "-p", "no:randomly", "--workbench-update", "--workbench-report", "seen")
    assert code == 1, said
    assert "1 passed" in said or "2 failed, 1 passed" in said
    assert "5 s beyond the upper bound" in said
    assert "2 matched keys expected, 1 found; these rows fared otherwise:" in said
    assert (folder / "unpaid.json").exists()
    written = sorted(each.name for each in (folder / "seen").iterdir())
    assert written == [
        f"test_shop-{name}.{ending}"
        for name in ("test_right", "test_wrong", "test_wrong_count")
        for ending in ("html", "png")
    ]
    code, said = python(folder, "pytest", "-q", "-n", "2", "-k", "right")
    assert code == 0, said


@pytest.mark.engine
@pytest.mark.nightly
def test_unittest(folder):
    code, said = python(folder, "unittest", "unittest_shop")
    assert code == 0, said
    assert "OK" in said


def test_the_plugin_imports_nothing_before_a_test_asks_for_it():
    words = "import sys, workbench.pytest_plugin; print([each for each in ('numpy', 'pandas', 'pyspark') if each in sys.modules])"
    code, said = python(HERE, "timeit", "-n1", "-r1", words)
    assert code == 0, said
    assert said.startswith("[]")
    assert os.environ.get("WORKBENCH_UPDATE") is None
