"""Steps that metrics share, such as samples, cells, neighbors and models. Each is computed once."""
