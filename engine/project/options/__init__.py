"""The training options, one file a group. `engine.project.training` puts them together."""
