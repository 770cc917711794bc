"""What holds for all tests."""

from hypothesis import settings

# No test asserts time: the first call of anything may be slow on a busy machine.
settings.register_profile("hopscale", deadline=None)
settings.load_profile("hopscale")
