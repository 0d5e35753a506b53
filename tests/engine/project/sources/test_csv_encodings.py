"""Texts that are no Unicode are told apart by their bytes."""

import pytest

from netwright.engine.project.sources.csv_dialect import encoding_of

CHINESE = "姓名,年龄,城市\n张伟,31,北京\n李娜,28,上海\n"
WESTERN = {
    "cp1252": "Größe,Übung\nMüller,É\nnaïve café,señor; GRÖSSE, ÄÖÜ\n",
    "cp1251": "имя,возраст\nИван,31\nОльга,28\n",
    "cp1250": "jméno,věk\nLukáš,31\nŽaneta,28\n",
}


def test_chinese_of_windows_is_seen() -> None:
    assert encoding_of(CHINESE.encode("gbk")) == "gb18030"
    assert encoding_of(CHINESE.encode("gbk")[:15]) == "gb18030", "cut inside of a character"
    assert encoding_of(("x,y\n" * 50 + "结果,1\n").encode("gb18030")) == "gb18030"
    assert encoding_of(CHINESE.encode()) == "utf-8"


@pytest.mark.parametrize("codec", WESTERN)
def test_western_texts_are_not_taken_for_chinese(codec: str) -> None:
    assert encoding_of(WESTERN[codec].encode(codec)) == "windows-1252"
    assert encoding_of(b"caf\xe9,1") == "windows-1252"
