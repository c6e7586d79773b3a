"""Metrics of survival data with censored rows."""
