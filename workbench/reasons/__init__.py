"""What became of each row, and why, in words and tables."""
