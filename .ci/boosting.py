"""Print the results of the metrics that use XGBoost, for a comparison with and without NCCL."""

from sklearn.model_selection import train_test_split

from skeval import make_suite
from skeval.datasets import make_mixed
from skeval.generators import GaussianCopula

train, holdout = train_test_split(make_mixed(400, random_state=0), test_size=0.5, random_state=0)
synthetic = GaussianCopula(random_state=0).fit(train).sample(200)
suite = make_suite(["classifier_two_sample_test", "classifier_prd", "relation_score"])
for name, result in suite.fit(train, holdout).evaluate(synthetic).items():
    print(name, repr(result.value), result.baseline, result.interval)
