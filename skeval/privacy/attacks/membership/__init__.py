"""Membership inference on a release."""
