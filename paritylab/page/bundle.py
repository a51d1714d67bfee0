"""The scripts of the page as one text, for places that take a single module: notebooks."""

import json
import re
from pathlib import Path

STATIC = Path(__file__).parent / "static"
IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([\w.]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)|^export \{([^}]*)\};$", re.MULTILINE)


def bundled(entry: str) -> str:
    """A script with all that it imports, each as a function that gives its exports. A style sheet exports `CSS`."""
    order: list[str] = []
    parts = [_part(name) for name in _needed(entry, order)]
    text = IMPORT.sub(r'const \1 = parts["\2"];', (STATIC / entry).read_text())
    return "\n".join(["const parts = {};", *parts, text])


def _needed(name: str, order: list[str]) -> list[str]:
    """What a script imports, and what that does, those first that need nothing."""
    for _, other in IMPORT.findall((STATIC / name).read_text()):
        _needed(other, order)
        if other not in order:
            order.append(other)
    return order


def _part(name: str) -> str:
    text = (STATIC / name).read_text()
    if name.endswith(".css"):
        return f"parts[{json.dumps(name)}] = {{ CSS: {json.dumps(text)} }};"
    exports = [each.strip() for one, several in EXPORT.findall(text) for each in (one or several).split(",")]
    text = re.sub(r"^export \{[^}]*\};$", "", text, flags=re.MULTILINE)
    text = IMPORT.sub(r'const \1 = parts["\2"];', re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return f"parts[{json.dumps(name)}] = (() => {{\n{text}\nreturn {{ {', '.join(exports)} }};\n}})();"
