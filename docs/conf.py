"""The documentation: ``make docs``."""

import os
import re
import sys
from pathlib import Path
from tempfile import mkdtemp

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from myst_nb.core.render import MditRenderMixin  # noqa: E402

import _setup  # noqa: E402
import stepsel  # noqa: E402

_setup.prepare(folder=HERE)

project = "stepsel"
author = "The stepsel developers"
project_copyright = author
release = version = stepsel.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery", "auto_gallery/*.ipynb", "jupyter_execute"]
templates_path = ["_templates"]
highlight_language = "text"

# Pages: Markdown that runs ---------------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "inline"
nb_execution_raise_on_error = False  # a warning with the traceback ends the build as well, after the other pages
nb_execution_timeout = 180
nb_execution_show_tb = True
nb_merge_streams = True
nb_eval_name_regex = r".+"


# myst-nb skips cells that are not shown, and runs them with the next one that is. Here each runs where it stands: the
# text after it may use what it found, and it may be the last.


def hide_later(app, docname, source):
    source[0] = source[0].replace(":tags: [remove-cell]", ":tags: [remove-input, remove-output]")


def run_in_place(render):
    def render_cell(self, token):
        self.nb_client.code_cell_outputs(token.meta["index"])  # what merges streams would merge them twice
        return render(self, token)

    return render_cell


MditRenderMixin.render_nb_cell_code = run_in_place(MditRenderMixin.render_nb_cell_code)

# The kernels have settings of their own: nobody's start-up files, and no remarks on the local connection.
os.environ["IPYTHONDIR"] = mkdtemp()
profile = Path(os.environ["IPYTHONDIR"], "profile_default")
profile.mkdir()
(profile / "ipython_kernel_config.py").write_text('get_config().IPKernelApp.log_level = "ERROR"\n', encoding="utf-8")

# Reference -------------------------------------------------------------------------------------------------------

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the template of a class lists them
numpydoc_validation_checks: set[str] = set()


def escape_names(app, what, name, obj, options, lines):
    """Keep `(n_features_in_,)` from being read as the name of a link."""
    lines[:] = [re.sub(r"(\w)_(?=[,)])", r"\1\\_", line) if "of shape (" in line else line for line in lines]


# Gallery ---------------------------------------------------------------------------------------------------------

# Scripts run in their own folder, and read `data/` as the pages do, which run in the root of the repository.
beside = HERE / "gallery" / "data"
beside.mkdir(exist_ok=True)
for table in (_setup.ROOT / "data").glob("*.csv"):
    if not (beside / table.name).is_symlink():
        (beside / table.name).symlink_to(table)

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": ("_repr_html_",),
    "run_stale_examples": True,
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
}

# HTML ------------------------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "stepsel"
html_static_path = ["_static"]
html_css_files = ["stepsel.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 5,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "friendly",
    "pygments_dark_style": "monokai",
}
copybutton_prompt_text = r"!|>>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp"


def setup(app):
    app.connect("source-read", hide_later)
    app.connect("autodoc-process-docstring", escape_names, priority=900)
