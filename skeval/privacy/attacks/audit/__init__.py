"""Audits of differential privacy: lower bounds of epsilon."""
