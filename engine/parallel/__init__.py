"""The process group of a run and the strategies that divide its work."""
