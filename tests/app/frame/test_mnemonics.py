"""The letters of the entries of a menu."""

from netwright.app.frame.mnemonics import with_mnemonics


def test_the_first_entry_has_its_initial_and_the_next_another_letter() -> None:
    assert with_mnemonics(["Save", "Save as…", "Select all"]) == ["&Save", "Save &as…", "S&elect all"]


def test_an_entry_gives_its_letter_to_one_that_has_no_other() -> None:
    assert with_mnemonics(["Abc", "A"]) == ["A&bc", "&A"]


def test_an_ampersand_of_a_name_stays_and_an_old_letter_goes() -> None:
    assert with_mnemonics(["Undo cut && paste", "&Redo"]) == ["&Undo cut && paste", "&Redo"]


def test_without_a_letter_left_there_is_none() -> None:
    assert with_mnemonics(["A", "A", "…"]) == ["&A", "A", "…"]


def test_an_entry_in_chinese_has_the_letter_of_its_english_text_behind_it() -> None:
    chinese, english = ["保存", "另存为…", "全选"], ["Save", "Save as…", "Select all"]
    marked = with_mnemonics(chinese, english)
    assert marked == ["保存(&S)", "另存为(&A)…", "全选(&E)"]
    assert with_mnemonics(marked, english) == marked


def test_a_chinese_name_has_a_letter_that_can_be_typed() -> None:
    assert with_mnemonics(["b网", "我的网络", "Redo"]) == ["b网(&B)", "我的网络(&A)", "&Redo"]
