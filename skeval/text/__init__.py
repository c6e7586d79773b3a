"""Free text: what it gives away, and how well it is imitated."""

__all__: list[str] = []
