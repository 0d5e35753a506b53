"""The operation of the doctor, and its result."""
