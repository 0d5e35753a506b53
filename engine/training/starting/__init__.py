"""From a project, or a run that has ended, to a run folder that is ready to be trained. Needs no torch."""
