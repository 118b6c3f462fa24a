"""Many runs as JUnit XML: a suite for each scenario, a case for each variant and control."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from wirelab.results.values import printable
from wirelab.runner.run_result import RunResult, VariantResult
from wirelab.verdict.verdict import Verdict


def junit(runs: Sequence[RunResult]) -> str:
    """The text of a JUnit file, as CI servers read it (the schema that pytest writes, too)."""
    root = ET.Element("testsuites")
    several = len({run.seed for run in runs}) > 1
    # By their names CI servers know cases again: with several seeds each has one of its own.
    root.extend(_suite(run, f"{run.scenario} (seed {run.seed})" if several else run.scenario) for run in runs)
    ET.indent(root)
    # XML 1.0 cannot hold every character that JSON can.
    return printable(ET.tostring(root, encoding="unicode", xml_declaration=True)) + "\n"


def _suite(run: RunResult, name: str) -> ET.Element:
    verdicts = [variant.verdict for variant in run.variants]
    suite = ET.Element(
        "testsuite",
        name=name,
        tests=str(len(verdicts)),
        failures=str(verdicts.count(Verdict.FAIL)),
        errors=str(verdicts.count(Verdict.ERROR)),
        skipped=str(verdicts.count(Verdict.SKIP)),
        time=f"{run.wall_s:.3f}",
    )
    properties = ET.SubElement(suite, "properties")
    facts = {"seed": run.seed, "digest": run.digest, "kernel": run.kernel, "cached": run.cached}
    for fact, value in facts.items():
        ET.SubElement(properties, "property", name=fact, value=str(value))
    suite.extend(_case(name, variant) for variant in run.variants)
    return suite


def _case(suite: str, variant: VariantResult) -> ET.Element:
    case = ET.Element("testcase", classname=suite, name=variant.name, time=f"{variant.virtual_s:.3f}")
    tags = {Verdict.FAIL: "failure", Verdict.ERROR: "error", Verdict.SKIP: "skipped"}
    for check in variant.checks:
        if check.verdict in tags:
            message = f"{check.name}: {check.explanation or check.measured}"
            ET.SubElement(case, tags[check.verdict], message=message).text = check.why or ""
    return case
