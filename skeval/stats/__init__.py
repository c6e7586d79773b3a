"""Numbers in, numbers out: the pure functions under the metrics. No pandas, no state."""
