"""HTML of a report: elements whose texts are escaped, tables, figures, and the page around them.

The page is one file: styles and pictures stand in it, and it needs no program and no network.
"""

import base64
from collections.abc import Mapping, Sequence
from html import escape

from netwright.engine.core.fields import printable


class Html(str):
    """Text that is HTML already; any other text is escaped where it is put into an element."""

    __slots__ = ()


Content = str | Html | None
VOID = frozenset({"meta", "img", "br"})
STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 40px 32px 64px; max-width: 1080px; background: #fff; color: #1b2130;
  font: 14px/1.5 Inter, "Segoe UI", "Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 17px; margin: 36px 0 10px; padding-bottom: 4px; border-bottom: 1px solid #dde1e8; }
h3 { font-size: 14px; margin: 20px 0 6px; }
p { margin: 6px 0; max-width: 75ch; }
.muted, figcaption { color: #5b6375; }
.scores { display: flex; flex-wrap: wrap; gap: 12px; margin: 18px 0 0; }
.score { border: 1px solid #dde1e8; border-radius: 6px; padding: 8px 14px; min-width: 120px; }
.score b { display: block; font-size: 20px; font-variant-numeric: tabular-nums; }
.score span { color: #5b6375; font-size: 12px; }
table { border-collapse: collapse; margin: 6px 0 12px; font-size: 13px; }
caption { text-align: left; color: #5b6375; padding-bottom: 4px; }
th, td { text-align: left; vertical-align: top; padding: 3px 16px 3px 0; border-bottom: 1px solid #e9ecf1; }
th { font-weight: 600; border-bottom-color: #b9c0cd; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td { overflow-wrap: anywhere; }
.whole { overflow-x: auto; }
.whole td { overflow-wrap: normal; }
code { font: 12px/1.4 "JetBrains Mono", "SF Mono", Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere; }
figure { margin: 8px 0 14px; break-inside: avoid; }
figure svg { max-width: 100%; height: auto; display: block; }
figcaption { font-size: 12px; margin-top: 2px; max-width: 75ch; }
.figures { display: flex; flex-wrap: wrap; gap: 8px 32px; }
.samples { display: flex; flex-wrap: wrap; gap: 14px; }
.samples figure { width: 112px; margin: 0; }
.samples img { width: 96px; height: 96px; object-fit: contain; image-rendering: pixelated; border: 1px solid #dde1e8;
  background: #fff; }
.network svg { max-height: 1400px; }
.two { columns: 2; column-gap: 40px; }
@media print {
  @page { margin: 16mm 14mm; }
  body { padding: 0; max-width: none; font-size: 10.5pt; }
  h2, h3, caption { break-after: avoid; }
  tr { break-inside: avoid; }
  thead { display: table-header-group; }
  .network svg { max-height: 240mm; }
  svg, img, table { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def element(kind: str, /, *content: Content, **attributes: str) -> Html:
    """Return an element; what is no `Html` of its content is escaped, None is left out. A trailing underscore of an
    attribute's name is dropped, as in `class_`."""
    markup = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items())
    if kind in VOID:
        return Html(f"<{kind}{markup}>")
    return Html(f"<{kind}{markup}>{joined(content)}</{kind}>")


def joined(parts: Sequence[Content]) -> Html:
    """Return parts one after the other."""
    return Html(
        "".join(part if isinstance(part, Html) else escape(printable(part), quote=False) for part in parts if part)
    )


def table(
    head: Sequence[str], rows: Sequence[Sequence[Content]], numbers: Sequence[int] = (), caption: str = ""
) -> Html:
    """Return a table. `numbers`: columns that are aligned at the right. Without a head there are rows alone."""

    def cells(kind: str, row: Sequence[Content]) -> list[Html]:
        return [
            element(kind, cell, class_="number") if place in numbers else element(kind, cell)
            for place, cell in enumerate(row)
        ]

    top = element("thead", element("tr", *cells("th", head))) if head else None
    body = element("tbody", *(Html(element("tr", *cells("td", row)) + "\n") for row in rows))
    return element("table", element("caption", caption) if caption else None, top, body)


def figure(svg: str, caption: str = "", kind: str = "") -> Html:
    """Return a figure with an SVG element in it."""
    image = Html(svg[svg.index("<svg") :])  # without the declaration of a file
    attributes = {"class_": kind} if kind else {}
    return element("figure", image, element("figcaption", caption) if caption else None, **attributes)


def picture(png: bytes, description: str, *caption: Content) -> Html:
    """Return a figure with a PNG in it; `description` is read where it cannot be seen."""
    source = "data:image/png;base64," + base64.b64encode(png).decode("ascii")
    return element("figure", element("img", src=source, alt=description), element("figcaption", *caption))


def facts(pairs: Mapping[str, Content]) -> Html:
    """Return a table of names and values; those without a value are left out."""
    return table((), [(element("span", name, class_="muted"), value) for name, value in pairs.items() if value])


def page(title: str, body: Sequence[Content], language: str = "en") -> str:
    """Return the text of the whole file."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Html(STYLE)),
    )
    whole = element("html", head, element("body", *body), lang=language)
    return f"<!DOCTYPE html>\n{whole}\n"
