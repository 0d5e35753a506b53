"""What a run can be asked for while it trains, as numbers that can be summed over workers."""

NO_REQUEST, STOP, STOP_AFTER_EPOCH = 0, 1, 2
TIME_UP = 100
"""What the first worker asks for itself when the time limit has come."""
