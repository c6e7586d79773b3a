"""Displays: each draws one thing, on given axes or on a figure of its own."""
