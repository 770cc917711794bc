"""Networks that learn from labels. A network is a file here, and is found by being there; PyTorch is for ``layers``.

They need the extra ``gnn``: ``pip install "hopscale[gnn]"``.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    if not _module.ispkg:
        import_module(f"{__name__}.{_module.name}")
