"""Free text: what it gives away, and how alike it is."""

__all__: list[str] = []
