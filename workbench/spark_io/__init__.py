"""What talks to Spark and its file systems, and knows nothing of joins."""
