"""The start of the window."""

import pytest

from netwright.app import main, startup
from netwright.designer import language


def test_the_language_is_there_before_the_window(monkeypatch: pytest.MonkeyPatch, qapp) -> None:
    languages: list[str] = []
    names = qapp.applicationName(), qapp.organizationName(), qapp.applicationVersion()

    def run(app: object, arguments: object) -> int:
        languages.append(language.current())
        return 0

    monkeypatch.setattr(main, "_run", run)
    monkeypatch.setattr(startup, "over", lambda: None)
    monkeypatch.setenv(language.VARIABLE, "zh_CN")
    assert main.main([]) == 0
    language.use(qapp, "en")
    qapp.setApplicationName(names[0])
    qapp.setOrganizationName(names[1])
    qapp.setApplicationVersion(names[2])
    assert languages == ["zh_CN"]
