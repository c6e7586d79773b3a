"""A document becomes an accessible, archival PDF, whatever the names of its columns are."""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

import skeval.reporting.typesetting as typesetting
from skeval import SuiteResult
from skeval.exceptions import MissingDependencyError, TypesettingError
from skeval.reporting.document.report import make_document
from skeval.reporting.letters import map_texts
from skeval.reporting.typesetting import compiler, fonts
from skeval.reporting.typesetting.compiler import compile_pdf, compile_png
from skeval.reporting.typesetting.letters import has_code_points, make_printable
from skeval.reporting.typesetting.render import render_pdf, render_png
from tests.reporting.document.releases import STATES, State, release
from tests.snapshots import raises

MAX_WORDS = 420
HEAD = """#set document(title: "x")
#set text(font: ("Source Sans 3", "DejaVu Sans"), fallback: false, lang: "en")
"""
ODD_NAMES = (
    *("#panic()", "*a*", "$x$", r"\u{1F600}", "<b>", '#read("/etc/passwd")', "", " "),
    *("\u202egnitrever", "a\x00b\x1b[31m", "\ud800half", "\ufeffmark", "a\u2028b"),
    *("名前", "ชื่อ", "اسم العمود", "שם", "\U0001f600", "e\u0301\u0301\u0301", "x" * 200),
    *("Ελλάδα", "Привет", "Việt", "a_" * 100),
)


def pdf_of(results: SuiteResult) -> bytes:
    return render_pdf(make_document(results), results)


def reader_of(content: bytes) -> PdfReader:
    return PdfReader(BytesIO(content))


@pytest.fixture(scope="module")
def leak() -> bytes:
    return pdf_of(release("leak"))


# standards -----------------------------------------------------------------------------------


@pytest.mark.parametrize("state", STATES)
def test_each_outcome_satisfies_both_standards(state: State) -> None:
    reader = reader_of(pdf_of(release(state)))
    root = reader.trailer["/Root"]
    metadata = root["/Metadata"].get_data().decode()
    assert "<pdfaid:part>3</pdfaid:part>" in metadata
    assert "<pdfuaid:part>1</pdfuaid:part>" in metadata
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    assert "/StructTreeRoot" in root
    words = [word for word in reader.pages[0].extract_text().split() if re.search("[A-Za-z]", word)]
    assert 200 < len(words) <= MAX_WORDS


def test_the_first_page_is_one_page(leak: bytes) -> None:
    reader = reader_of(leak)
    texts = [page.extract_text() for page in reader.pages]
    assert len(texts) < len(make_document(release("leak")).pages)  # short pages share a sheet
    assert "Signature" not in texts[0]
    assert "Decision" in texts[0]
    assert all(len(text) > 200 for text in texts)


def test_bookmarks_have_headings_without_shapes(leak: bytes) -> None:
    titles = list(titles_of(reader_of(leak).outline))
    assert titles[:3] == [
        "A leak was found. Hold this release.",
        "Privacy: how often an attack works",
        "Fidelity: similarity to real rows (100 = equal)",
    ]


def titles_of(outline: Any) -> Iterator[str]:
    for one in outline:
        if isinstance(one, list):
            yield from titles_of(one)
        else:
            yield str(one.title)


def test_only_the_named_fonts_are_embedded(leak: bytes) -> None:
    names = set(re.findall(rb"/BaseFont\s*/([\w+-]+)", b"".join(objects_of(leak))))
    assert names
    assert all(re.search(rb"\+(SourceSans3|DejaVuSans)", name) for name in names)


def objects_of(content: bytes) -> Iterator[bytes]:
    reader = reader_of(content)
    for page in reader.pages:
        for font in page["/Resources"].get("/Font", {}).values():
            yield f"/BaseFont {font.get_object()['/BaseFont']} ".encode()


def test_no_letter_is_smaller_than_ticks(leak: bytes) -> None:
    sizes: list[float] = []

    def visit(text: str, _: Any, matrix: Any, __: Any, size: float) -> None:
        if text.strip():
            sizes.append(round(size * abs(matrix[3]), 2))

    reader_of(leak).pages[0].extract_text(visitor_text=visit)
    assert min(sizes) >= 7.5


# same bytes ----------------------------------------------------------------------------------


def test_same_results_same_bytes(leak: bytes) -> None:
    assert pdf_of(release("leak")) == leak


def test_same_bytes_with_fonts_listed_in_another_order(
    leak: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy_in_reverse(folder: Path) -> None:
        for path in reversed(fonts.font_files()):
            shutil.copyfile(path, folder / path.name)

    monkeypatch.setattr(compiler, "copy_fonts", copy_in_reverse)
    assert pdf_of(release("leak")) == leak


def test_same_bytes_elsewhere(leak: bytes, tmp_path: Path) -> None:
    script = (
        "import sys; from tests.reporting.document.releases import release\n"
        "from skeval.reporting.document.report import make_document\n"
        "from skeval.reporting.typesetting.render import render_pdf\n"
        "results = release('leak')\n"
        "sys.stdout.buffer.write(render_pdf(make_document(results), results))"
    )
    root = Path(__file__).parents[3]
    kept = ("PATH", "TMPDIR", "SYSTEMROOT", "PYTHONPYCACHEPREFIX")
    known = {name: os.environ[name] for name in kept if name in os.environ}
    env = {**known, "PYTHONPATH": str(root), "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=env, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == leak


# names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("begin", [0, 8, 16])
def test_odd_names_in_all_places(begin: int) -> None:
    columns = ODD_NAMES[begin : begin + 8]
    results = release("leak", columns, file=columns[0])
    # a half of a surrogate pair cannot be written as JSON, so other results are attached
    reader = reader_of(render_pdf(make_document(results), release("leak")))
    texts = [page.extract_text() for page in reader.pages]
    assert all(len(text) > 300 for text in texts)
    assert "\u202e" not in "".join(texts)


def test_markup_is_printed_as_it_is() -> None:
    names = ("#panic()", "*a*", "$x$", r"\u{1F600}", "#let x = 1")
    text = reader_of(pdf_of(release("leak", names))).pages[1].extract_text()
    shown = text.replace("\u2068", "").replace("\u2069", "")
    assert [name for name in names if f"Guess {name}" not in shown] == []


def test_an_empty_name_is_described() -> None:
    results = release("leak", ("", "b", "c"))
    assert "(empty name)" in reader_of(pdf_of(results)).pages[0].extract_text()


def test_long_names_do_not_leave_their_column() -> None:
    results = release("leak", tuple(letter * 200 for letter in "abc"))
    for page in reader_of(pdf_of(results)).pages:
        assert rightmost(page) < 595.3 - 25


def rightmost(page: Any) -> float:
    """Return where the last line of text begins, in points from the left."""
    places: list[float] = []

    def visit(text: str, outer: Any, matrix: Any, *_: Any) -> None:
        if text.strip():
            places.append(outer[0] * matrix[4] + outer[4])

    page.extract_text(visitor_text=visit)
    return max(places)


def test_printable_texts() -> None:
    families = fonts.font_families()
    assert make_printable("age") == "age"
    assert make_printable("名", families[:2]) == "⟨U+540D⟩"
    assert make_printable("名前", families[:2]) == "⟨U+540D 524D⟩"
    assert make_printable("a\u202eb") == "a⟨U+202E⟩b"
    assert make_printable("a\tb\u2028c") == "a b c"
    assert make_printable("\ud800") == "⟨U+D800⟩"
    assert make_printable("e\u0301") == "é"
    assert make_printable("Привет Ελλάδα") == "Привет Ελλάδα"


def test_code_points_are_noticed() -> None:
    content = map_texts({"a": ["x", ("\u202e",)], "b": 1.5, "c": None}, make_printable)
    assert content == {"a": ["x", ["⟨U+202E⟩"]], "b": 1.5, "c": None}
    assert has_code_points(content)
    assert not has_code_points({"a": ["x"]})


def test_everything_printable_has_a_glyph() -> None:
    letters = "".join(
        make_printable(chr(code)) for code in range(0x20, 0x3000) if not 0xD800 <= code < 0xE000
    )
    body = HEAD + '#text(json("t.json"))'
    compile_pdf({"main.typ": body, "t.json": f'"{escape(letters)}"'}, 0)


def escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


# what goes wrong -----------------------------------------------------------------------------


def test_a_letter_without_a_glyph_is_an_error() -> None:
    with raises(TypesettingError):
        compile_pdf({"main.typ": f"{HEAD}= \u540d"}, 0)


def test_an_unknown_font_is_an_error() -> None:
    body = '#set document(title: "x")\n#set text(font: "Nobody Has This", lang: "en")\nHello'
    with raises(TypesettingError):
        compile_pdf({"main.typ": body}, 0)


def test_a_template_that_fails() -> None:
    with raises(TypesettingError):
        compile_pdf({"main.typ": f"{HEAD}#panic()"}, 0)


def test_time_limit() -> None:
    with raises(TypesettingError):
        compile_pdf({"main.typ": f"{HEAD}#for i in range(100000000) {{}}"}, 0, limit=0.4)


def test_without_typst(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "typst.py").write_text("raise ImportError('DLL load failed')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with raises(MissingDependencyError):
        compile_pdf({"main.typ": f"{HEAD}Hello"}, 0)


def test_modules_of_the_current_folder_are_not_imported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert compile_pdf({"main.typ": f"{HEAD}Hello"}, 0).startswith(b"%PDF")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_forked_process_can_render_after_a_render() -> None:
    files = {"main.typ": f"{HEAD}Hello"}
    compile_pdf(files, 0)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        again = pool.apply_async(compile_pdf, (files, 0)).get(timeout=60)
    assert again == compile_pdf(files, 0)


def test_templates_reach_for_nothing() -> None:
    folder = Path(typesetting.__file__).parent / "templates"
    templates = sorted(folder.glob("*.typ"))
    assert templates
    for path in templates:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'import "@|datetime\.today|https?://', text), path.name


def test_templates_see_only_the_given_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with raises(TypesettingError):
        compile_pdf({"main.typ": f'{HEAD}#read("/etc/hostname")'}, 0)


# pictures --------------------------------------------------------------------------------------


def test_pictures_of_pages() -> None:
    document = make_document(release("none"), is_short=True)
    pages = render_png(document, ppi=30)
    assert len(pages) == 2 < len(document.pages)
    assert all(page.startswith(b"\x89PNG") for page in pages)
    assert compile_png({"main.typ": f"{HEAD}Hello"}, 0, 20)
