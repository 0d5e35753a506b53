"""The Data tab: choosing data, previewing it, splitting it."""
