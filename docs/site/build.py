"""Builds the site: `python docs/site/build.py [FOLDER]`, which `make docs` calls. Nothing is fetched from a network.

The pages are those of `docs/`, which also read well without it. They are copied to a folder of their own, beside the
reference, which is made from docstrings, and the notebooks once more as `.ipynb`; Sphinx builds from there, and keeps
what notebooks printed for the next time.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import notebooks
import reference

SITE = Path(__file__).parent
ROOT = SITE.parents[1]
BESIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages that stand at the top of the repository, and their names in the site."""
LINK = re.compile(r"\]\(([^()\s#]+)(#[^()\s]*)?\)")


def stage(source: Path) -> None:
    """Copies all that the site is made of."""
    shutil.rmtree(source, ignore_errors=True)
    kept = shutil.ignore_patterns("site", "*.parquet", "*.json", "*.py")
    shutil.copytree(ROOT / "docs", source, ignore=kept)
    for name, page in BESIDE.items():
        shutil.copy(ROOT / name, source / page)
    for path in [*source.rglob("*.md")]:
        original = ROOT / next((name for name, page in BESIDE.items() if source / page == path), "")
        home = ROOT if original != ROOT else (ROOT / "docs" / path.relative_to(source)).parent
        path.write_text(LINK.sub(lambda found: _relinked(found, home, path.parent, source), path.read_text()))
    (source / "files").mkdir()
    for path in sorted((source / "notebooks").glob("*.md")):
        if notebooks.is_notebook(text := path.read_text()):
            (source / "files" / f"{path.stem}.ipynb").write_text(notebooks.as_ipynb(text))
            offer = f"{{download}}`As a Jupyter notebook, for Colab too <../files/{path.stem}.ipynb>`"
            path.write_text(re.sub(r"^(# .*)$", rf"\1\n\n{offer}", text, count=1, flags=re.MULTILINE))
    for path in (ROOT / "examples").iterdir():
        shutil.copy(path, source / "files" / path.name)
    shutil.copy(SITE / "conf.py", source)
    shutil.copytree(SITE / "static", source / "static")
    reference.write(source / "reference")


def _relinked(found: re.Match[str], home: Path, here: Path, source: Path) -> str:
    """A link of the repository as it is in the site."""
    target, anchor = found[1], found[2] or ""
    if re.match(r"[a-z]+:", target):
        return found[0]
    path = (home / target).resolve()
    if not path.is_relative_to(ROOT) or not path.exists():
        return found[0]
    name = path.relative_to(ROOT).as_posix()
    if name in BESIDE:
        place = source / BESIDE[name]
    elif name.startswith("docs/"):
        place = source / name.removeprefix("docs/")
    elif name.startswith("examples/"):
        place = source / "files" / path.name
    else:
        return found[0]
    return f"]({os.path.relpath(place, here)}{anchor})"


def main(out: Path) -> int:
    """Builds into a folder; Sphinx's exit code."""
    source, html = out / "source", out / "html"
    stage(source)
    options = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(out / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(source), str(html)]
    quiet = out / "ipython" / "profile_default" / "ipython_kernel_config.py"
    quiet.parent.mkdir(parents=True, exist_ok=True)
    quiet.write_text("get_config().IPKernelApp.log_level = 40\n")  # the reader of a build's log asks for errors
    environment = {**os.environ, "IPYTHONDIR": str(out / "ipython"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "out" / "docs").resolve()))
