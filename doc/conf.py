# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The pages of ``doc/`` as a site: ``make docs``; rosdoc2 wraps it, and adds the version."""

from importlib.util import find_spec
from pathlib import Path
import sys

from sphinx.util import logging

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

project = 'safety_scenarios'
author = copyright = 'The safety_scenarios authors'  # noqa: A001
extensions = ['myst_parser', 'sphinx.ext.autodoc']
myst_heading_anchors = 4
# rosdoc2 adds pages of every module and of the README, whose links are those of the repository.
exclude_patterns = ['_build', 'modules.rst', 'safety_scenarios.rst', 'safety_scenarios.*.rst',
                    'standard_docs/**']
html_theme = 'furo' if find_spec('furo') else 'sphinx_rtd_theme'
html_title = 'safety_scenarios'
autodoc_member_order = 'bysource'
autodoc_typehints = 'description'
autodoc_preserve_defaults = True
# a diagram in a language that is unknown; and settings that other modules of pydantic have
suppress_warnings = ['misc.highlighting_failure']
_OWN_OF_PYDANTIC = {'model_config', 'model_post_init', 'model_fields', 'model_computed_fields'}


def write_pages(app):
    """Write the pages that only the site has: one for each scenario, and the Python API."""
    try:
        import generate
    except Exception as error:  # noqa: B902, of a build farm with an older pydantic
        logging.getLogger(__name__).warning('no pages of scenarios and API: %s', error)
        return
    source = Path(app.srcdir)
    folder = source / 'reference' / 'scenario'
    folder.mkdir(exist_ok=True)
    pages = {f'{name}.md': text for name, text in generate.scenario_pages()}
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        _write(folder / name, text)
    _write(source / 'reference' / 'api.md', generate.api_page())


def _write(path, text):
    """Write a page that has changed, so that Sphinx reads no other again."""
    if not path.is_file() or path.read_text(encoding='utf-8') != text:
        path.write_text(text, encoding='utf-8')


def is_left_out(app, what, name, obj, skip, options):
    """Leave out what every model of pydantic has."""
    return True if name in _OWN_OF_PYDANTIC else None


def make_accessible(app, pagename, templatename, context, doctree):
    """Let the keyboard reach blocks that scroll, and give the captions of the contents a level."""
    for part in ('body', 'furo_navigation_tree'):
        context[part] = context.get(part, '').replace('<pre>', '<pre tabindex="0">').replace(
            'role="heading">', 'role="heading" aria-level="2">')


def setup(app):
    """Connect them to Sphinx."""
    app.connect('builder-inited', write_pages)
    app.connect('autodoc-skip-member', is_left_out)
    app.connect('html-page-context', make_accessible, priority=900)  # after the theme
