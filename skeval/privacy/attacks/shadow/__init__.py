"""Attacks that run the generator."""

from skeval.privacy.attacks.shadow.targets import select_targets

__all__ = ["select_targets"]
