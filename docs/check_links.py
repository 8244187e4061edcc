"""Check the links inside built pages: ``python docs/check_links.py docs/_build/html``.

Every file and anchor that a page refers to has to be there, nothing may be loaded from elsewhere, and no page may name
a folder of the machine that built it.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

REFERENCES = ("href", "src", "data", "poster")
LOADED = {"script", "img", "iframe", "source", "video", "audio", "embed", "object"}  # a browser fetches what they name
FETCHING = {"stylesheet", "icon", "preload", "preconnect", "modulepreload", "manifest"}
FOLDERS = {str(folder) for folder in (Path(__file__).resolve().parent.parent, Path.home(), Path(sys.prefix))} - {"/"}


class Page(HTMLParser):
    """What a page refers to, and which anchors it has."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.external = [], set(), []
        text = path.read_text(encoding="utf-8")
        self.machine = [folder for folder in FOLDERS if f"{folder}/" in text]
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        fetched = tag in LOADED or (tag == "link" and FETCHING & set((found.get("rel") or "").split()))
        targets = [found[name] for name in REFERENCES if found.get(name)]
        targets += [part.split()[0] for part in (found.get("srcset") or "").split(",") if part.strip()]
        for target in targets:
            if is_local(target):
                self.links.append(target)
            elif fetched and not target.startswith("data:"):
                self.external.append(target)


def is_local(target):
    parts = urlsplit(target)
    return not parts.scheme and not parts.netloc


def broken_links(root):
    """The number of pages and of links in them, and a sentence for every link that leads nowhere."""
    built = [path for path in sorted(root.rglob("*.html")) if path.relative_to(root).parts[0] != "_static"]
    pages = {path: Page(path) for path in built}
    found, n_links = [], 0
    for path, page in pages.items():
        name = path.relative_to(root)
        found += [f"{name}: loads {target} from elsewhere" for target in page.external]
        found += [f"{name}: names the folder {folder}" for folder in page.machine]
        for target in page.links:
            n_links += 1
            parts = urlsplit(target)
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if there.is_dir():
                there /= "index.html"
            anchor = unquote(parts.fragment)
            if not there.is_relative_to(root) or not there.exists():
                found.append(f"{name}: {target} is not there")
            elif anchor and there in pages and anchor not in pages[there].anchors:
                found.append(f"{name}: {target} has no such anchor")
    return len(pages), n_links, found


def main(folder):
    n_pages, n_links, found = broken_links(Path(folder).resolve())
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{n_links} links inside {n_pages} pages were checked: {len(found)} broken.")
    return 1 if found or not n_pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
