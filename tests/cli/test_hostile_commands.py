"""Hostile command lines: bad files, encodings, dialects, options; one sentence, no traceback."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import shutil
import struct
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_mixed

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
N = 30
GOOD = make_mixed(N, random_state=0)[["age", "income", "city"]]
TEXT = GOOD.to_csv(index=False)
LINES = TEXT.splitlines()
PLAIN = TEXT.encode()
QUICK = ("--metrics", "KSComplement,NewRowShare")


def zipped(names, **settings):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, PLAIN)
    return packed.getvalue()


def with_password():
    packed = bytearray(zipped(["a.csv"]))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag of encryption
        packed[packed.index(mark) + place] |= 1
    return bytes(packed)


def in_parquet(frame=GOOD):
    written = io.BytesIO()
    frame.to_parquet(written)
    return written.getvalue()


def lines(change):
    return "\n".join(change(i, line) for i, line in enumerate(LINES)).encode() + b"\n"


# what stands in a file, by its name
FILES: dict[str, bytes] = {
    "plain.csv": PLAIN,
    "empty.csv": b"",
    "one byte.csv": b"\x00",
    "a line break.csv": b"\n",
    "many line breaks.csv": b"\r\n" * 1000,
    "spaces.csv": b"   \n   \n",
    "header.csv": LINES[0].encode(),
    "header and commas.csv": LINES[0].encode() + b"\n,,\n,,\n",
    "bom.csv": b"\xef\xbb\xbf" + PLAIN,
    "bom alone.csv": b"\xef\xbb\xbf",
    "two boms.csv": b"\xef\xbb\xbf" * 2 + PLAIN,
    "utf-16.csv": TEXT.encode("utf-16"),
    "utf-16-le.csv": TEXT.encode("utf-16-le"),
    "utf-16-be with bom.csv": b"\xfe\xff" + TEXT.encode("utf-16-be"),
    "utf-16 cut.csv": TEXT.encode("utf-16")[:-1],
    "utf-32.csv": TEXT.encode("utf-32"),
    "utf-7.csv": TEXT.replace("a", "\u00e4").encode("utf-7"),
    "latin-1.csv": TEXT.replace("a", "\u00e4").encode("latin-1"),
    "cp1252.csv": TEXT.replace("a", "\u201c").encode("cp1252"),
    "shift-jis.csv": TEXT.replace("a", "\u65e5").encode("shift-jis"),
    "gb18030.csv": TEXT.replace("a", "\u4e2d").encode("gb18030"),
    "ebcdic.csv": TEXT.encode("cp037"),
    "no encoding.csv": PLAIN + b"\x81\x8d\xff\xfe,1,2\n",
    "surrogates.csv": TEXT.replace("a", "\ud800").encode("utf-8", "surrogatepass"),
    "nulls.csv": PLAIN.replace(b"1", b"\x00"),
    "escape codes.csv": TEXT.replace("city", "\x1b[2J").encode(),
    "markup.csv": TEXT.replace("city", "[/red]").encode(),
    "old line ends.csv": PLAIN.replace(b"\n", b"\r"),
    "windows.csv": PLAIN.replace(b"\n", b"\r\n"),
    "mixed ends.csv": b"\r".join(PLAIN.split(b"\n", 5)),
    "semicolons.csv": PLAIN.replace(b",", b";"),
    "tabs.csv": PLAIN.replace(b",", b"\t"),
    "tabs.tsv": PLAIN.replace(b",", b"\t"),
    "commas.tsv": PLAIN,
    "bars.csv": PLAIN.replace(b",", b"|"),
    "colons.csv": PLAIN.replace(b",", b":"),
    "control signs.csv": PLAIN.replace(b",", b"\x1f"),
    "decimal commas.csv": PLAIN.replace(b",", b";").replace(b".", b","),
    "thousands.csv": lines(lambda i, line: line if i == 0 else f'"1,234",{i},x'),
    "open quote.csv": PLAIN + b'1,2,"x\n',
    "quotes within.csv": lines(lambda i, line: line if i == 0 else f'{i},2,a"b"c'),
    "line breaks within.csv": lines(lambda i, line: line if i == 0 else f'{i},2,"a\nb"'),
    "backslashes.csv": lines(lambda i, line: line if i == 0 else f"{i},2,a\\"),
    "commas at ends.csv": lines(lambda i, line: line if i == 0 else line + ","),
    "commas at all ends.csv": lines(lambda i, line: line + ","),
    "two commas at ends.csv": lines(lambda i, line: line if i == 0 else line + ",,"),
    "longer.csv": lines(lambda i, line: line if i < 5 else line + ",9"),
    "one longer.csv": lines(lambda i, line: line if i != 5 else line + ",9,9"),
    "shorter.csv": lines(lambda i, line: line if i < 5 else line.rsplit(",", 1)[0]),
    "one column.csv": lines(lambda i, line: line.split(",")[0]),
    "doubled names.csv": PLAIN.replace(b"income", b"age"),
    "empty names.csv": PLAIN.replace(b"age,income,city", b",,"),
    "no header.csv": b"\n".join(PLAIN.split(b"\n")[1:]),
    "numbers for names.csv": PLAIN.replace(b"age,income,city", b"1,2,3"),
    "spaces in names.csv": PLAIN.replace(b"age,income", b" age , income "),
    "comments.csv": b"# made by x\n" + PLAIN,
    "sep line.csv": b"sep=,\n" + PLAIN,
    "long cell.csv": PLAIN + b"1,2," + b"x" * 200_000 + b"\n",
    "wide.csv": b",".join(b"c%d" % i for i in range(600)) + b"\n" + b",".join([b"1"] * 600) + b"\n",
    "long name.csv": PLAIN.replace(b"city", b"x" * 100_000),
    "many digits.csv": PLAIN + b"1" + b"0" * 400 + b",1,x\n",
    "overflow.csv": PLAIN + b"1e400,-1e400,x\n",
    "words.csv": PLAIN + b"inf,NaN,-Infinity\n",
    "other digits.csv": PLAIN + "\u0661\u0662,\u00bd,x\n".encode(),
    "bad dates.csv": b"day,x\n" + b"2020-02-30,1\n29/02/2021,2\n0000-00-00,3\n" * 9,
    "far dates.csv": b"day,x\n" + b"0001-01-01,1\n9999-12-31,2\n+99999-01-01,3\n" * 9,
    "leading zeros.csv": b"code,x\n" + b"007,1\n08,2\n" * 9,
    "formulas.csv": b'name,x\n"=1+1",1\n@SUM(A1),2\n' * 1,
    "json.csv": json.dumps(GOOD.to_dict("list")).encode(),
    "html.csv": GOOD.to_html().encode(),
    "parquet.csv": in_parquet(),
    "zip.csv": zipped(["a.csv"]),
    "gzip.csv": gzip.compress(PLAIN),
    "bzip2.csv": bz2.compress(PLAIN),
    "xz.csv": lzma.compress(PLAIN),
    "workbook.csv": zipped(["[Content_Types].xml", "xl/workbook.xml"]),
    "old workbook.csv": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504),
    "pickle.csv": pickle.dumps(GOOD),
    "database.csv": b"SQLite format 3\x00\x10\x00" + bytes(4078),
    "feather.csv": b"ARROW1\x00\x00" + bytes(64),
    "picture.csv": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4,
    "noise.csv": np.random.default_rng(0).bytes(5000),
    "plain.csv.gz": gzip.compress(PLAIN),
    "cut.csv.gz": gzip.compress(PLAIN)[:-20],
    "none.csv.gz": PLAIN,
    "empty.csv.gz": b"",
    "bomb.csv.gz": gzip.compress(b"x\n" + b"1\n" * 100_000),
    "plain.csv.bz2": bz2.compress(PLAIN),
    "cut.csv.bz2": bz2.compress(PLAIN)[:-9],
    "none.csv.bz2": b"BZh9" + PLAIN,
    "plain.csv.xz": lzma.compress(PLAIN),
    "cut.csv.xz": lzma.compress(PLAIN)[:-9],
    "none.csv.xz": b"\xfd7zXZ\x00" + PLAIN,
    "plain.csv.zip": zipped(["a.csv"]),
    "two.csv.zip": zipped(["a.csv", "b.csv"]),
    "nothing.csv.zip": zipped([]),
    "outside.csv.zip": zipped(["../../a.csv"]),
    "password.csv.zip": with_password(),
    "none.csv.zip": b"PK\x03\x04" + PLAIN,
    "plain.parquet": in_parquet(),
    "cut.parquet": in_parquet()[:-9],
    "changed.parquet": in_parquet()[:200] + b"\xff" * 50 + in_parquet()[250:],
    "magic.parquet": b"PAR1" + struct.pack("<i", -1) + b"PAR1",
    "text.parquet": PLAIN,
    "empty.parquet": b"",
    "nested.parquet": in_parquet(
        pd.DataFrame({"a": [[1], [2]] * 9, "b": [{"c": 1}, {"c": 2}] * 9})
    ),
    "no column.parquet": in_parquet(pd.DataFrame(index=range(3))),
    "no row.parquet": in_parquet(GOOD[:0]),
    "plain.xlsx": b"PK\x03\x04",
    "plain.json": b"[]",
    "plain": PLAIN,
    ".csv": PLAIN,
    "CAPITALS.CSV": PLAIN,
    "-dash.csv": PLAIN,
    "sp ace \U0001f468.csv": PLAIN,
    "line\nbreak.csv": PLAIN,
    "[red].csv": PLAIN,
    "\x1b[2J.csv": PLAIN,
}
ODD_PATHS = (
    "absent.csv",
    "folder.csv",
    "dangling.csv",
    "loop.csv",
    "pipe.csv",
    "x" * 300 + ".csv",
    "",
)
SOUND = {"plain.csv", "windows.csv", "bom.csv", "plain.csv.gz", "plain.csv.bz2", "plain.csv.xz"}
SOUND |= {"plain.csv.zip", "plain.parquet", "CAPITALS.CSV", "sp ace \U0001f468.csv", "[red].csv"}

JSON: dict[str, str] = {
    "nothing": "",
    "null": "null",
    "true": "true",
    "a number": "1",
    "nan": "NaN",
    "a text": '"x"',
    "a list": "[]",
    "a list of lists": "[[[1]]]",
    "empty": "{}",
    "cut": '{"age": "conti',
    "two": "{}{}",
    "a comma too many": '{"age": "continuous",}',
    "a comment": "// x\n{}",
    "doubled": '{"age": "continuous", "age": "categorical"}',
    "no such kind": '{"age": "number"}',
    "no such column": '{"nobody": "continuous"}',
    "a kind that is a list": '{"age": ["continuous"]}',
    "a kind that is null": '{"age": null}',
    "a kind that is a mapping": '{"age": {}}',
    "a text of a number": '{"city": "continuous"}',
    "a date of a number": '{"age": "datetime"}',
    "deep": "[" * 100_000,
    "deep mappings": '{"a":' * 50_000,
    "a large number": '{"age": 1' + "0" * 5000 + "}",
    "a lone surrogate": '{"\\ud800": "continuous"}',
    "columns": '{"columns": {}}',
    "columns that are a list": '{"columns": [1, null, {}]}',
    "columns of null": '{"columns": {"age": null}}',
    "columns of lists": '{"columns": {"age": []}}',
    "no sdtype": '{"columns": {"age": {}}}',
    "an odd sdtype": '{"columns": {"age": {"sdtype": ["x"]}}}',
    "a bad format of dates": '{"columns": {"age": {"sdtype": "datetime", "datetime_format": "%Q"}}}',
    "a format that is a number": '{"columns": {"age": {"sdtype": "datetime", "datetime_format": 5}}}',
    "a key that is a number": '{"columns": {"age": {"sdtype": "id"}}, "primary_key": 5}',
    "a key that is a mapping": '{"columns": {"age": {"sdtype": "id"}}, "primary_key": {"a": 1}}',
    "tables": '{"tables": {}}',
    "tables that are a list": '{"tables": []}',
    "tables of null": '{"tables": {"a": null}}',
    "relationships": '{"tables": {"a": {"columns": {}}}, "relationships": [1]}',
    "resources": '{"resources": [{"name": 1}]}',
    "results": '{"results": {}}',
    "results that are a list": '{"results": [1]}',
    "a result of null": '{"results": {"a": null}}',
    "a result that is empty": '{"results": {"a": {}}}',
    "a value that is a text": '{"results": {"a": {"metric": "A", "value": "x"}}}',
    "an odd interval": '{"results": {"a": {"metric": "A", "value": 1, "interval": [1]}}}',
    "odd details": '{"results": {"[/red]": {"metric": "[/red]", "value": 1, "details": []}}}',
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Return a folder with all files, good tables and scores among them."""
    from skeval import make_suite

    folder = tmp_path_factory.mktemp("world")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    for i, (_, content) in enumerate(JSON.items()):
        (folder / f"{i}.json").write_text(content, encoding="utf-8")
    (folder / "folder.csv").mkdir()
    (folder / "dangling.csv").symlink_to(folder / "nowhere")
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    os.mkfifo(folder / "pipe.csv")
    make_mixed(N, random_state=1)[["age", "income", "city"]].to_csv(
        folder / "good.csv", index=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        suite = make_suite("diagnostic").fit(GOOD)
        suite.evaluate(GOOD).to_json(folder / "scores.json")
    return folder


def with_files():
    for name in (*FILES, *ODD_PATHS):
        safe = f"./{name}"
        yield ("evaluate", "good.csv", safe, *QUICK), name
        yield ("evaluate", safe, "good.csv", *QUICK), name
        yield ("evaluate", "good.csv", safe, "good.csv", *QUICK), name
        yield ("schema", safe), name
        yield ("verify", "scores.json", safe), None


def with_json():
    for i in range(len(JSON)):
        yield ("evaluate", "good.csv", "plain.csv", *QUICK, "--schema", f"{i}.json"), None
        yield ("compare", f"{i}.json", "scores.json"), None
        yield ("render", f"{i}.json", "-o", "page.html"), None


def with_options():
    tables = ("evaluate", "good.csv", "plain.csv", *QUICK)
    for wrong in ("-1", "1.5", "x", "", "4294967296", "1e3", "\u0661"):
        yield (*tables, "--seed", wrong), None
    for wrong in (
        "utf-9",
        "hex",
        "rot13",
        "base64",
        "",
        "\x00",
        "\u00fc",
        "idna",
        "utf-16",
        "undefined",
    ):
        yield (*tables, "--encoding", wrong), None
    for wrong in (";", "tab", "", ",,", "\n", '"', "\x00", "\u00e9", ".", " ", "0"):
        yield (*tables, "--sep", wrong), None
    for wrong in ("", ",", ";", "..", "\u066b"):
        yield (*tables, "--decimal", wrong), None
    for wrong in (
        "",
        ",",
        "Nobody",
        "KSComplement,,",
        "ks",
        "[/red]",
        "__import__",
        "Metric",
        "\x1b[2J",
    ):
        yield ("evaluate", "good.csv", "plain.csv", "--metrics", wrong), None
    for wrong in (
        "",
        "tstr >=",
        ">= 1",
        "1 >= 2",
        "__import__('os')",
        "a" * 9999,
        "ks >= nan",
        "ks >= 1e999",
        "KSComplement >= 0.5 * baseline",
        "ks == 1",
        "ks >= 0.9 * ks",
        "\x00",
        "(" * 5000,
    ):
        yield (*tables, "--require", wrong), None
    for wrong in ("", "x", "LEAK", "leak,fact"):
        yield (*tables, "--fail-on", wrong), None
    for wrong in ("absent.toml", "good.csv", "0.json", "folder.csv", ""):
        yield (*tables, "--policy", wrong), None
    for wrong in (
        "",
        ".",
        "..",
        "/",
        "folder.csv",
        "x.docx",
        "x",
        "no/such/x.json",
        "good.csv",
        "/dev/full",
        "/proc/x.json",
        "\x00.json",
        "y" * 300 + ".json",
        "scores.json/x.json",
        "loop.csv",
        "plain.csv",
    ):
        yield (*tables, "-o", wrong), None
        yield ("report", "good.csv", "plain.csv", "-o", wrong or "x.docx"), None
        yield ("schema", "good.csv", "-o", wrong), None
        yield ("render", "scores.json", "-o", wrong or "x.docx"), None
    for wrong in ("nobody", "", "city\x00", "[/red]"):
        yield (*tables, "--target", wrong), None
        yield ("report", "good.csv", "plain.csv", "--target", wrong), None
        yield ("report", "good.csv", "plain.csv", "--sensitive", wrong), None
    for wrong in ("nobody", "", "REPORT", "report,screens"):
        yield ("evaluate", "good.csv", "plain.csv", "--suite", wrong), None
    for wrong in ("", "nobody", "ks", "[/red]", "\x1b[2J", "KSComplement", "k" * 10_000):
        yield ("explain", wrong), None
    for wrong in ("-1", "x", "nan", "inf", "0", "1e-9", "1e400"):
        yield (*tables, "--timeout", wrong), None
    for wrong in ("-1", "0", "x", "1e9", "99999999999999999999"):
        yield ("report", "good.csv", "plain.csv", "--n-max-train", wrong, "-o", "x.docx"), None
        yield ("report", "good.csv", "plain.csv", "--columns", wrong, "-o", "x.docx"), None
        yield ("demo", "--rows", wrong, "-o", "x.docx"), None
    for line in (
        (), ("nothing",), ("evaluate",), ("evaluate", "good.csv"), ("evaluate", *["good.csv"] * 4),
        ("compare",), ("compare", "scores.json"), ("verify",), ("render",), ("schema",), ("explain",),
        ("--nothing",), ("-o",), ("--version",), ("--help",), ("evaluate", "--help"), ("list",), ("list", "x"),
        ("compare", "scores.json", "scores.json"), ("compare", "good.csv", "good.csv"), ("--", "evaluate"),
        ("evaluate", "good.csv", "folder.csv"), ("evaluate", "folder.csv", "folder.csv"), ("evaluate", ".", "."),
        ("evaluate", "good.csv", "plain.csv", "--date", "yesterday"), ("EVALUATE",), ("report", "-o"), ("",), ("\x00",),
    ):  # fmt: skip
        yield line, None


LINES_OF_COMMAND = [*with_files(), *with_json(), *with_options()]
CHUNK = 25


@pytest.mark.parametrize("start", range(0, len(LINES_OF_COMMAND), CHUNK))
def test_one_sentence_and_an_exit_code(world, tmp_path, run, monkeypatch, start):
    for name in os.listdir(world):  # commands may write into it
        source, copy = world / name, tmp_path / name
        if source.is_file() and not source.is_symlink():
            copy.hardlink_to(source)
        elif source.is_symlink():
            copy.symlink_to(os.readlink(source))
        elif source.is_dir():
            shutil.copytree(source, copy)
        else:
            os.mkfifo(copy)
    monkeypatch.chdir(tmp_path)
    faults = []
    for line, file in LINES_OF_COMMAND[start : start + CHUNK]:
        code, out, err = run(*line)
        printed = out + err
        if "Traceback" in printed or "did not expect" in printed:
            faults.append((line, "a foreign error", printed[-300:]))
        if code not in (0, 1, 2) or (code == 2 and not printed.strip()):
            faults.append((line, code, printed[-300:]))
        if "\x1b" in printed:
            faults.append((line, "an escape code", printed[-300:]))
        if file in SOUND and code != 0:
            faults.append((line, "a sound file is refused", printed[-300:]))
        if file in ODD_PATHS and code != 2:
            faults.append((line, "no file, and no error", printed[-300:]))
    assert not faults
    assert not list(Path().glob("*.part"))


def test_there_are_many_lines():
    assert len(LINES_OF_COMMAND) >= 500
