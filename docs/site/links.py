"""What is wrong with built pages: links that lead nowhere, and anything that would be asked of a network."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "video": "src"}
"""What a browser fetches by itself, and the attribute that says from where."""
REMOTE = re.compile(r"""(?:url\(|@import)\s*["']?\s*(?:https?:)?//[^)"']*""")
"""In a style sheet."""


class Page(NamedTuple):
    """What a page has and names."""

    anchors: set[str]
    links: list[str]
    loaded: list[str]


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page(set(), [], [])

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.page.anchors.update(found[name] for name in ("id", "name") if name in found)
        if tag == "a" and "href" in found:
            self.page.links.append(found["href"])
        relation = found.get("rel", "")
        if LOADED.get(tag) in found and relation not in ("canonical", "next", "prev", "index", "search"):
            self.page.loaded.append(found[LOADED[tag]])


def read(path: Path) -> Page:
    reader = Reader()
    reader.feed(path.read_text())
    return reader.page


def wrong_in(site: Path) -> list[str]:
    """A line for everything that is wrong in a folder of pages."""
    places = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts)  # templates of the theme
    pages = {path: read(path) for path in places}
    wrong = [] if pages else [f"{site}: there are no pages"]
    for path, page in pages.items():
        said = path.relative_to(site)
        wrong += [f"{said}: asks a network for {link}" for link in page.loaded if _is_remote(link)]
        for link in sorted({*page.links, *page.loaded}):
            if why := _broken(link, path, pages, site):
                wrong.append(f"{said}: {link} leads nowhere ({why})")
    for path in sorted(site.rglob("*.css")):
        wrong += [f"{path.relative_to(site)}: asks a network for {link}" for link in REMOTE.findall(path.read_text())]
    return wrong


def _is_remote(link: str) -> bool:
    return link.startswith(("http:", "https:", "//"))


def _broken(link: str, path: Path, pages: dict[Path, Page], site: Path) -> str:
    """Why a link inside the site leads nowhere; nothing if it leads somewhere, or out of the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not place.is_relative_to(site.resolve()):
        return "it is outside of the site"
    if not place.exists():
        return "there is no such file"
    anchor = unquote(parts.fragment)
    if anchor and place in pages and anchor not in pages[place].anchors:
        return "there is no such place on that page"
    return ""
