"""Attacks that run the generator."""
