"""What builds the site: staged links, notebooks, the reference, and the check of what was built. The build itself is
`make docs`, and a test of `make acceptance`."""

import ast
import json

import links
import make_site
import notebooks
import pytest
import reference
from pages import ROOT, blocks_of

NOTEBOOKS = sorted(path for path in (ROOT / "docs" / "notebooks").glob("*.md") if path.name != "index.md")


def site_of(folder, **pages):
    for name, text in pages.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def test_links_that_lead_nowhere_are_found(tmp_path):
    site = site_of(
        tmp_path,
        a_html='<h1 id="top">A</h1><a href="b.html#here">1</a><a href="#top">2</a><a href="https://example.org">3</a>',
        b_html='<p id="here"></p><a href="c.html">4</a><a href="a.html#nowhere">5</a><img src="../x.png">',
    )
    assert links.wrong_in(site) == [
        "b.html: ../x.png leads nowhere (it is outside of the site)",
        "b.html: a.html#nowhere leads nowhere (there is no such place on that page)",
        "b.html: c.html leads nowhere (there is no such file)",
    ]


def test_what_a_page_asks_of_a_network_is_found(tmp_path):
    site = site_of(
        tmp_path,
        a_html='<script src="https://cdn.example/x.js"></script><link rel="stylesheet" href="//fonts.example/a.css">'
        '<link rel="canonical" href="https://example.org">',
        b_css="@import 'https://fonts.example/b.css'; p { background: url(data:image/png;base64,x) }",
        c_css='p { background: url( "//img.example/c.png") } q { background: url(c.png) }',
    )
    said = links.wrong_in(site)
    assert [line.split(": asks")[0] for line in said] == ["a.html", "a.html", "b.css", "c.css"], said
    assert links.wrong_in(tmp_path / "nothing") == [f"{tmp_path / 'nothing'}: there are no pages"]


def test_links_out_of_the_pages_are_those_of_the_site(tmp_path):
    (tmp_path / "sweeps.md").write_text(
        "[a](../examples/parities.toml) [b](../CONTRIBUTING.md#words) [c](tour.md) [d](https://x.org) [e](#f) [g](no)"
    )
    make_site.relink(tmp_path / "sweeps.md", tmp_path)
    expected = "[a](files/parities.toml) [b](contributing.md#words) [c](tour.md) [d](https://x.org) [e](#f) [g](no)"
    assert (tmp_path / "sweeps.md").read_text() == expected
    (tmp_path / "contributing.md").write_text("[a](docs/sweeps.md#workers)")
    make_site.relink(tmp_path / "contributing.md", tmp_path)
    assert (tmp_path / "contributing.md").read_text() == "[a](sweeps.md#workers)"


def test_there_are_six_notebooks_that_begin_by_installing_what_is_missing():
    assert len(NOTEBOOKS) == 6
    first = {notebooks.code_cells(path.read_text())[0] for path in NOTEBOOKS}
    assert len(first) == 1 and '"pip", "install"' in first.pop()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_for_jupyter_has_the_cells_of_its_text(path):
    made = json.loads(notebooks.as_ipynb(path.read_text()))
    code = ["".join(cell["source"]) + "\n" for cell in made["cells"] if cell["cell_type"] == "code"]
    assert code == notebooks.code_cells(path.read_text())
    for each in code:
        ast.parse(each)
    assert "".join(made["cells"][0]["source"]).startswith("# ")


def test_the_reference_has_an_entry_for_every_export(tmp_path):
    reference.write(tmp_path / "reference")
    for room in reference.ROOMS:
        page = (tmp_path / "reference" / f"{room}.md").read_text()
        for name in reference.names_of(room):
            assert f"}} {name}" in page, name
    page = (tmp_path / "reference" / "networks.md").read_text()
    assert "{py:class} MLP(width: int | Sequence[int], activation: Activation=relu" in page
    assert ">>> MLP(width=(10, 5))" in page.split("} Neuron")[0]
    page = (tmp_path / "reference" / "training.md").read_text()
    assert "-> Runs\n\nTrains one network for every rate" in page and "{py:data} targets" not in page
    assert "{py:data} GATES" in (tmp_path / "reference" / "targets.md").read_text()
    assert "{py:property} influences" in (tmp_path / "reference" / "analysis.md").read_text()


def test_every_page_is_in_the_contents():
    """Sphinx would warn of one that is not, and a warning ends the build."""
    docs = ROOT / "docs"
    listed = {
        (index.parent / line).resolve()
        for index in (docs / "index.md", docs / "notebooks" / "index.md")
        for block in blocks_of(index.read_text())
        if block.language == "{toctree}"
        for line in block.text.splitlines()
        if line and not line.startswith(":")
    }
    pages = {path.with_suffix("") for path in docs.rglob("*.md") if path != docs / "index.md"}
    made = {docs / name for name in ("contributing", "changelog", "reference/index")}
    assert pages | made == listed
