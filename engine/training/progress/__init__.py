"""What a run tells of itself while it trains, and what it is asked for."""
