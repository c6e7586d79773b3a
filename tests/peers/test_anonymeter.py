"""The attacks agree with anonymeter's where its definition is kept, and differ where it is at fault."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from skeval.privacy import InferenceRisk, LinkabilityRisk, SinglingOutRisk
from skeval.stats.risks import attack_rate, residual_risk

pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings("ignore:.*holdout rows also occur in the training data"),
]

FRAMES = """
import numpy as np, pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
frames = [pd.DataFrame(table) for table in given["tables"]]
train, holdout, synthetic = (frames + [None, None])[:3]
"""
RATES = """
from anonymeter.stats.confidence import EvaluationResults
found = []
for n, k, n_baseline, n_control in given:
    results = EvaluationResults(n_attacks=n, n_success=k, n_baseline=n_baseline, n_control=n_control)
    risk = results.risk()
    found.append([results.attack_rate.value, results.attack_rate.error, risk.value, *risk.ci])
"""
LINKS = (
    FRAMES
    + """
found = []
for k in given["k"]:
    evaluator = LinkabilityEvaluator(
        ori=train, syn=synthetic, control=holdout, aux_cols=given["parts"],
        n_attacks=len(train), n_neighbors=k,
    ).evaluate(n_jobs=1)
    results = evaluator.results()
    found.append([results.n_success, results.n_control, evaluator.risk().value])
"""
)
MIXED_LINKS = LINKS.replace(
    'for k in given["k"]:',
    "for k, seed in [(k, r) for k in given['k'] for r in range(given['n_draws'])]:",
).replace("syn=synthetic", "syn=synthetic.sample(frac=1.0, random_state=seed)")
GUESSES = (
    FRAMES
    + """
evaluator = InferenceEvaluator(
    ori=train, syn=synthetic, control=holdout, secret=given["secret"],
    aux_cols=[name for name in train if name != given["secret"]],
    regression=given["regression"], n_attacks=given["n_attacks"],
).evaluate(n_jobs=1)
results = evaluator.results()
found = [int(results.n_success), int(results.n_control), int(results.n_baseline)]
"""
)
SINGLED = (
    FRAMES
    + """
found = []
for seed in given["seeds"]:
    evaluator = SinglingOutEvaluator(
        ori=train, syn=synthetic, control=holdout, n_attacks=given["n_attacks"], n_cols=3, seed=seed
    ).evaluate(mode=given["mode"])
    results = evaluator.results()
    found.append([
        results.n_success, float(results.n_control), results.n_baseline, results.n_attacks_ori,
        results.attack_rate.value,
    ])
"""
)
DISTANCES = """
import numpy as np
import anonymeter.evaluators  # the next module cannot be imported before
from anonymeter.neighbors.mixed_types_kneighbors import gower_distance
found = [
    float(gower_distance(r0=np.array(a, dtype=float), r1=np.array(b, dtype=float), cat_cols_index=n))
    for a, b, n in given
]
found = [None if np.isnan(d) else d for d in found]
"""
LINKED = """
import numpy as np
from anonymeter.evaluators.linkability_evaluator import LinkabilityIndexes, _random_links
lists = np.array(given["lists"])
found = {
    "asked for all": LinkabilityIndexes(lists[0], lists[1]).count_links(n_neighbors=lists.shape[2]),
    "two draws": [_random_links(10_000, 5, 1).tolist() for _ in range(2)],
}
"""


def asked(peer, script, tables, **given):
    frames = [json.loads(t.to_json(orient="columns", double_precision=15)) for t in tables]
    frames = [{name: list(column.values()) for name, column in frame.items()} for frame in frames]
    return peer("anonymeter", script, {"tables": frames, **given})


def counts(result):
    return [result.details[rate]["n_success"] for rate in ("attack", "control")]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rates_and_risks(peer):
    cases = [(100, 60, 10, 20), (500, 3, 0, 0), (89, 89, 1, 63), (50, 10, 2, 30), (7, 7, 0, 0)]
    for (n, k, _, n_control), theirs in zip(cases, peer("anonymeter", RATES, cases), strict=True):
        rate, control = attack_rate(k, n), attack_rate(n_control, n)
        risk = residual_risk(rate, control)
        ours = [rate.centre, rate.half_width, risk.value, *risk.interval]
        assert ours == pytest.approx(theirs, abs=1e-12)


def test_links_of_wine(peer, wine):
    """Their scale is that of each pair of tables, ours that of train and holdout together."""
    tables, names = (wine.train, wine.holdout, wine.over), list(wine.train.columns)
    parts, neighbours = (names[:6], names[6:]), [1, 3, 5]
    theirs = asked(peer, LINKS, tables, parts=parts, k=neighbours)
    for k, (train, control, risk) in zip(neighbours, theirs, strict=True):
        ours = LinkabilityRisk(parts, n_neighbors=k).fit(*tables[:2]).evaluate(tables[2])
        assert counts(ours) == [train, control]
        assert ours.value == pytest.approx(risk, abs=1e-12)


def test_links_of_coarse_columns(peer):
    """If rows tie, one random choice is made there, whose expected number ours reports."""
    rng = np.random.default_rng(0)
    real = pd.DataFrame(rng.integers(0, 4, size=(400, 4)).astype(str), columns=list("abcd"))
    real.loc[rng.random(400) < 0.5, "b"] = real["a"]
    tables = real[:200], real[200:], real[:200].sample(100, random_state=0)
    parts = [["a", "b"], ["c", "d"]]
    theirs = np.array(asked(peer, MIXED_LINKS, tables, parts=parts, k=[1, 5], n_draws=20))
    for k, draws in zip((1, 5), np.split(theirs[:, :2], 2), strict=True):
        errors = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
        ours = LinkabilityRisk(parts, n_neighbors=k).fit(*tables[:2]).evaluate(tables[2])
        assert (np.abs(draws.mean(axis=0) - counts(ours)) < 3 * np.maximum(errors, 0.1)).all()


def test_guesses_of_wine(peer, wine):
    tables = wine.train, wine.holdout, wine.over
    theirs = asked(peer, GUESSES, tables, secret="alcohol", regression=True, n_attacks=89)
    ours = InferenceRisk("alcohol").fit(*tables[:2]).evaluate(tables[2])
    assert counts(ours) == theirs[:2] == [89, 63]


def test_univariate_predicates_of_wine(peer, wine):
    tables = wine.train, wine.holdout, wine.over.round(1)
    (theirs,) = asked(peer, SINGLED, tables, mode="univariate", n_attacks=5000, seeds=[0])
    metric = SinglingOutRisk("univariate", n_attacks=5000, distinct_rows=False)
    ours = metric.fit(*tables[:2]).evaluate(tables[2])
    assert counts(ours) == theirs[:2]


def test_multivariate_predicates_of_wine(peer, wine):
    """Drawn at random by both: the mean rates are the same."""
    tables, seeds = (wine.train, wine.holdout, wine.gauss), range(8)
    theirs = np.array(
        asked(peer, SINGLED, tables, mode="multivariate", n_attacks=300, seeds=list(seeds))
    )
    metric = SinglingOutRisk(n_attacks=300, distinct_rows=False)
    ours = np.array(
        [
            counts(metric.set_params(random_state=s).fit(*tables[:2]).evaluate(tables[2]))
            for s in seeds
        ]
    )
    errors = np.sqrt(ours.var(axis=0, ddof=1) / 8 + theirs[:, :2].var(axis=0, ddof=1) / 8)
    assert (np.abs(ours.mean(axis=0) - theirs[:, :2].mean(axis=0)) < 4 * errors).all()


# -- where theirs is at fault ----------------------------------------------------------------------


def test_denominator_is_what_was_tried(peer):
    """Of six predicates four hold; theirs divides by the hundred asked for."""
    tables = (
        pd.DataFrame({"a": [1.0, 2, 3, 4, 5], "c": list("xxyzz")}),
        pd.DataFrame({"a": [1.5, 2.5, 7, 8, 12], "c": list("zzxxy")}),
        pd.DataFrame({"a": [1.0, 2, 2, 3, 9], "c": list("xywwx")}),
    )
    (theirs,) = asked(peer, SINGLED, tables, mode="univariate", n_attacks=100, seeds=[0])
    metric = SinglingOutRisk("univariate", n_attacks=100, distinct_rows=False)
    ours = metric.fit(*tables[:2]).evaluate(tables[2])
    assert counts(ours) == theirs[:2] == [4.0, 2.0]
    assert theirs[3] == 100
    assert theirs[4] == pytest.approx(attack_rate(4, 100).centre)
    assert ours.details["attack"]["n"] == 6.0


def test_guessing_a_coin(peer):
    """Guesses are put in the order of the targets' labels: most are lost, and count as wrong."""
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame({"x": rng.normal(size=5000), "coin": rng.choice(["heads", "tails"], 5000)})
        for _ in range(3)
    ]
    theirs = asked(peer, GUESSES, tables, secret="coin", regression=False, n_attacks=500)
    ours = InferenceRisk("coin").fit(*tables[:2]).evaluate(tables[2])
    assert theirs[2] < 60
    assert ours.details["baseline"]["n_success"] == pytest.approx(250, abs=25)


def test_guessing_ones_own_row(peer, wine):
    """Where every row is guessed for, the label makes each target guess its own noisy copy."""
    tables = wine.train, wine.holdout, wine.over
    theirs = asked(peer, GUESSES, tables, secret="alcohol", regression=True, n_attacks=89)
    ours = InferenceRisk("alcohol").fit(*tables[:2]).evaluate(tables[2])
    assert theirs[2] == 89
    assert ours.details["baseline"]["n_success"] < 50


def test_negative_guesses(peer):
    """Theirs divides by the guess: what is below 0 is below the tolerance."""
    train = pd.DataFrame({"a": [0.0, 1, 2, 3], "s": [3.0, -3.0, 100.0, -5.1]})
    synthetic = pd.DataFrame({"a": [0.0, 1, 2, 3], "s": [-5.0] * 4})
    tables = train, train.assign(s=50.0), synthetic
    theirs = asked(peer, GUESSES, tables, secret="s", regression=True, n_attacks=4)
    ours = InferenceRisk("s").fit(*tables[:2]).evaluate(synthetic)
    assert theirs[:2] == [4, 4]
    assert counts(ours) == [1.0, 0.0]


def test_missing_values(peer):
    """Both missing is as far as can be there, and one missing number makes no distance at all."""
    nan = float("nan")
    both, one = peer("anonymeter", DISTANCES, [([nan], [nan], 1), ([nan], [0.5], 1)])
    assert both == 1.0
    assert one is None
    from skeval.neighbors.mixed import MixedNearestNeighbors

    engine = MixedNearestNeighbors(ranges=[1.0]).fit([[nan]])
    assert engine.kneighbors([[nan], [0.5]])[0].ravel().tolist() == [0.0, 1.0]


def test_links_are_cut_by_the_number_of_rows(peer):
    """Two targets with three neighbours each, the last in common: theirs looks at two of them."""
    lists = [[[0, 1, 9], [3, 4, 8]], [[5, 6, 9], [7, 2, 8]]]
    found = peer("anonymeter", LINKED, {"lists": lists})
    assert found["asked for all"] == 0
    first, second = found["two draws"]
    assert first != second  # no seed can be given


def test_theirs_depends_on_the_draw(peer, wine):
    """Targets are drawn without a seed there; ours are the same each time."""
    tables = wine.train, wine.holdout, wine.gauss
    draws = {
        tuple(asked(peer, GUESSES, tables, secret="alcohol", regression=True, n_attacks=40))
        for _ in range(2)
    }
    assert len(draws) > 1
    metric = InferenceRisk("alcohol", n_attacks=40).fit(*tables[:2])
    assert metric.evaluate(tables[2]).details == metric.evaluate(tables[2]).details


def test_correction_of_sizes(peer):
    """Theirs fits its model to the number of all predicates, not of those that single out. What is
    left of it is |H| / |T|: half the holdout halves its count, and makes a risk of nothing."""
    rng = np.random.default_rng(0)
    real = pd.DataFrame(rng.normal(size=(6000, 4)).round(2), columns=list("abcd"))
    tables = real.iloc[:3000], real.iloc[3000:4500], real.iloc[4500:]
    (theirs,) = asked(peer, SINGLED, tables, mode="multivariate", n_attacks=500, seeds=[0])
    uncorrected = theirs[1] * 3001 / 1501
    assert uncorrected == pytest.approx(round(uncorrected), abs=1e-3)

    def ours(size_correction):
        metric = SinglingOutRisk(
            n_attacks=500, distinct_rows=False, size_correction=size_correction
        )
        return metric.fit(*tables[:2]).evaluate(tables[2])

    assert uncorrected == pytest.approx(ours("none").details["control"]["n_success"], rel=0.2)
    assert theirs[0] == pytest.approx(ours("none").details["attack"]["n_success"], rel=0.2)
    assert (
        residual_risk(attack_rate(theirs[0], 500), attack_rate(theirs[1], 500)).interval[0] > 0.03
    )
    assert ours("subsample").interval[0] == ours("fit").interval[0] == 0.0
