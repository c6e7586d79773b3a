"""A page as a reader has it: elements, attributes and texts."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = ("meta", "img", "br", "input")
READ = ("aria-label", "content", "data-head")  # attributes that a reader sees or hears
HEADINGS = ("h1", "h2", "h3", "h4", "h5")


class Page(HTMLParser):
    """The elements of a page in their order; those that are left open stay in `open`."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.headings: list[int] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.texts += [value for key, value in attrs if key in READ and value]
        if tag in HEADINGS:
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def shown(self) -> str:
        """All texts, with single spaces."""
        return " ".join(" ".join(self.texts).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of each element of a kind."""
        return [attributes for one, attributes in self.tags if one == tag]
