"""Direct identifiers of train persons in a release."""

from __future__ import annotations

import base64
import random
import re
import time
import uuid
from operator import itemgetter
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest

from skeval import Context, SuiteResult
from skeval.datasets import make_mixed
from skeval.privacy import ExactMatchShare
from skeval.steps.identifiers import identifier_copies, possible_values
from skeval.steps.normal_forms import decode_parts, emails_in, form_of, name_words, strip_marks

N = 300
TABLES = [make_mixed(N, random_state=seed) for seed in range(3)]
SYLLABLES = ["ba", "do", "fe", "gi", "ka", "lu", "mo", "na", "pe", "ri", "so", "tu", "va", "we"]


def word(rng, n=3):
    return "".join(rng.choice(SYLLABLES, n))


def names(rng, n):
    return [f"{word(rng)} {word(rng, 4)}".title() for _ in range(n)]


def emails(rng, n):
    return [f"{word(rng)}.{word(rng)}{rng.integers(100)}@mail.org" for _ in range(n)]


def uuids(rng, n):
    drawn = random.Random(int(rng.integers(2**31)))
    return [str(uuid.UUID(int=drawn.getrandbits(128))) for _ in range(n)]


def security_numbers(rng, n):
    return [f"{a:03d}-{b:02d}-{c:04d}" for a, b, c in rng.integers(0, (1000, 100, 10000), (n, 3))]


def accounts(rng, n):
    return rng.choice(10**9, n, replace=False)


def with_ids(made, n_copied, spell=lambda value: value):
    """Give the three tables ids of their own, and the first synthetic rows those of train."""
    rng = np.random.default_rng(0)
    given = [np.array(made(rng, N), dtype=object) for _ in TABLES]
    given[2][:n_copied] = [spell(one) for one in given[0][:n_copied]]
    columns = [pd.Series(of).infer_objects() for of in given]
    return [table.assign(customer_id=of) for table, of in zip(TABLES, columns, strict=True)]


def counted(train, holdout, synthetic):
    return identifier_copies(Context.of(train, holdout).with_synthetic(synthetic))


KINDS = [names, emails, uuids, security_numbers, accounts]


@pytest.mark.parametrize("made", KINDS)
def test_identifiers_of_train_on_clean_rows_are_found(made):
    train, holdout, synthetic = with_ids(made, 12)
    result = ExactMatchShare().fit(train, holdout).evaluate(synthetic)
    assert result.value == 0.0
    assert (
        "12 values of customer_id occur in the release and once in the training data."
        in result.fact
    )
    verdict = SuiteResult({"copies": result}).verdict()
    assert verdict.outcome == "copies found"
    assert "Replace values of customer_id with new values." in verdict.sentence


@pytest.mark.parametrize("made", KINDS)
def test_new_identifiers_are_none(made):
    assert not any(one.leak_sentence or one.untold for one in counted(*with_ids(made, 0)))


@pytest.mark.parametrize("spell", [str.upper, "{} ".format, lambda one: one.replace("-", "")])
def test_spelling_hides_no_identifier(spell):
    (found,) = counted(*with_ids(uuids, 12, spell))
    assert found.train.n == 12
    assert found.leak_sentence


def numbered(starts, form="{}"):
    """Number the rows of each table from a start."""
    made = [
        table.assign(customer_id=[form.format(start + i) for i in range(N)])
        for table, start in zip(TABLES, starts, strict=True)
    ]
    if form == "{}":
        made = [table.astype({"customer_id": "int64"}) for table in made]
    return made


@pytest.mark.parametrize("form", ["{}", "P-{:06d}", "user{}@mail.org"])
@pytest.mark.parametrize("starts", [(1, N + 1, 1), (1, 1, 1), (100_000, 200_000, 100_000)])
def test_counters_are_no_identifiers(starts, form):
    assert counted(*numbered(starts, form)) == ()


def test_counters_within_a_day_or_a_place_are_none():
    rows = [f"2024{month:02d}{day:02d}001" for month in range(1, 13) for day in range(1, 26)]
    places = [f"{place}{i:03d}" for place in (4711, 8152, 9326) for i in range(N // 3)]
    for ids in (rows, places):
        tables = [table.assign(customer_id=ids) for table in TABLES]
        assert not any(one.leak_sentence for one in counted(*tables))


def test_a_sample_of_numbered_persons_meets_others_by_chance():
    rng = np.random.default_rng(0)
    drawn = rng.choice(30 * N, 2 * N, replace=False)
    tables = [
        table.assign(customer_id=ids)
        for table, ids in zip(TABLES, (drawn[:N], drawn[N:], np.arange(N)), strict=True)
    ]
    assert not any(one.leak_sentence for one in counted(*tables))


def test_identifiers_of_the_holdout_are_another_fault():
    train, holdout, synthetic = with_ids(emails, 1)
    synthetic.loc[1:12, "customer_id"] = holdout.loc[1:12, "customer_id"]
    (found,) = counted(train, holdout, synthetic)
    assert not found.leak_sentence
    assert found.of_holdout.startswith("12 values of customer_id that are unique in the holdout")


def test_without_holdout():
    train, _, synthetic = with_ids(emails, 12)
    (found,) = identifier_copies(Context.of(train).with_synthetic(synthetic))
    assert found.leak_sentence


def test_values_that_many_share_are_no_identifiers():
    tables = [table.assign(customer_id=[f"c{i % 40}" for i in range(N)]) for table in TABLES]
    assert counted(*tables) == ()


def test_missing_identifiers():
    train, holdout, synthetic = with_ids(emails, 12)
    synthetic["customer_id"] = None
    assert counted(train, holdout, synthetic) == ()


def test_long_values_overflow_nothing():
    assert possible_values(np.array(["a" * 500, "b" * 400], dtype=object)) == 2.0**64


def test_a_number_in_html_may_have_any_number_of_digits():
    assert len(list(decode_parts(f"&#{'9' * 5000};"))) <= 2
    assert [*decode_parts("ann&#64;mail.org")] == ["ann@mail.org"]


def test_time_to_read_a_padded_cell_grows_with_its_length():
    start = time.process_time()
    assert emails_in(f"ann (at) mail dot org{' ' * 20_000}x") == ["ann"]
    assert form_of([f"{' ' * 20_000}x"]) == "code"
    assert time.process_time() - start < 1.0


# ------------------------------------------------------- identifiers in another notation or place


def phones(rng, n):
    return [f"+1 ({a}) {b}-{c:04d}" for a, b, c in rng.integers(200, (999, 999, 9999), (n, 3))]


def people(seed):
    """Return a table with a name, an e-mail, a phone number, a key and a remark of each person."""
    rng = np.random.default_rng(seed)
    rest = make_mixed(N, random_state=seed)
    keys = [f"P{number:09d}X" for number in rng.integers(0, 10**9, N)]
    remarks = [" ".join(rng.choice(SYLLABLES, 8)) for _ in range(N)]
    given = {"name": names(rng, N), "email": emails(rng, N), "phone": phones(rng, N)}
    return rest.assign(**given, key=keys, remark=remarks)


PEOPLE = [people(seed) for seed in range(3)]
WRITTEN = TABLES[0].columns.tolist()


def digits(value):
    return "".join(filter(str.isdigit, value))


def initial_of(name):
    first, last = name.split()
    return f"{first[0]}. {last}"


def turned(name):
    return ", ".join(name.split()[::-1])


def turned_email(email):
    local, _, domain = email.partition("@")
    return "_".join([*local.split(".")[::-1]]) + "@" + domain


def tagged_email(email):
    first, last, number = re.match(r"([a-z]+)\.([a-z]+)(\d+)@", email).groups()
    return f"{last}-{first}+{number}@example.com"


def row_of(position, sep):
    return sep.join(map(str, PEOPLE[0].loc[position, WRITTEN]))


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def said(email):
    return email.replace("@", " at ").replace(".", " dot ")


def told(one, amount="{}", start=0):
    """Return a remark with four of the seven cells of a row."""
    paid, day = amount.format(one.income), str(one.joined)[start:10]
    return f"aged {one.age}, from {one.city}, paid {paid} since {'.'.join(day.split('-')[::-1])}"


INDIAN = str.maketrans("0123456789", "".join(chr(0x966 + i) for i in range(10)))
DRESSED = {
    "digits of a phone": ("phone", lambda i, one: digits(one.phone)),
    "no area code": ("phone", lambda i, one: digits(one.phone)[-7:]),
    "no country code": ("phone", lambda i, one: digits(one.phone)[1:]),
    "tag of an e-mail": ("email", lambda i, one: one.email.replace("@", "+spam@")),
    "another domain": ("email", lambda i, one: one.email.replace("mail.org", "example.com")),
    "last name first": ("name", lambda i, one: ", ".join(one["name"].split()[::-1])),
    "upper case and marks": ("name", lambda i, one: one["name"].upper().replace("A", "Á")),
    "initial of a first name": ("name", lambda i, one: initial_of(one["name"])),
    "initial behind a last name": (
        "remark",
        lambda i, one: f"from {turned(initial_of(one['name']))} today",
    ),
    "initial in front of a last name": (
        "remark",
        lambda i, one: f"from ward, {initial_of(one['name'])}, today",
    ),
    "signs of an e-mail as words": (
        "email",
        lambda i, one: one.email.replace("@", " (at) ").replace(".", " [dot] "),
    ),
    "signs of an e-mail as words without brackets": (
        "remark",
        lambda i, one: f"write to {said(one.email)} today",
    ),
    "e-mail in a URL": ("email", lambda i, one: quote(one.email).replace(".", "%2E")),
    "e-mail in HTML": ("remark", lambda i, one: "".join(f"&#{ord(c)};" for c in one.email)),
    "digits of another script": ("phone", lambda i, one: digits(one.phone).translate(INDIAN)),
    "name without a space": ("name", lambda i, one: one["name"].replace(" ", "")),
    "last name first without a space": (
        "remark",
        lambda i, one: f"seen by {turned(one['name']).replace(', ', '')} at noon",
    ),
    "phone backwards": ("phone", lambda i, one: one.phone[::-1]),
    "number of a key backwards": ("key", lambda i, one: f"P-{one.key[9:0:-1]}-X"),
    "key in base32": ("key", lambda i, one: base64.b32encode(one.key.encode()).decode()),
    "parts of an e-mail turned with a tag": ("email", lambda i, one: tagged_email(one.email)),
    "parts of an e-mail turned": ("email", lambda i, one: turned_email(one.email)),
    "phone in a key": ("key", lambda i, one: f"X{digits(one.phone)}Y"),
    "key in base64": ("key", lambda i, one: encoded(one.key)),
    "phone in a remark": ("remark", lambda i, one: f"please call {one.phone} at noon"),
    "e-mail in a remark": ("remark", lambda i, one: f"please write to <{one.email}> at noon"),
    "name in a remark": ("remark", lambda i, one: f"this was said by {one['name']} at noon"),
    "e-mail in the place of a name": ("name", lambda i, one: one.email),
    "row in a key": ("key", lambda i, one: row_of(i, "|")),
    "row in base64": ("key", lambda i, one: encoded(row_of(i, ";"))),
    "half of a row in a remark": ("remark", lambda i, one: told(one)),
    "half of a row in groups of digits": ("remark", lambda i, one: told(one, "{:,.2f}")),
    "half of a row with years of two digits": ("remark", lambda i, one: told(one, start=2)),
    "row in a remark": ("remark", lambda i, one: f"record {row_of(i, ' / ')} end"),
}


@pytest.mark.parametrize("dress", DRESSED)
@pytest.mark.parametrize("has_holdout", [True, False])
def test_identifiers_of_train_in_another_dress_are_found(dress, has_holdout):
    train, holdout, synthetic = PEOPLE
    column, dressed = DRESSED[dress]
    released = synthetic[column].tolist()
    released[:60] = [dressed(i, train.loc[i]) for i in range(60)]
    synthetic = synthetic.assign(**{column: released})
    real = (train, holdout) if has_holdout else (train,)
    found = identifier_copies(Context.of(*real).with_synthetic(synthetic))
    assert any(one.leak_sentence for one in found)
    assert max(one.train.n for one in found) >= 50


def in_groups(rng, n):
    """Return account numbers in six groups, which are read as texts of six words."""
    groups = rng.integers(0, 10_000, (n, 5))
    return [" ".join([f"DE{row[0] % 97:02d}", *(f"{one:04d}" for one in row)]) for row in groups]


def in_pairs(rng, n):
    return ["+45 " + " ".join(f"{one:02d}" for one in row) for row in rng.integers(0, 100, (n, 4))]


@pytest.mark.parametrize("made", [in_groups, in_pairs])
def test_numbers_in_groups_are_identifiers_too(made):
    tables = [table.assign(remark=one["remark"]) for table, one in zip(TABLES, PEOPLE, strict=True)]
    rng = np.random.default_rng(0)
    train, holdout, fresh = (table.assign(number=made(rng, N)) for table in tables)
    assert Context.of(train).schema.kinds["number"] == "text"
    assert not any(one.leak_sentence for one in counted(train, holdout, fresh))
    said = "call " + train["number"].map(lambda number: digits(number)[2:])
    hidden = fresh.assign(remark=fresh["remark"].where(np.arange(N) >= 30, said))
    squeezed = fresh.assign(number=fresh["number"].where(np.arange(N) >= 30, said.str[5:]))
    for release in (hidden, squeezed):
        assert any(one.leak_sentence for one in counted(train, holdout, release))


def birth_numbers(rng, n):
    days = pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 25_000, n), unit="D")
    ends = rng.integers(0, 10_000, n)
    return [f"{day:%Y%m%d}-{end:04d}" for day, end in zip(days, ends, strict=True)]


@pytest.mark.parametrize("order", ["{2}.{1}.{0}/{3}", "{1}/{2}/{0} {3}"])
@pytest.mark.parametrize("turns_train", [False, True])
def test_a_date_in_a_code_may_be_written_in_another_order(order, turns_train):
    def turned(code):
        return order.format(code[:4], code[4:6], code[6:8], code[9:])

    rng = np.random.default_rng(0)
    own = [birth_numbers(rng, N) for _ in TABLES]
    real, released = ([*map(turned, one)] if is_turned else one for one, is_turned in (
        (own[0], turns_train), (own[0][:30] + own[2][30:], not turns_train)
    ))  # fmt: skip
    others = [*map(turned, own[1])] if turns_train else own[1]
    tables = [t.assign(key=key) for t, key in zip(TABLES, (real, others, released), strict=True)]
    assert any(one.leak_sentence for one in counted(*tables))
    fresh = own[2] if turns_train else [*map(turned, own[2])]
    assert not any(one.leak_sentence for one in counted(*tables[:2], TABLES[2].assign(key=fresh)))


@pytest.mark.parametrize("has_holdout", [True, False])
@pytest.mark.parametrize("n_copied", [0, 30])
def test_integers_of_one_length_are_found_without_their_first_digits(has_holdout, n_copied):
    drawn = np.random.default_rng(0).integers(10**12, size=(6, N))
    drawn[5, :n_copied] = drawn[0, :n_copied]
    tables = [
        table.assign(chip=276 * 10**12 + own, note=[f"lab ref {k:012d}, pending" for k in said])
        for table, own, said in zip(TABLES, drawn[:3], drawn[3:], strict=True)
    ]
    assert Context.of(tables[0]).schema.kinds["chip"] == "continuous"
    real, synthetic = tables[: 1 + has_holdout], tables[2]
    found = identifier_copies(Context.of(*real).with_synthetic(synthetic))
    told = [(one.what, one.train.n) for one in found if one.leak_sentence]
    assert told == [("values of chip", 30)] * (n_copied > 0)


def streets(rng, n):
    return [f"{word(rng, 4).title()}straat {rng.integers(1, 300)}" for _ in range(n)]


def plates(rng, n):
    letters = rng.choice(list("BDFGHJKLNP"), (n, 4))
    numbers = rng.integers(100, 1000, n)
    return [f"{a}{b}-{k}-{c}{d}" for (a, b, c, d), k in zip(letters, numbers, strict=True)]


def towns_and_plates(rng, n):
    return [f"{word(rng, 1)}-{plate[:2]}-{plate[3:6]}" for plate in plates(rng, n)]


@pytest.mark.parametrize("has_holdout", [True, False])
@pytest.mark.parametrize(
    ("made", "separator"),
    [(streets, " "), (plates, "-"), (towns_and_plates, "-")],
    ids=["streets", "plates", "towns"],
)
@pytest.mark.parametrize("turns", [False, True])
def test_letters_and_numbers_of_a_code_may_be_in_reversed_order(
    made, separator, turns, has_holdout
):
    """Many streets end with the same letters, so that their ends with a number are frequent."""
    rng = np.random.default_rng(0)
    notes = [[f"{word(rng)} paid {word(rng)} on monday" for _ in range(N)] for _ in TABLES]
    tables = [t.assign(place=made(rng, N), note=n) for t, n in zip(TABLES, notes, strict=True)]

    def released(n_copied):
        own = tables[0]["place"].where(np.arange(N) < n_copied, pd.Series(made(rng, N)))
        parts = own.str.split(separator).str[:: -1 if turns else 1]
        return tables[2].assign(note="was seen at " + parts.str.join(" ") + " on monday morning")

    for n_copied in (0, 30):
        context = Context.of(*tables[: 1 + has_holdout]).with_synthetic(released(n_copied))
        told = [one.train.n for one in identifier_copies(context) if one.leak_sentence]
        assert bool(told) == (n_copied > 0)
        assert all(n >= 25 for n in told)


@pytest.mark.parametrize("has_holdout", [True, False])
@pytest.mark.parametrize("n_copied", [0, 30])
def test_codes_may_be_in_reversed_order_without_their_common_part(n_copied, has_holdout):
    rng = np.random.default_rng(0)
    drawn = rng.integers(10**5, 10**6, size=(4, N))
    ends = rng.choice(["AX", "BY", "CZ", "DW"], size=(4, N))
    drawn[3, :n_copied], ends[3, :n_copied] = drawn[0, :n_copied], ends[0, :n_copied]
    notes = [[f"rope {word(rng)} today" for _ in range(N)] for _ in TABLES]
    notes[2] = [f"rope as {end.lower()}{k} today" for k, end in zip(drawn[3], ends[3], strict=True)]
    tables = [
        table.assign(key=[f"EL-{k}-{end}" for k, end in zip(own, of, strict=True)], note=said)
        for table, own, of, said in zip(TABLES, drawn, ends, notes, strict=False)
    ]
    context = Context.of(*tables[: 1 + has_holdout]).with_synthetic(tables[2])
    told = [one.train.n for one in identifier_copies(context) if one.leak_sentence]
    assert bool(told) == (n_copied > 0)


@pytest.mark.parametrize("has_holdout", [True, False])
@pytest.mark.slow
def test_names_of_two_columns_are_found_inside_texts(has_holdout):
    def in_two_columns(table):
        parts = table["name"].str.split(" ", n=1, expand=True)
        return table.drop(columns="name").assign(first_name=parts[0], surname=parts[1])

    train, holdout, synthetic = map(in_two_columns, PEOPLE)
    real = (train, holdout) if has_holdout else (train,)
    found = identifier_copies(Context.of(*real).with_synthetic(synthetic))
    assert not any(one.leak_sentence for one in found)
    said = "spoke with " + train["surname"] + ", " + train["first_name"]
    remarks = synthetic["remark"].where(np.arange(N) >= 60, said)
    found = identifier_copies(Context.of(*real).with_synthetic(synthetic.assign(remark=remarks)))
    assert max(one.train.n for one in found if one.leak_sentence) >= 50


@pytest.mark.parametrize("has_holdout", [True, False])
@pytest.mark.parametrize("column", ["name", "email", "phone", "key"])
def test_an_identifier_of_one_row_in_many_texts_is_a_copy(column, has_holdout):
    real = PEOPLE[:2] if has_holdout else PEOPLE[:1]

    def released(identifier):
        said = PEOPLE[2]["remark"].str[:9] + f" told {identifier}; " + PEOPLE[2]["remark"].str[9:]
        return PEOPLE[2].assign(remark=PEOPLE[2]["remark"].where(np.arange(N) >= 20, said))

    own = PEOPLE[0][column][7]
    found = identifier_copies(Context.of(*real).with_synthetic(released(own)))
    (one,) = (one for one in found if one.leak_sentence)
    assert (one.what, one.train.n) == (f"texts with one value of {column}", 20)
    other = people(9)[column][7]
    found = identifier_copies(Context.of(*real).with_synthetic(released(other)))
    assert not any(one.leak_sentence for one in found)
    usual = [table.assign(remark=table["remark"] + f", {own}") for table in real]  # a doctor's name
    found = identifier_copies(Context.of(*usual).with_synthetic(released(own)))
    assert not any(one.leak_sentence for one in found)


@pytest.mark.parametrize("has_holdout", [True, False])
def test_new_identifiers_beside_texts_are_not_copies(has_holdout):
    real = PEOPLE[:2] if has_holdout else PEOPLE[:1]
    found = identifier_copies(Context.of(*real).with_synthetic(PEOPLE[2]))
    assert not any(one.leak_sentence for one in found)


@pytest.mark.parametrize("has_holdout", [True, False])
@pytest.mark.parametrize("n_told", [0, 1, 300])
def test_remarks_that_tell_new_rows_are_not_copies(has_holdout, n_told):
    *real, synthetic = PEOPLE if has_holdout else PEOPLE[::2]
    remarks = [*map(told, map(itemgetter(1), people(9)[:n_told].iterrows()))]
    synthetic = synthetic.assign(remark=remarks + synthetic.remark.tolist()[n_told:])
    found = identifier_copies(Context.of(*real).with_synthetic(synthetic))
    assert not any(one.leak_sentence for one in found)


@pytest.mark.calibration
@pytest.mark.parametrize("n_names", [100, 1000])
def test_names_of_a_finite_pool_are_shared_by_chance(n_names):
    """Names are drawn independently, in columns and in remarks: at most 2 of 100 are accused."""
    accused = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        tables = []
        for table in TABLES:
            drawn = rng.integers(0, n_names, (3, N))
            spelled = [f"{word_of(a)} {word_of(b + n_names)}" for a, b in drawn[:2].T]
            said = [
                f"seen on {c} by {name} and discharged home"
                for c, name in zip(drawn[2], spelled, strict=True)
            ]
            tables.append(table.assign(name=spelled, remark=rng.permutation(said)))
        found = identifier_copies(Context.of(*tables[:2]).with_synthetic(tables[2]))
        accused += any(one.leak_sentence for one in found)
    assert accused <= 2


def word_of(number):
    return "".join(SYLLABLES[number // 14**i % 14] for i in range(4))


def test_numbers_are_identifiers_if_their_column_is_named_so():
    drawn = [np.random.default_rng(seed).integers(10**9, 10**10, N) for seed in range(3)]
    drawn[2][:20] = drawn[0][:20]
    tables = [table.assign(phone=of) for table, of in zip(TABLES, drawn, strict=True)]
    assert any(one.leak_sentence for one in counted(*tables))


@pytest.mark.parametrize(
    ("made", "dress"),
    [
        (
            lambda rng, n: [f"MRN-{k:08d}" for k in accounts(rng, n) % 10**8],
            lambda v: f"H2/{v[4:]}-7",
        ),
        (
            lambda rng, n: [f"DE{k % 97:02d}{k % 31:08d}{k:010d}" for k in accounts(rng, n)],
            lambda v: f"{v[12:]} (BLZ {v[4:12]})",
        ),
        (
            lambda rng, n: [f"PT-{k:06d}" for k in rng.choice(10**6, n, replace=False)],
            lambda v: f"see the file {v[3:]} too",
        ),
    ],
    ids=["another prefix", "parts turned round", "six digits"],
)
def test_codes_are_found_without_what_all_begin_with(made, dress):
    rng = np.random.default_rng(0)
    tables = [one.assign(key=made(rng, N)) for one in TABLES]
    tables[2]["key"] = [dress(value) for value in tables[0]["key"]]
    assert any(one.leak_sentence for one in counted(*tables))
    fresh = TABLES[2].assign(key=[dress(value) for value in made(rng, N)])
    assert not any(one.leak_sentence for one in counted(*tables[:2], fresh))


@pytest.mark.parametrize("spell", ["{0}. {surname}", "{surname}, {0}.", "Dr {0} {surname}"])
def test_initials_and_frequent_surnames_are_found_with_a_birth_date(spell):
    # each surname has many persons, so that an initial and a surname alone show nothing
    rng = np.random.default_rng(4)
    surnames, given = ([word(rng).title() for _ in range(n)] for n in (30, 200))
    tables = [
        table.assign(
            name=[
                f"{a} {b}" for a, b in zip(*map(rng.choice, (given, surnames), (N, N)), strict=True)
            ],
            born=pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 25_000, N), "D"),
        )
        for table in TABLES
    ]
    train, holdout, fresh = tables
    shortened = [
        spell.format(first[0], surname=last) for first, last in train["name"].str.split(" ")
    ]
    few = fresh.index < 15
    new = [spell.format(first[0], surname=last) for first, last in fresh["name"].str.split(" ")]
    released = fresh.assign(
        name=np.where(few, shortened, new), born=train["born"].where(few, fresh["born"])
    )
    found = [one for one in counted(train, holdout, released) if one.leak_sentence]
    assert [one.train.n for one in found] == [15]
    assert "born" in found[0].what
    none = counted(train, holdout, fresh.assign(name=new))
    assert not any(one.leak_sentence for one in none)


def test_words_of_a_name_are_those_of_the_same_name_in_a_text():
    # "oe" is written for "ö", so that marks must not be removed twice
    plain = strip_marks("Anna Boeer")
    assert name_words(plain) == plain.split()
