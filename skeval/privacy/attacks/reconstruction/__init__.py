"""Reconstruction of secrets and of whole records."""
