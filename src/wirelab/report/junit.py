"""Many runs as JUnit XML: a suite for each scenario, a case for each variant and control."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wirelab.runner.document import Document, VariantDocument


def junit(runs: Sequence[Document]) -> str:
    """The text of a JUnit file, as CI servers read it (the schema that pytest writes, too)."""
    root = ET.Element("testsuites")
    for run in runs:
        root.append(_suite(run))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(run: Document) -> ET.Element:
    verdicts = [variant.verdict for variant in run.variants]
    suite = ET.Element(
        "testsuite",
        name=run.scenario,
        tests=str(len(verdicts)),
        failures=str(verdicts.count(Verdict.FAIL)),
        errors=str(verdicts.count(Verdict.ERROR)),
        skipped=str(verdicts.count(Verdict.SKIP)),
        time=f"{run.wall_s:.3f}",
    )
    properties = ET.SubElement(suite, "properties")
    facts = {"seed": run.seed, "digest": run.digest, "kernel": run.kernel, "cached": run.cached}
    for name, value in facts.items():
        ET.SubElement(properties, "property", name=name, value=str(value))
    for variant in run.variants:
        suite.append(_case(run.scenario, variant))
    return suite


def _case(scenario: str, variant: VariantDocument) -> ET.Element:
    case = ET.Element("testcase", classname=scenario, name=variant.name, time=f"{variant.virtual_s:.3f}")
    tags = {Verdict.FAIL: "failure", Verdict.ERROR: "error", Verdict.SKIP: "skipped"}
    for check in variant.checks:
        if check.verdict in tags:
            message = f"{check.name}: {check.explanation or check.measured}"
            found = ET.SubElement(case, tags[check.verdict], message=_printable(message))
            found.text = _printable(check.why or "")
    return case


def _printable(text: str) -> str:
    """Without what XML 1.0 cannot hold: a lab's last words may have any byte in them."""
    return "".join(each if each in "\t\n" or each >= " " else "?" for each in text)
