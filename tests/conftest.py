"""Every test counts against a cache of its own, and never reaches a network."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("CTX_CACHE_DIR")
    os.environ["CTX_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["CTX_CACHE_DIR"]
    else:
        os.environ["CTX_CACHE_DIR"] = before
