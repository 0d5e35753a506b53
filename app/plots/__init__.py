"""The plots of runs: what they remember, how they are painted, which part of a run they show."""
