"""Screens by distance: are synthetic rows closer to train than they should be."""
