"""What is attached to a report: read back, and hostile files refused in one sentence."""

from __future__ import annotations

import io
import logging
import random
import re
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from skeval import Comparison, ReportColumns, SuiteResult, compare
from skeval.exceptions import InvalidParameterError
from skeval.reporting.document.report import make_document
from skeval.reporting.typesetting.attachment import read_report
from skeval.reporting.typesetting.compiler import compile_pdf
from skeval.reporting.typesetting.render import render_pdf
from skeval.results.attached_report import restore_settings
from tests.reporting.document.releases import release
from tests.snapshots import raises

HEAD = """#set document(title: "x")
#set text(font: ("Source Sans 3", "DejaVu Sans"), fallback: false, lang: "en")
"""
SETTINGS = {"title": "T", "columns": ReportColumns(univ=["age"]), "short": True, "hashes": False}
EMPTY = b'{"settings": {}, "versions": {}}'


@pytest.fixture(scope="module")
def content() -> bytes:
    results = release("leak")
    return render_pdf(make_document(results, is_short=True), results, SETTINGS)


@pytest.fixture
def path(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "report.pdf"
    path.write_bytes(content)
    return path


def test_results_and_settings_are_read_back(path: Path) -> None:
    attached = read_report(path)
    assert attached.is_unchanged
    assert not attached.other_versions
    assert attached.results == release("leak").to_json()
    assert restore_settings(path, attached.settings) == SETTINGS
    results = SuiteResult.from_pdf(path)
    assert make_document(results) == make_document(release("leak"))
    with raises(InvalidParameterError):
        Comparison.from_pdf(path)


def test_a_comparison_is_read_back(tmp_path: Path) -> None:
    comparison = compare({"a": release("leak"), "b": release("none")})
    document = make_document(release("leak"), is_short=True)
    columns = {"visits": ReportColumns(biv=3)}
    path = tmp_path / "report.pdf"
    path.write_bytes(render_pdf(document, comparison, {"columns": columns}))
    assert Comparison.from_pdf(path).to_dict() == comparison.to_dict()
    assert restore_settings(path, read_report(path).settings) == {"columns": columns}
    with raises(InvalidParameterError):
        SuiteResult.from_pdf(path)


def test_changed_results_are_noticed(path: Path, content: bytes) -> None:
    stated = re.search(rb"results sha256:[0-9a-f]{64}", content)
    assert stated
    path.write_bytes(content.replace(stated[0][-64:], b"0" * 64))
    assert not read_report(path).is_unchanged
    with raises(InvalidParameterError):
        SuiteResult.from_pdf(path)


# files of others -----------------------------------------------------------------------------


def pdf_with(*attachments: tuple[str, bytes]) -> bytes:
    """Return a PDF of one empty page with these attachments, whose content is compressed."""
    names = " ".join(f"({name}) {4 + 2 * i} 0 R" for i, (name, _) in enumerate(attachments))
    objects = [
        f"<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names[{names}]>>>>>>".encode(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>",
    ]
    for name, data in attachments:
        place = len(objects) + 2
        objects.append(
            f"<</Type/Filespec/F({name})/UF({name})/EF<</F {place} 0 R>>>>".encode("latin-1")
        )
        head = f"<</Type/EmbeddedFile/Filter/FlateDecode/Length {len(data)}>>stream\n".encode()
        objects.append(head + data + b"\nendstream")
    out, places = io.BytesIO(), []
    out.write(b"%PDF-1.7\n")
    for number, one in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, one))
    start, n = out.tell(), len(objects) + 1
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % n)
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (n, start))
    return out.getvalue()


def packed(content: bytes) -> bytes:
    return zlib.compress(content, 9)


HOSTILE = {
    "no attachment": pdf_with(),
    "no settings": pdf_with(("results.json", packed(b"{}"))),
    "two results": pdf_with(
        *[("results.json", packed(b"{}"))] * 2, ("settings.json", packed(EMPTY))
    ),
    "odd settings": pdf_with(("results.json", packed(b"{}")), ("settings.json", packed(b"[1]"))),
    "no text": pdf_with(("results.json", packed(b"\xff\xfe")), ("settings.json", packed(EMPTY))),
    "no stream": pdf_with(("results.json", b"x" * 50), ("settings.json", packed(EMPTY))),
    "many": pdf_with(*[("results.json", packed(b"{}"))] * 2000),
    "no PDF": b"no PDF at all",
    "nothing": b"",
}


@pytest.mark.parametrize(
    "plain",
    [
        *({"path": "/etc/passwd"}, {"title": 1}, {"short": "yes"}, {"columns": 3}),
        *({"columns": {"univ": {}}}, {"columns": {"other": 1}}, {"columns": {"tables": [1]}}),
    ],
)
def test_settings_of_others(plain: dict[str, object]) -> None:
    with raises(InvalidParameterError):
        restore_settings(Path("a.pdf"), plain)


@pytest.mark.parametrize("case", HOSTILE)
def test_files_of_others(tmp_path: Path, case: str, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "other.pdf"
    path.write_bytes(HOSTILE[case])
    with raises(InvalidParameterError):
        SuiteResult.from_pdf(path)
    assert not caplog.records
    assert logging.getLogger("pypdf").level == logging.NOTSET


def test_a_pdf_without_results(tmp_path: Path) -> None:
    path = tmp_path / "other.pdf"
    path.write_bytes(compile_pdf({"main.typ": f"{HEAD}Hello"}, 0))
    with raises(InvalidParameterError):
        read_report(path)


def squeezed_zeros(n_mb: int) -> bytes:
    """Compress a megabyte of zeros, repeat its bytes, and write the checksum of all."""
    squeezer = zlib.compressobj(9)
    first, again = (
        squeezer.compress(bytes(2**20)) + squeezer.flush(zlib.Z_FULL_FLUSH) for _ in range(2)
    )
    end = squeezer.flush()[:-4]
    checksum = (n_mb * 2**20 % 65521 << 16) + 1
    return first + again * (n_mb - 1) + end + checksum.to_bytes(4, "big")


def test_zeros_are_squeezed() -> None:
    assert zlib.decompress(squeezed_zeros(3)) == bytes(3 * 2**20)


def test_a_bomb_takes_little_memory(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    bomb = squeezed_zeros(2**10)
    path = tmp_path / "other.pdf"
    path.write_bytes(pdf_with(("results.json", bomb), ("settings.json", packed(EMPTY))))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with raises(InvalidParameterError):
        read_report(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # kB of 1 GB


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "other.pdf"
    with path.open("wb") as file:
        file.truncate(2**27)
    with raises(InvalidParameterError):
        read_report(path)
    with raises(InvalidParameterError):
        read_report(tmp_path)
    with raises(InvalidParameterError):
        read_report(tmp_path / "none.pdf")


def test_cut_and_damaged_reports(path: Path, content: bytes) -> None:
    rng = random.Random(0)
    cut = [content[: rng.randrange(len(content))] for _ in range(10)]
    for n in (1, 20, 400) * 8:
        damaged = bytearray(content)
        for _ in range(n):
            damaged[rng.randrange(len(content) - 6000, len(content))] = rng.randrange(256)
        cut.append(bytes(damaged))
    for one in cut:
        path.write_bytes(one)
        with suppress(InvalidParameterError):
            assert isinstance(read_report(path).is_unchanged, bool)
