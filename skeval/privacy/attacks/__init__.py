"""Attacks: what one adversary learns of the training rows from a release."""
