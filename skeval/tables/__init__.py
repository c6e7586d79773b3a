"""From any table that a user has to canonical columns: schemas, cells, preprocessing, encoders."""
