"""The steps that metrics share, each computed once: samples, cells, neighbours, models."""
