"""Assistants: a server of the Model Context Protocol whose tools are the declared operations."""
