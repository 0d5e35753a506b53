"""The versions of Netwright, which `pyproject.toml` reads from here, and of the JSON of its commands."""

VERSION = "0.1.0"
SCHEMA_VERSION = 1
"""Version of the JSON that the commands print. It rises when a key is removed or changes its meaning."""
