from __future__ import annotations

import os
import time

import pytest

from skeval import Policy
from skeval.exceptions import InvalidParameterError
from skeval.utils.foreign_files import foreign_json, foreign_text, hash_of_file
from tests.snapshots import raises


@pytest.mark.parametrize("key", ["{}", "[{}]", "[[{}]]", "x = {{ {} = 1 }}"])
@pytest.mark.parametrize("part", ["a", "'a b'", '"a.b"'])
def test_keys_of_many_parts_are_refused_before_they_are_parsed(tmp_path, key, part):
    path = tmp_path / "policy.toml"
    path.write_text(key.format(".".join([part] * 10_000)), encoding="utf-8")
    begun = time.process_time()
    with raises(InvalidParameterError):
        Policy.from_toml(path)
    assert time.process_time() - begun < 0.5


def test_texts_without_keys_take_linear_time(tmp_path):
    path = tmp_path / "policy.toml"
    for text in ("a" * 10**6, '"' * 10**6, ". " * 500_000, "a." * 15 + "a"):
        path.write_text(f"x = '''{text}'''\n", encoding="utf-8")
        begun = time.process_time()
        with pytest.raises(InvalidParameterError):  # none of them is a policy
            Policy.from_toml(path)
        assert time.process_time() - begun < 0.5


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.parametrize("read", [foreign_text, foreign_json, hash_of_file])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, read):
    os.mkfifo(tmp_path / "schema.json")
    with raises(InvalidParameterError):
        read(tmp_path / "schema.json")
