"""A browser without a window for tests of pages, one for all tests of a process."""

import os
import shutil
from pathlib import Path

import pytest
from attacked import ATTACK, attacked_model
from opened import opened

REQUIRED = "HOPSCALE_TEST_BROWSER"  # a variable: without a browser tests fail, and are not skipped
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ADVICE = (
    "no browser was found for the tests of pages: install Chromium (on Debian and Ubuntu: apt install chromium), or "
    "let playwright fetch its own (playwright install chromium)"
)


def executable(playwright):
    """Path of a browser: one of the system's, or playwright's own; None if there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    own = playwright.chromium.executable_path
    return found or (own if Path(own).exists() else None)


def missing(reason):
    """Skip a test for which there is no browser, or fail where it must not be skipped."""
    if os.environ.get(REQUIRED):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright, which drives a browser, is not installed: pip install playwright")
    with sync_playwright() as playwright:
        path = executable(playwright)
        if path is None:
            missing(ADVICE)
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield running
        running.close()


@pytest.fixture(scope="session")
def model():
    return attacked_model()


@pytest.fixture(scope="session")
def file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("explorer") / "map.html"
    model.explore(path, method="pca", n_clusters=4, title=f"Blocks {ATTACK}")
    return path


@pytest.fixture
def shown(browser, file):
    with opened(browser, file) as page:
        yield page
