"""The headless commands, one a file. Each has `register(subparsers)` and imports what is heavy only when it runs."""
