"""Distance-based screening metrics for synthetic rows that are too close to training rows."""
