"""The Experiments tab: every run of a project, found, noted, compared, deleted."""
