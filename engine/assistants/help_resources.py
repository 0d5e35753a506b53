"""What an assistant can read beside answers: the documentation, the examples, and the projects in its folders."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from netwright.engine.assistants.access import Access
from netwright.engine.core.errors import UserError
from netwright.engine.core.fields import quoted
from netwright.engine.core.files import RESOURCES, read_file
from netwright.engine.core.own_files import SUFFIX
from netwright.engine.operations.docs import pages

SCHEME = "netwright://"
MOST_PROJECTS = 100
LARGEST_BYTES = 2**22
MOST_CHARACTERS = 400_000


@dataclass(frozen=True)
class HelpResource:
    """A text with its address."""

    uri: str
    name: str
    about: str
    path: Path

    @property
    def mime_type(self) -> str:
        """The kind of text."""
        return "application/json" if self.path.suffix in (".json", SUFFIX) else "text/markdown"


def resources(access: Access) -> Iterator[HelpResource]:
    """Yield the pages, the examples and templates, and projects that lie directly in the folders."""
    for page in pages():
        yield HelpResource(f"{SCHEME}docs/{page['name']}", page["title"], page["about"], Path(page["path"]))
    for kind in ("examples", "templates"):
        for path in sorted((RESOURCES / kind).glob(f"*{SUFFIX}")):
            yield HelpResource(f"{SCHEME}{kind}/{path.stem}", path.stem, f"A project among the {kind}", path)
    own = (path for folder in access.folders for path in sorted(folder.glob(f"*{SUFFIX}")))
    for path in islice(own, MOST_PROJECTS):
        yield HelpResource(path.as_uri(), path.name, "A project of the user", path)


def read_resource(access: Access, uri: str) -> tuple[str, str]:
    """Return the text of a resource and its kind. Raises `UserError`."""
    resource = next((each for each in resources(access) if each.uri == uri), None)
    if resource is None:
        raise UserError(f"There is no resource {quoted(uri)}.", code="not_found")
    if not uri.startswith(SCHEME):
        access.place(str(resource.path))  # it may be a link that leads outside
    try:
        text = read_file(resource.path, LARGEST_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise UserError(f"{resource.path} cannot be read: {error.strerror or error}.") from error
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}\n... ({len(text) - MOST_CHARACTERS:,} more characters)"
    return text, resource.mime_type
