"""Fields and records, one file a kind; `engine.fields` offers all of them."""
