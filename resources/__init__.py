"""Files that come with Netwright: examples, icons, schema; in the folder `netwright.engine.core.files.RESOURCES`."""

if __name__ != "netwright.resources":
    raise ImportError(f"This package is imported as netwright.resources, not as {__name__}.")
