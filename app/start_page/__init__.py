"""The start page: recent projects, examples and templates as thumbnails of their networks."""
