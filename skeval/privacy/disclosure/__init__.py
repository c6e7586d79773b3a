"""The k-anonymity family: how many share a combination of quasi-identifiers."""
