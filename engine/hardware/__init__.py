"""The devices of this machine: what they are, whether they work, how fast they are."""
