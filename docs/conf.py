"""How Sphinx builds the documentation; `make docs` calls it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import hopscale

HERE = Path(__file__).parent

sys.path.insert(0, str(HERE / "_extensions"))

project = "hopscale"
author = "The hopscale developers"
copyright = author  # noqa: A001, the name that Sphinx reads
version = release = hopscale.__version__

extensions = [
    "api_pages",
    "command_reference",
    "docstrings",
    "mathml",
    "repository_links",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
exclude_patterns = ["_templates", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
nitpicky = True

# Pages are Markdown, with the extensions that GitHub shows as well.
myst_enable_extensions = ["attrs_inline", "dollarmath"]
myst_heading_anchors = 4
myst_fence_as_directive = ["math"]

# Docstrings are numpydoc.
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_custom_sections = [("Attributes", "params_style")]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "abort_on_example_error": True,
    "copyfile_regex": r"^$",
    "download_all_examples": False,
    "plot_gallery": "True",
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "hopscale"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {
    "logo": {"text": "hopscale"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": ["sphinx-version"],
}
html_sidebars = {page: [] for page in ("index", "start", "theory")}

man_pages = [("manual", "hopscale", "vectors for the nodes and the features of attributed graphs", author, 1)]


def _prepare(app: Any, name: str, source: list[str]) -> None:
    """Give tables without a title their file's name."""
    if name.startswith("paper/") and not source[0].startswith("# "):
        source[0] = f"# {name.removeprefix('paper/').capitalize()}\n\n{source[0]}"


def setup(app: Any) -> None:
    """Register with Sphinx."""
    app.connect("source-read", _prepare)
    app.connect("env-get-outdated", lambda app, env, added, changed, removed: ["guides"] if added or removed else [])
