"""What tests of jobs share; modules that need other rows have a `folder` of their own."""

from __future__ import annotations

import jobs
import pytest
import written

import workbench as wb


@pytest.fixture(scope="module")
def session(spark):
    return jobs.session(spark)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return jobs.put(jobs.recorded(seed=11, disorder=14.0), tmp_path_factory.mktemp("rows"))


@pytest.fixture(scope="module")
def job(session, folder, tmp_path_factory):
    """A job with a condition of its own, that ran and was opened."""
    joined = written.enough(*jobs.streams(session, folder))
    return wb.open_job(joined, jobs.run(joined, tmp_path_factory.mktemp("job")).checkpoint)
