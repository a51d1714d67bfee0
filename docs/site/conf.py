"""Sphinx's configuration. It stands in the folder of staged pages (`make_site.py`)."""

import importlib
from pathlib import Path

import paritylab

MATHJAX = Path(importlib.import_module("sphinx-mathjax-offline").__file__).parent / "static" / "mathjax" / "tex-svg.js"
"""One file with its fonts inside, of the package that has MathJax 3 for pages that must not ask a network."""

project, author, release = "paritylab", "The paritylab developers", paritylab.__version__
copyright = author
extensions = ["myst_nb", "sphinx.ext.mathjax"]
exclude_patterns = ["files"]

myst_enable_extensions = ["dollarmath", "deflist", "html_image"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_cache_path = str(Path(__file__).parents[1] / "executed")
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_output_stderr = "remove"
nb_ipywidgets_js: dict = {}

mathjax_path = MATHJAX.name
mathjax3_config = {"options": {"enableMenu": False}}

python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
html_theme = "sphinx_book_theme"
html_title = "paritylab"
html_static_path = ["static", str(MATHJAX)]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "show_toc_level": 2,
    "navbar_persistent": [],
    "home_page_in_toc": True,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
