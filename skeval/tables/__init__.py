"""Reading and preprocessing of tables, including schemas, cells, bins and encoders."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
