"""Settings of the site that `make docs` builds from the pages with Sphinx, MyST and furo.

The source folder is the repository, so that every link leads where it leads on GitHub. The pages are plain Markdown:
the tables of `docs/README.md` are the table of contents, and a picture `x-light.png` has a dark one beside it.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
PAGES = ("docs", "CONTRIBUTING.md")
project = "Netwright"
html_title = "Netwright"
extensions = ["myst_parser"]
root_doc = "docs/README"
INDICES = {root_doc: "Start", "docs/zh/README": "开始"}
"""Pages with a table of contents, and the caption of its first part."""
include_patterns = ["docs/*.md", "docs/gallery/*.md", "docs/zh/*.md", "CONTRIBUTING.md"]
exclude_patterns = [path.name for path in ROOT.iterdir() if path.name not in PAGES]
myst_heading_anchors = 6
myst_enable_extensions = ["attrs_inline"]
smartquotes = False
html_theme = "furo"
html_copy_source = False
html_show_copyright = False
PICTURE = re.compile(r"^!\[(.*)\]\((.*)-light\.png\)$", re.MULTILINE)
OUTSIDE = r"\[([^\]]*)\]\((?:\.\./){%d}(?!\.\./|CONTRIBUTING\.md)[^)]*\)"
"""A link to a file that is no page of the site, such as the README, from a page that is so deep in folders."""
PAGE = re.compile(r"^\| \[.*?\]\(([\w./-]+)\.md\) \|", re.MULTILINE)


def contents(text: str, first: str) -> str:
    """Return a table of contents, with a part for each section of the index that has a table; `first` is the caption
    of the part above the first heading."""
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    sections = zip([first, *parts[1::2]], map(PAGE.findall, parts[0::2]), strict=True)
    return "".join(
        "\n".join(("\n```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```\n"))
        for title, pages in sections
        if pages
    )


def add_site(app: Sphinx, name: str, source: list[str]) -> None:
    """Add to a page what the site has and plain Markdown has not."""
    text = re.sub(OUTSIDE % name.count("/"), r"\1", source[0])
    text = PICTURE.sub(r"![\1](\2-light.png){.only-light}\n![\1](\2-dark.png){.only-dark}", text)
    source[0] = text + contents(text, INDICES[name]) if name in INDICES else text


def setup(app: Sphinx) -> None:
    """Have Sphinx call `add_site` for each page that it reads."""
    app.connect("source-read", add_site)
