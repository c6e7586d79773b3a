"""Statistical functions of the metrics, without pandas and without state."""
