"""Tables larger than memory and workers of a cluster: where rows are, and what steps do then."""
