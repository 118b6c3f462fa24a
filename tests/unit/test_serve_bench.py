"""The form of the bench: as many knobs as a network has, turned or not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from browser import chromium
from starlette.requests import Request

from wirelab.serve.bench import Bench, scenario_called, scenarios
from wirelab.serve.bench_pages import fields_of
from wirelab.serve.forms import MOST_BYTES, MOST_FIELDS, parse_form
from wirelab.serve.knobs import elements

if TYPE_CHECKING:
    from served import Served

LARGE = "parking-lot"
"""Two hundred nodes and cables, a thousand knobs."""


def unturned(name: str, variant: str) -> dict[str, str]:
    """The fields of the form as a browser without scripts sends it when nothing was turned."""
    known = elements(scenario_called(name).case(variant).wiring)
    keys = [knob.key for element in known for knob in element.knobs]
    return {"variant": variant} | {f"with.{key}": "" for key in keys}


def request_of(name: str) -> Request:
    """A request for the bench of a scenario."""
    return Request({"type": "http", "path_params": {"scenario": name}, "headers": []})


@pytest.mark.parametrize("name", scenarios())
def test_the_form_of_every_scenario_can_be_sent_unturned(name: str) -> None:
    """Of each variant, and it is the network as it is."""
    for case in scenario_called(name).cases:
        body = urlencode({"csrf": "x" * 32, **unturned(name, case.name)})
        assert len(body) < MOST_BYTES
        form = parse_form(body, fields=fields_of(request_of(name)))
        bench = Bench.read(name, form.text("variant"), form.below("with"))
        assert bench == Bench(name, case.name, {})


def test_a_large_network_is_run_from_its_form(served: Served) -> None:
    """With a knob turned among those that are not; no form has more fields than its network has knobs."""
    ada = served.student()
    variant = scenario_called(LARGE).cases[0].name
    fields = unturned(LARGE, variant) | {"with.network.mtu": "4000 B"}
    assert len(fields) > MOST_FIELDS
    served.testbed.go.clear()
    answer = ada.post(f"/bench/{LARGE}", **fields)
    assert (answer.status, "network.mtu <b>4000 B</b>" in answer.text) == (200, True)
    more = {f"with.{number}": "" for number in range(MOST_FIELDS)}
    assert "This form cannot be read" in ada.post(f"/bench/{LARGE}", **fields, **more).text
    assert fields_of(request_of("nobody")) == MOST_FIELDS


def test_a_large_network_is_folded(served: Served) -> None:
    """Each node is a line that opens; one with a turned knob is open. A small network is not folded."""
    visitor = served.visitor()
    key = next(key for key in unturned(LARGE, "main") if key.endswith(".congestion"))
    page = visitor.get(f"/bench/{LARGE}?{urlencode({key: 'bbr'})}").text
    assert len(re.findall(r"<details class=\"\w+\">", page)) > 100
    assert len(re.findall(r"<details class=\"\w+\" open>", page)) == 1
    assert "<details" not in visitor.get("/bench/sfp-mismatch").text


def test_a_script_sends_what_is_turned_and_nothing_else(served: Served) -> None:
    """The page of a thousand knobs is no wider than a phone, and sends the one that was turned."""
    with chromium(served.url) as browser:
        page = browser.person()
        page.goto(f"{served.url}/join/{served.room.courses.add('Networks 1').code}")
        page.get_by_label("Your name").fill("Ada")
        page.get_by_role("button", name="Join").click()
        page.goto(f"{served.url}/bench/{LARGE}")
        page.set_viewport_size({"width": 390, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator("summary", has_text=re.compile(r"^network")).click()
        page.select_option("[name='with.network.mtu']", "4000 B")
        served.testbed.go.clear()
        with page.expect_request(f"**/bench/{LARGE}") as sent:
            page.get_by_role("button", name="Run it").click()
        fields = parse_form(sent.value.post_data).fields
        assert sorted(fields) == ["csrf", "variant", "with.network.mtu"]
        assert fields["with.network.mtu"] == "4000 B"
