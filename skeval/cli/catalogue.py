"""Commands about the metrics themselves: `list`."""

from __future__ import annotations

from rich.console import Console

from skeval.cli.options import app


@app.command(name="list")
def list_metrics() -> None:
    """List the metrics, one line each."""
    from skeval import diagnostic, fidelity, privacy, utility

    modules = (diagnostic, fidelity, utility, privacy)
    kinds = {name: getattr(module, name) for module in modules for name in module.__all__}
    width = max(map(len, kinds)) + 2
    console = Console(soft_wrap=True, highlight=False)
    for name, kind in kinds.items():
        line = (kind.__doc__ or "").strip().splitlines()[0]
        console.print(f"{name:{width}}{kind.tags.aspect:12}{line}", markup=False)
