"""Early stopping of generators: a small suite is measured as training goes on."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from sklearn.base import clone

from skeval.exceptions import InvalidParameterError, MetricWarning, MissingInputError
from skeval.generators.clients import seeded_call
from skeval.model_selection.selection import signed
from skeval.reporting.displays.training import TrainingDisplay
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import ALARM_LEVEL
from skeval.stats.repeats import CHANCE
from skeval.suites.suite import MetricSuite
from skeval.tables.frames import as_frame
from skeval.utils.formatting import as_float, number
from skeval.utils.parameters import Count, Interval, NonNegative, Seed, check_parameters, legal_sets

StopReason = Literal["", "leak found", "no gain", "looks used up"]
Sampler = Callable[..., Any]
_COLUMNS = ["utility", "p_value", "alarm", "copies", "eligible", "best"]
_NOTHING_TESTED = (
    "no test of privacy in the suite can be significant at {level:.2g}, the level of one look: "
    "{utility} alone decides when to stop. Add a test with holdout rows, such as "
    "skeval.privacy.MembershipInference, take fewer looks or more rows."
)


@dataclass(frozen=True)
class Look:
    """What was seen at one epoch.

    Attributes
    ----------
    epoch : int
        Counted from 1.
    utility : float
        The score that is chosen by; higher is better.
    p_value : float
        The least of Holm's adjusted p-values at this look; nan if no test was made.
    alarm, copies : bool
        Whether a test is significant over all looks, and whether there are more copies of unique
        train rows than all looks together would meet by chance.
    eligible : bool
        Whether the epoch may be chosen: neither of these, and no test significant by itself.
    seconds : float
        What the look took, sampling included.
    """

    epoch: int
    utility: float
    p_value: float
    alarm: bool
    copies: bool
    eligible: bool
    seconds: float


class TrainingMonitor:
    """Watch a generator while it learns, stop it when it leaks, and name the epoch to keep.

    Utility grows while a generator learns the distribution, then hardly; from some epoch on it
    learns its training rows by heart. A monitor samples rows every few epochs, measures a small
    suite, and stops at that knee.

    Parameters
    ----------
    suite : MetricSuite
        A few cheap metrics: one of utility or fidelity, and tests of privacy.
    train, holdout : table
        The rows that the generator learns from, and others of the same population.
    sample : callable, optional
        Takes a number of rows and returns a table of what the generator makes at this point. If it
        takes `random_state` or `seed`, it gets one; otherwise the global generators of NumPy and
        PyTorch are seeded while it runs, and put back, so that a look changes nothing of the
        training. It can be given to :meth:`on_epoch_end` instead.
    every : int, default=1
        Number of epochs between two looks.
    n_looks : int, default=20
        How many looks are taken at most. Each look is a chance for a false alarm; the level is
        divided by their number.
    patience : int, default=5
        After how many looks without a better epoch to stop.
    min_delta : float, default=0.0
        By how much the utility must grow to count as better.
    utility : str, optional
        The name of the metric to choose by; by default the first of utility that has a direction,
        or else of fidelity.
    level : float, default=0.05
        The chance that training is stopped, over all looks, though nothing leaks; above 0.01, which
        is spent on counts of copies.
    n_samples : int, optional
        Rows to sample at each look; as many as in train if None.
    schema : TableSchema or mapping of str to str, optional
        The kinds of the columns.
    on_best : callable, optional
        Called with the epoch each time that one is the best so far, such as to keep the weights.
    random_state : int, default=0
        Seed of the samples.

    Attributes
    ----------
    stopped : bool
        Whether training should end.
    reason : {"", "leak found", "no gain", "looks used up"}
        Why.
    best_epoch : int or None
        The epoch with the best utility of those that are eligible; None if none is.
    best_score : float
        Its utility, such that higher is better; nan if there is none.
    results : dict of int to SuiteResult
        The whole results by epoch: aggregates only.

    Raises
    ------
    MissingInputError
        If no holdout is given.
    InvalidParameterError
        If a parameter is outside its legal set, or no metric can be chosen by.

    Warns
    -----
    MetricWarning
        At the first look, if no test of privacy could ever stop the training.

    See Also
    --------
    keras_callback, lightning_callback : Monitors in training loops of others.
    fit_by_epochs : Generators without hooks, such as those of SDV and ctgan.
    report_trial : Studies of Optuna.

    Notes
    -----
    An epoch is *eligible* if no test of privacy is significant at 5%, by Holm over the tests of
    that look, and no copies are beyond chance. The best epoch is the eligible one of the highest
    utility. Training is *stopped* by a leak only where a test is significant at
    ``(level - 0.01) / n_looks``, or copies are beyond what `n_looks` counts together would meet in
    one of a hundred trainings. By Bonferroni, whichever way the looks depend on each other,
    training of a generator that does not leak is stopped by a false alarm with a chance of at most
    `level`. Eligibility at 5% a look costs a good epoch now and then, never a stop.

    Training is also stopped after `patience` looks without a better epoch, and after `n_looks`.

    The holdout takes part in the choice. Measure the table that you release once more, on rows that
    no look has seen.

    A monitor holds the real rows. Its results and its history do not.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.model_selection import TrainingMonitor
    >>> from skeval.privacy import ExactMatchShare
    >>> train, holdout = make_mixed(300, random_state=0), make_mixed(300, random_state=1)
    >>> suite = MetricSuite([("ks", KSComplement()), ("copies", ExactMatchShare())])
    >>> monitor = TrainingMonitor(suite, train, holdout, n_looks=4)
    >>> def sample(n, epoch):  # a generator that gives copies in the third epoch
    ...     return train if epoch == 3 else make_mixed(n, random_state=epoch + 2)
    >>> for epoch in range(1, 5):
    ...     if monitor.on_epoch_end(epoch, lambda n: sample(n, epoch)):
    ...         break
    >>> monitor.reason, epoch, monitor.best_epoch in (1, 2)
    ('leak found', 3, True)
    """

    def __init__(
        self,
        suite: MetricSuite,
        train: Any,
        holdout: Any,
        *,
        sample: Sampler | None = None,
        every: Count = 1,
        n_looks: Count = 20,
        patience: Count = 5,
        min_delta: NonNegative = 0.0,
        utility: str | None = None,
        level: Annotated[float, Interval(CHANCE, 0.5, "neither")] = ALARM_LEVEL,
        n_samples: Count | None = None,
        schema: Any = None,
        on_best: Callable[[int], object] | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.sample, self.on_best = sample, on_best
        self.every, self.n_looks, self.patience = every, n_looks, patience
        self.min_delta, self.level, self.random_state = min_delta, level, random_state
        self.n_samples = n_samples
        self._check(suite, holdout)
        self.utility = _chosen(suite, utility)
        rows = as_frame(train, "train")
        self.n_samples = len(rows) if n_samples is None else n_samples
        self.suite: MetricSuite = clone(suite).fit(rows, holdout, schema=schema)
        self.stopped = False
        self.reason: StopReason = ""
        self.best_epoch: int | None = None
        self.best_score = math.nan
        self.results: dict[int, SuiteResult] = {}
        self._looks: list[Look] = []
        self._since_best = 0

    def _check(self, suite: Any, holdout: Any) -> None:
        if not isinstance(suite, MetricSuite):
            raise InvalidParameterError(
                f"TrainingMonitor: suite must be a MetricSuite, got {type(suite).__name__}."
            )
        legal = legal_sets(TrainingMonitor)
        given = {name: value for name, value in vars(self).items() if name in legal}
        check_parameters("TrainingMonitor", given, legal)
        if holdout is None:
            raise MissingInputError(
                "compares with holdout rows, and received none. Keep some real rows from the "
                "generator: TrainingMonitor(suite, train, holdout).",
                "TrainingMonitor",
            )

    @property
    def look_level(self) -> float:
        """The level of the tests of one look."""
        return (self.level - CHANCE) / self.n_looks

    @property
    def history(self) -> pd.DataFrame:
        """One row a look, by epoch: `utility`, `p_value`, `alarm`, `copies`, `eligible`, `best`.

        `best` is whether the epoch was the best so far. Values of all metrics and `seconds` follow.
        """
        rows = pd.DataFrame(
            [vars(look) for look in self._looks], columns=list(Look.__annotations__)
        )
        rows = rows.set_index("epoch")
        rows["best"] = self._records(rows)
        names = list(dict.fromkeys(name for one in self.results.values() for name in one))
        for name in names:
            rows[name] = [as_float(one[name].value) for one in self.results.values()]
        return rows[[*_COLUMNS, *names, "seconds"]]

    def _records(self, rows: pd.DataFrame) -> list[bool]:
        """Return which looks were the best so far."""
        best, records = -math.inf, []
        for utility, eligible in zip(rows["utility"], rows["eligible"], strict=True):
            records.append(bool(eligible and self._is_better(utility, best)))
            best = utility if records[-1] else best
        return records

    def on_epoch_end(self, epoch: Count, sample: Sampler | None = None) -> bool:
        """Look at the generator if it is time to, and return whether to stop.

        Parameters
        ----------
        epoch : int
            Counted from 1. Epochs that are no multiple of `every` are passed over.
        sample : callable, optional
            In place of the monitor's own.

        Returns
        -------
        bool

        Raises
        ------
        InvalidParameterError
            If the epoch was looked at before, or there is nothing to sample with.
        """
        check_parameters(
            "TrainingMonitor.on_epoch_end",
            {"epoch": epoch},
            legal_sets(TrainingMonitor.on_epoch_end),
        )
        if self._looks and epoch <= self._looks[-1].epoch:
            raise InvalidParameterError(
                f"TrainingMonitor: epochs must grow; epoch {epoch} came after "
                f"{self._looks[-1].epoch}. Make a new monitor for another training."
            )
        if not self.stopped and epoch % self.every == 0:
            self._look(int(epoch), sample or self.sample)
        return self.stopped

    def _look(self, epoch: int, sample: Sampler | None) -> None:
        if sample is None:
            raise InvalidParameterError(
                "TrainingMonitor: there is nothing to sample with. Pass sample, a function of the "
                "number of rows, to the monitor or to on_epoch_end."
            )
        start = time.perf_counter()
        table = seeded_call(sample, self._seed(epoch), self.n_samples)
        self.results[epoch] = result = self.suite.evaluate(table)
        look = self._judged(epoch, result, start)
        if not self._looks:
            self._warn(result)
        self._looks.append(look)
        self._note(look)

    def _judged(self, epoch: int, result: SuiteResult, start: float) -> Look:
        alone, among = result.verdict(), result.verdict(self.look_level)
        several = [one for of in result.values() for one in of.copies]
        copies = any(one.train.of_several(self.n_looks).beyond_chance for one in several)
        return Look(
            epoch,
            signed(result[self.utility]),
            min(alone.adjusted.values(), default=math.nan),
            among.alarm,
            copies,
            not (alone.alarm or alone.copies),
            time.perf_counter() - start,
        )

    def _note(self, look: Look) -> None:
        """Take a look into account: is it the best, and is it the last."""
        self._since_best += 1
        if look.eligible and self._is_better(look.utility, self.best_score):
            self.best_epoch, self.best_score, self._since_best = look.epoch, look.utility, 0
            if self.on_best is not None:
                self.on_best(look.epoch)
        if look.alarm or look.copies:
            self.reason = "leak found"
        elif self._since_best >= self.patience:
            self.reason = "no gain"
        elif len(self._looks) >= self.n_looks:
            self.reason = "looks used up"
        self.stopped = bool(self.reason)

    def _is_better(self, utility: float, best: float) -> bool:
        if math.isnan(utility):
            return False
        return not math.isfinite(best) or utility > best + self.min_delta

    def _warn(self, result: SuiteResult) -> None:
        if not result.verdict(self.look_level).adjusted:
            text = _NOTHING_TESTED.format(level=self.look_level, utility=self.utility)
            warnings.warn(MetricWarning(text), stacklevel=4)

    def _seed(self, epoch: int) -> int:
        return int(np.random.SeedSequence([self.random_state, epoch]).generate_state(1)[0])

    def plot(self, ax: Any = None) -> TrainingDisplay:
        """Draw the utility and the p-values over the epochs, the best one marked.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            One for both panels to share, or two; a new figure otherwise.

        Returns
        -------
        TrainingDisplay
        """
        return TrainingDisplay(
            self.history, self.utility, level=ALARM_LEVEL, look_level=self.look_level
        ).plot(ax)

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        if not self._looks:
            return "No look was taken yet."
        last = self._looks[-1].epoch
        why = f"Stopped at epoch {last}: {self.reason}." if self.reason else f"At epoch {last}."
        if self.best_epoch is None:
            return f"{why} No epoch is eligible."
        return f"{why} Take epoch {self.best_epoch}: {self.utility} {number(self.best_score)}."

    def __repr__(self) -> str:
        return f"TrainingMonitor({self.sentence!r})"


def _chosen(suite: MetricSuite, utility: str | None) -> str:
    """Return the name of the metric that is chosen by."""
    known = {
        n: one for n, one in suite.all_metrics if one.tags.sign and one.tags.aspect != "privacy"
    }
    if utility is None:
        for aspect in ("utility", "fidelity"):
            for name, metric in known.items():
                if metric.tags.aspect == aspect:
                    return name
    if utility in known:
        return str(utility)
    raise InvalidParameterError(
        "TrainingMonitor: expected a metric of utility or fidelity with a direction to choose by, "
        f"got {utility or 'none in the suite'}. Name one of the suite: "
        f"{', '.join(known) or 'there is none, add TSTR or SimilarityScore'}."
    )
