from collections.abc import Callable

import pytest

from netwright.designer import theme
from netwright.designer.forms.form import Form
from netwright.engine.core.records import Record
from tests.designer.forms.sample import Sample


@pytest.fixture
def shown(qtbot, qapp) -> Callable[..., Form]:
    theme.apply(qapp, "light")  # with it come the guard of the wheel and the ring of the focus

    def make(record: Record | None = None, **options: object) -> Form:
        form = Form(record or Sample(), **options)  # type: ignore[arg-type]  # as each test says
        qtbot.addWidget(form)
        form.resize(420, 700)
        with qtbot.waitActive(form):
            form.show()
            form.activateWindow()
        return form

    return make
