"""The start page: recent projects, examples and templates as pictures of their networks."""
