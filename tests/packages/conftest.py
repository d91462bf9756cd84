"""The Debian in which the packages are tried, once for all tests of a file."""
import pytest

from root import Root


@pytest.fixture(scope="module")
def debian():
    root = Root()
    yield root
    root.close()
