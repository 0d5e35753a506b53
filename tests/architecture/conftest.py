import pytest

from scripts.code_facts import Facts, read_facts


@pytest.fixture(scope="session")
def facts() -> list[Facts]:
    """The facts of the whole source, which take seconds to read."""
    return read_facts()
