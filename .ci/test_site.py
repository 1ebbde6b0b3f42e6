"""The documentation as a site: it is built without a warning, and its pages lead to each other."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as a site, made with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-b", "html"]
    run = subprocess.run(
        [*command, "-d", str(folder / "trees"), str(DOCS), str(folder / "html")],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return folder / "html"


def test_the_site_is_made_without_a_warning(site: Path) -> None:
    pages = [path.relative_to(DOCS) for path in sorted(DOCS.rglob("*.md"))]
    assert len(pages) > 20
    assert not [str(page) for page in pages if not (site / page).with_suffix(".html").exists()]


def test_the_site_leads_from_its_first_page_to_all_others(site: Path) -> None:
    first = (site / "index.html").read_text()
    assert "toctree" not in (DOCS / "index.md").read_text()
    for title in ("Start", "How to", "Look up", "Understand"):
        assert f'<span class="caption-text">{title}</span>' in first
    assert 'href="howto/nest.html"' in first
    assert 'href="reference/commands.html"' in first
