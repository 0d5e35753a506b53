"""Files that come with Netwright: examples, icons, schema; read through `importlib.resources`."""
