"""Suites of metrics: ready ones, reports, several draws, and suites that are saved."""
