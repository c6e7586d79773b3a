"""Singling out, linkability and inference."""
