"""One drawing for each kind of result, made of the aggregates in its details."""
