"""What every room needs: errors, declared fields and records, tensor types, files, text, child processes."""
