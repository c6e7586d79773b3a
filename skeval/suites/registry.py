"""The metrics as their classes are: those that packages export, and those of ready suites.

``python -m skeval.suites.registry`` writes the catalogue anew, as is due where a metric comes or
goes, or its names, tags, parameters or first line change.
"""

from __future__ import annotations

import inspect
from importlib import import_module

from skeval.core.base import Metric
from skeval.suites.catalogue import FILE, Entry, catalogue, written
from skeval.suites.presets import PRESETS, disclosure, survival
from skeval.utils.formatting import title_of

MODULES = (
    "skeval.diagnostic",
    "skeval.fidelity",
    "skeval.utility",
    "skeval.privacy",
    "skeval.relational",
    "skeval.text",
    "skeval",  # what is of no kind of tables or question, such as ByGroup
)
_TAGS = ("aspect", "needs", "greater_is_better", "bounds", "evidence")
_OF_PRESETS = ("target", "sensitive")
_MAKERS = PRESETS | {
    "survival": lambda target, sensitive: survival("duration", "event"),
    "disclosure": lambda target, sensitive: disclosure(["known"], sensitive),
}


def metric_classes(*modules: str) -> dict[str, type[Metric]]:
    """Return the metrics that modules export by name; of all, if none is named."""
    exported = {
        name: getattr(module, name)
        for module in map(import_module, modules or MODULES)
        for name in module.__all__
    }
    return {
        name: kind
        for name, kind in exported.items()
        if isinstance(kind, type) and issubclass(kind, Metric) and kind is not Metric
    }


def preset_metrics(target: str | None, sensitive: str | None) -> dict[str, Metric]:
    """Return the metrics of all presets by the names of their results."""
    named: dict[str, Metric] = {}
    for make in _MAKERS.values():
        for name, metric in make(target, sensitive):
            named.setdefault(name, metric)
    return named


def metric_named(
    proper: str, target: str | None, sensitive: str | None
) -> tuple[type[Metric], Metric | None]:
    """Return a class by its name, and by the name of a ready suite the metric that it has too.

    It imports no more than what has it.
    """
    if (entry := catalogue().get(proper)) is not None:
        return getattr(import_module(entry.module), proper), None
    preset = next(one.presets[proper] for one in catalogue().values() if proper in one.presets)
    metric = dict(_MAKERS[preset](target, sensitive))[proper]
    return type(metric), metric


def imported() -> dict[str, Entry]:
    """Return the metrics as their classes are."""
    short: dict[str, dict[str, str]] = {}
    presets: dict[str, str] = {}
    for name, metric in preset_metrics(*_OF_PRESETS).items():
        short.setdefault(type(metric).__name__, {})[name] = _changed(metric)
        presets[name] = next(p for p, make in _MAKERS.items() if name in dict(make(*_OF_PRESETS)))
    return {
        name: _of_class(kind, module, short.get(name, {}), presets)
        for module in MODULES
        for name, kind in metric_classes(module).items()
    }


def _of_class(
    kind: type[Metric], module: str, short: dict[str, str], presets: dict[str, str]
) -> Entry:
    is_declared = "__dataclass_fields__" in vars(kind)
    bases = [base for base in kind.__mro__ if base.__module__.startswith("skeval.")]
    stated = {name: getattr(kind.tags, name) for name in _TAGS}
    return Entry(
        kind=kind.__name__,
        module=module,
        title=title_of(kind.__name__),
        first=inspect.cleandoc(kind.__doc__ or "").partition("\n")[0],
        short=short,
        presets={name: presets[name] for name in short},
        stated=stated
        | {"needs": sorted(stated["needs"]), "bounds": [str(end) for end in stated["bounds"]]},
        sources=tuple(f"{base.__module__}:{base.__name__}" for base in bases),
        parameters=tuple(inspect.signature(kind).parameters) if is_declared else None,
    )


def _changed(metric: Metric) -> str:
    """Return the parameters of a metric that differ from the defaults of its class."""
    signature = inspect.signature(type(metric)).parameters
    plain = {n: p.default for n, p in signature.items() if p.default is not p.empty}
    own = metric.get_params(deep=False)
    changed = {n: v for n, v in own.items() if n not in plain or plain[n] != v}
    return ", ".join(f"{n}={v!r}" for n, v in changed.items() if n not in _OF_PRESETS)


if __name__ == "__main__":
    FILE.write_text(written(imported()), encoding="utf-8")
