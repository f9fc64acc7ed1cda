"""What all tests share: a build cache of their own, and the device."""

import fcntl
import os
import shutil
import tempfile

import pytest


def pytest_configure(config):
    """One cache for the whole session, which the workers of pytest-xdist inherit; $PLAYGROUND_CACHE if that is set."""
    if "PLAYGROUND_CACHE" not in os.environ:
        folder = tempfile.mkdtemp(prefix="playground-tests-")
        os.environ["PLAYGROUND_CACHE"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


@pytest.fixture(scope="session")
def only_device():
    from playground.errors import Refusal
    from playground.gpu.device import open_device

    try:
        return open_device()
    except Refusal as refusal:
        pytest.skip(str(refusal))


@pytest.fixture
def device(only_device):
    """The GPU at hand, for this test alone: no other worker's test runs on it. Without one, skipped with the reason."""
    with open(__file__) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield only_device
