"""Reports in a real browser: nothing is complained of, nothing is loaded, nothing sticks out."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from browser import CHROMIUM, DESKTOP, PHONE, Browser, browser
from fakes import Average, Centroids, Everything, Machine, Strips, blobs

from dcsvm import DivideAndConquerClassifier
from dcsvm_report import report

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")

LONG = "a_name_without_any_place_to_break_it_" * 4


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = blobs(200)
    names = np.array(["<script>alert(1)</script>", LONG, "west"])[y]
    strips = DivideAndConquerClassifier(Strips(3), Centroids(), Average()).fit(X, names)
    whole = DivideAndConquerClassifier(Everything(), Machine(C=1.0), Average()).fit(X, names)
    place = tmp_path_factory.mktemp("page") / "report.html"
    text = report(strips, X, names, X_train=X, y_train=names, against={LONG: whole}, title=LONG)
    place.write_text(text, encoding="utf-8")
    return place


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_report_is_shown_without_complaints(
    window: Browser, page: Path, size: tuple[int, int], scheme: str
) -> None:
    window.open(page, size, scheme)
    assert window.complaints() == []
    assert window.requests() == [page.as_uri()]
    assert window.value("document.documentElement.scrollWidth") <= size[0]
    drawn = window.value(
        "[...document.querySelectorAll('figure svg')].every("
        "svg => svg.getBoundingClientRect().width > 200 && svg.getBBox().height > 50)"
    )
    assert drawn is True
    assert window.picture().startswith(b"\x89PNG")


def test_text_can_be_read_in_light_and_dark(window: Browser, page: Path) -> None:
    def contrast() -> float:
        found = window.value(
            "(() => { const s = getComputedStyle(document.body);"
            "const t = getComputedStyle(document.querySelector('figure svg text'));"
            "return [s.backgroundColor, t.fill]; })()"
        )
        dark, light = sorted(_luminance(colour) for colour in found)
        return (light + 0.05) / (dark + 0.05)

    for scheme in ("light", "dark"):
        window.open(page, PHONE, scheme)
        assert contrast() > 7


def test_a_page_that_complains_is_noticed(window: Browser, tmp_path: Path) -> None:
    guilty = tmp_path / "guilty.html"
    guilty.write_text("<script>console.error('no'); nothing.there</script><img src='gone.png'>")
    window.open(guilty, PHONE)
    assert len(window.complaints()) >= 2
    assert len(window.requests()) == 2


def _luminance(colour: str) -> float:
    shares = [int(part) / 255 for part in colour.split("(")[1].rstrip(")").split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
