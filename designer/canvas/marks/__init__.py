"""What layers are marked by: weight, health, stages, differences; and the legends that say what the marks mean."""
