"""Behind a proxy: every address of the app stays below its prefix, and refusals have a reason."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.browser.proxy import reverse_proxy
from tests.support.browser.running import Running, running_app
from tests.support.browser.visit import Visit

pytestmark = pytest.mark.browser

JUPYTER, NGINX = "/user/ada/proxy/8501", "/bert"
KEY = "the river bank"
ROWS = "text,label\nthe river,a\nthe bank,b\nthe man,a\n"


def port_of(running: Running) -> int:
    return int(running.url.split(":")[2].partition("/")[0])


def answers(visit: Visit, port: int) -> list[int]:
    """Upload a table on Heads; return the statuses of the requests that carried it."""
    found: list[int] = []
    visit.page.on(
        "response", lambda r: found.append(r.status) if r.request.method == "PUT" else None
    )
    visit.open("heads", heads_source="file")
    data = {"name": "rows.csv", "mimeType": "text/csv", "buffer": ROWS.encode()}
    visit.page.locator('[data-testid="stFileUploader"] input[type=file]').set_input_files(data)
    return found


@pytest.fixture(scope="module", params=["taken away", "kept"])
def proxied(request: pytest.FixtureRequest, tiny_folder: Path) -> Iterator[str]:
    """The address of an open server below a prefix, which its proxy takes away or keeps."""
    strips = request.param == "taken away"
    prefix = JUPYTER if strips else NGINX
    with (
        running_app(tiny_folder, base_path="" if strips else NGINX.strip("/")) as running,
        reverse_proxy(port_of(running), prefix, strips=strips) as url,
    ):
        yield url


def test_pages_links_uploads_and_downloads(
    proxied: str, new_visit: Callable[..., Visit], tmp_path: Path
) -> None:
    visit = new_visit(url=proxied, accept_downloads=True)  # notes requests that leave the prefix
    visit.open()
    visit.go_to("attention")
    visit.inked(".st-key-attention_lines")
    visit.page.reload()
    visit.arrive("attention")
    visit.page.get_by_role("link", name="Next: ").click()
    visit.arrive("masked-words")
    visit.check()
    menu = visit.page.get_by_role("button", name="Save, Python, link").first
    table = visit.download(menu, visit.page.get_by_role("button", name="CSV").last)
    assert table.path().stat().st_size > 0
    visit.open("heads")
    link = visit.page.get_by_role("link", name="See it in a sentence")
    assert str(link.evaluate("link => link.href")).startswith(f"{proxied}/attention?")
    found = answers(visit, 0)
    visit.picture("figure_heads-grid")
    assert found == [204]
    visit.check()


def test_the_key_opens_the_very_link_below_a_prefix(
    new_visit: Callable[..., Visit], tiny_folder: Path
) -> None:
    with (
        running_app(tiny_folder, arguments=["--closed"], BERTSCOPE_KEY=KEY) as running,
        reverse_proxy(port_of(running), JUPYTER) as url,
    ):
        visit = new_visit(url=url)
        visit.page.goto(f"{url}/tokens?text_a=the+river")
        visit.page.get_by_label("Key").fill(KEY)
        visit.page.get_by_role("button", name="Open").click()
        expect(visit.page.locator(".st-key-text_a textarea")).to_have_value("the river")
        assert visit.page.url.startswith(f"{url}/tokens")
        visit.page.goto("about:blank")  # before the server goes: a font may still be on its way
        visit.complaints = [said for said in visit.complaints if "401" not in said]  # the form


REASONS = [(413, "Too large"), (403, "Not accepted")]


@pytest.mark.parametrize(("status", "reason"), REASONS)
def test_an_upload_that_a_proxy_refuses_has_a_reason(
    status: int, reason: str, url: str, new_visit: Callable[..., Visit]
) -> None:
    port = int(url.rpartition(":")[2])
    with reverse_proxy(port, NGINX, refuses={"PUT": status}) as proxied:
        visit = new_visit(url=proxied)
        found = answers(visit, port)
        expect(visit.page.get_by_test_id("stToast")).to_contain_text(f"{reason} ({status})")
        alert = visit.page.locator('[data-testid="stFileUploader"] [role="alert"]')
        expect(alert).to_contain_text("the reason is in the corner")
        visit.page.get_by_test_id("stFileChip").hover()
        expect(visit.page.get_by_test_id("stTooltipErrorContent")).not_to_contain_text("Axios")
        assert found == [status]
        visit.complaints.clear()  # the browser's own words for it


def test_a_tunnel_that_nobody_named_reaches_nothing(
    url: str, new_visit: Callable[..., Visit]
) -> None:
    """Not even one that sends Host: localhost, as it tells of its client."""
    port = int(url.rpartition(":")[2])
    elsewhere = {"X-Forwarded-For": "203.0.113.9"}
    for host, said in (("abc.ngrok.io", "--host abc.ngrok.io"), ("localhost", "--closed")):
        with reverse_proxy(port, NGINX, host=host, headers=elsewhere) as proxied:
            visit = new_visit(url=proxied)
            visit.page.goto(f"{proxied}/")
            expect(visit.page.locator("body")).to_contain_text(said)
            visit.page.goto("about:blank")  # its icon may still be on its way
            visit.complaints.clear()  # 421 and 403
