"""What an author of a metric meets: the base class, its tags, the context and its parameters."""
