"""From any table that a user has to canonical columns: schemas, cells, preprocessing, encoders."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
