"""Faker-driven streams."""
