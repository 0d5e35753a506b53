"""The Data tab: choosing data, looking at it, splitting it."""
