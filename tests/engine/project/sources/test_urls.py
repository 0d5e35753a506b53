"""Hosts in URLs: as they are allowed, shown and connected to; and what is no URL."""

import platform

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netwright.engine.project.sources.urls import (
    address_of,
    host_of,
    is_remote,
    path_of,
    split_url,
    url_fault,
    without_file_scheme,
    without_secrets,
)

LONG = "a" * 63 + "." + "b" * 63 + ".example.org"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.ORG:443/a?b", "example.org"),
        ("http://example.org:8080", "example.org:8080"),
        ("http://example.org./a", "example.org"),
        ("http://[::1]:81/a", "[::1]:81"),
        ("http://[0:0::1]/a", "[::1]"),
        ("s3://bucket/x", "s3://bucket"),
        ("abfs://container@account.dfs.core.windows.net/x", "abfs://account.dfs.core.windows.net"),
        ("http://аpple.com/x", "xn--pple-43d.com"),
        ("http://１２７.0.0.1/x", "127.0.0.1"),
        ("http://good.org\\@evil.org/x", "evil.org"),
        (f"https://{LONG}/x", LONG),
        ("memory://lab/x", ""),
        ("file:///x", ""),
        ("table.csv", ""),
    ],
)
def test_the_host_of_a_url_is_named_as_it_is_contacted(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://[::1", "its host '[::1' cannot be read"),
        ("http://[fe80::1%25eth0]/", "cannot be read"),
        ("http://a b/c", "its host 'a b' cannot be read"),
        ("http:///c", "it has no host"),
        ("s3://", "it has no host"),
        ("http://h:99999/", "cannot be read"),
        ("http://{a,b}.org/x.tar", "cannot be read"),
        ("http://a..b/", "cannot be read"),
        ("http://\u202egro.live/", r"its host '\u202egro.live' cannot be read"),
        (f"http://{'a' * 64}.org/", "cannot be read"),
        ("http://h/a\0b", r"http://h/a\u0000b holds a control character"),
        ("http://h/a\nb", "holds a control character"),
        ("http://me:key@h/x", "http://h/x is given with a user or password"),
        ("ftp://h/x", "are not read by ftp://. Use one of: http, https"),
        ("simplecache+x://h/x", "are not read by simplecache+x://"),
    ],
)
def test_what_is_no_url_of_ours_is_said_in_words(url: str, words: str) -> None:
    assert words in url_fault(url)
    assert "key" not in url_fault(url)


@given(st.text(st.characters(), max_size=20), st.sampled_from(["", "http://", "file://", "s3://", "http://["]))
def test_no_text_is_too_strange(text: str, start: str) -> None:
    url = start + text
    for look in (host_of, url_fault, split_url, without_secrets, path_of, is_remote, without_file_scheme):
        look(url)
    assert host_of(url).isascii()
    assert host_of(url).isprintable()
    if start == "http://" and not url_fault(url):
        assert address_of(url).isascii()


def test_files_by_url_are_paths() -> None:
    assert without_file_scheme("file:///a%20b/c?d") == "/a b/c"
    assert without_file_scheme("file://localhost/a") == without_file_scheme(f"file://{platform.node()}/a") == "/a"
    for other in ("file://[::1", "file://host/a", "file:///a%00b"):
        assert without_file_scheme(other) == other
        assert "this is no file of this machine" in url_fault(other)
    assert without_file_scheme("file:///C:/x") == "C:/x"
    assert address_of("HTTP://H/ü b?x=é#f") == "http://h/%C3%BC%20b?x=%C3%A9"
