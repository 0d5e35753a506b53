"""The option groups of the section `training`."""
