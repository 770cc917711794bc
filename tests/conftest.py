"""What holds for all tests."""

import os

from hypothesis import settings

# No test asserts time: the first call of anything may be slow on a busy machine.
settings.register_profile("hopscale", deadline=None)
settings.load_profile("hopscale")

# No test reaches the network or the user's cache: downloads that a test has not prepared fail at once.
os.environ["HOPSCALE_MIRROR"] = "http://127.0.0.1:9"
os.environ["HOPSCALE_CACHE"] = os.path.join(os.devnull, "cache")
