"""Altair charts of tables: no Spark and no widget here."""
