"""What holds for all tests."""

import os

import pytest
from hypothesis import settings
from publisher import publish, serving

from hopscale.datasets import registry

# No test asserts time: the first call of anything may be slow on a busy machine.
settings.register_profile("hopscale", deadline=None)
settings.load_profile("hopscale")

# No test reaches the network or the user's cache: downloads that a test has not prepared fail at once.
os.environ["HOPSCALE_MIRROR"] = "http://127.0.0.1:9"
os.environ["HOPSCALE_CACHE"] = os.path.join(os.devnull, "cache")


@pytest.fixture
def mirror(tmp_path):
    """Folder of a publisher."""
    return tmp_path / "mirror"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("HOPSCALE_CACHE", str(folder))
    return folder


@pytest.fixture
def server(mirror, cache, monkeypatch):
    """A publisher that is online; its data sets are those that the library knows."""
    entries = publish(mirror)
    monkeypatch.setattr(registry, "published", lambda: entries)
    monkeypatch.delenv("HOPSCALE_DATA", raising=False)
    with serving(mirror) as running:
        monkeypatch.setenv("HOPSCALE_MIRROR", running.address)
        yield running
