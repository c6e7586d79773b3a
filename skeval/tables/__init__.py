"""From whatever table a user has to canonical columns: schemas, cells, preprocessing, encoders."""
