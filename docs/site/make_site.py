"""Builds the site, as `make docs` does: `python docs/site/make_site.py [FOLDER]`. Nothing is fetched from a network.

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

import links
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
        relink(path, source)
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


def relink(path: Path, source: Path) -> None:
    """Points the links of a page to where the site has what they name."""
    top = next((name for name, page in BESIDE.items() if source / page == path), None)
    home = ROOT if top else (ROOT / "docs" / path.relative_to(source)).parent

    def relinked(found: re.Match[str]) -> str:
        if re.match(r"[a-z]+:", found[1]):
            return found[0]
        there = (home / found[1]).resolve()
        name = there.relative_to(ROOT).as_posix() if there.is_relative_to(ROOT) and there.exists() else ""
        if name in BESIDE:
            place = source / BESIDE[name]
        elif name.startswith("docs/"):
            place = source / name.removeprefix("docs/")
        elif name.startswith("examples/"):
            place = source / "files" / there.name
        else:
            return found[0]  # Sphinx says what is wrong with it
        return f"]({os.path.relpath(place, path.parent)}{found[2] or ''})"

    path.write_text(LINK.sub(relinked, path.read_text()))


def main(out: Path) -> int:
    """Builds into a folder; 0 if Sphinx has no warning and every link of the pages leads somewhere."""
    source, html = out / "source", out / "html"
    stage(source)
    options = ["-W", "--keep-going", "-q", "-b", "html", "-d", str(out / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(source), str(html)]
    quiet = out / "ipython" / "profile_default" / "ipython_kernel_config.py"
    quiet.parent.mkdir(parents=True, exist_ok=True)
    quiet.write_text("get_config().IPKernelApp.log_level = 40\n")  # the reader of a build's log asks for errors
    environment = {**os.environ, "IPYTHONDIR": str(out / "ipython"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    code = subprocess.run(command, env=environment, check=False).returncode
    wrong = links.wrong_in(html) if not code else []
    print(*wrong, f"The site is in {html}." if not code and not wrong else "The site is not whole.", sep="\n")
    return code or bool(wrong)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "out" / "docs").resolve()))
