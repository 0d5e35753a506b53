"""A part: a model that answers over HTTP."""
