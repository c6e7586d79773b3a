"""Results, the verdict and what else is concluded from them."""
