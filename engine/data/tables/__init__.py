"""Tables: CSV and Parquet files as columns of numbers and texts, in memory or on disk."""
