"""Survival: time until an event, where some rows are last seen without it."""
