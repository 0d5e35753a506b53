"""The layer library as a list: what is in it, how a row looks, how it is worked, and what is remembered of it."""
