"""The doctor: what is wrong with a project or with a machine, in order of effect, each with one cure."""
