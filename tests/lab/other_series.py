"""What ends otherwise on another kernel series than the newest, by the test's name, and why.

The figures of scenarios and exercises are those of the newest. Such a test must fail there: one that passes
all the same is red, and its line goes.
"""

from __future__ import annotations

from typing import Final

OTHERWISE: Final = {
    "6.12": {
        "test_the_bottleneck_is_what_the_story_names[incast]": (
            "by chance each of the eight senders waits for a frame that was lost, and none has the line"
        ),
        "test_the_storys_rules_solve_it_and_guesses_do_not[burst-and-buffer]": (
            "iperf3 sends two pictures in a row once, so that more waits than the rules say"
        ),
        "test_the_storys_rules_solve_it_and_guesses_do_not[the-window]": (
            "7.99 Mbit/s for the formula's 6.74: other frames are lost at random than on the newest"
        ),
    },
    "6.1": {
        "test_a_rule_can_reject": "REJECT needs the legacy tables (kernel/series.toml)",
        "test_rules_mark_packets_and_match_marks": "DSCP and TTL need the legacy tables",
        "test_the_kernel_knows_the_rules_of_scripts[targets]": "CT needs the legacy tables",
        "test_the_bottleneck_is_what_the_story_names[bbr-and-cubic]": (
            "1.27 Gbit/s for at most 1.24 where BBR may send bursts; it is not known why"
        ),
        "test_the_bottleneck_is_what_the_story_names[dynamic-thresholds]": (
            "by chance none of eight parts waits for a frame that was lost, and all have the line"
        ),
        "test_the_bottleneck_is_what_the_story_names[vlan-trunk]": (
            "one of the last frames of a flow is dropped, and the timeout of 200 ms is time of the flow"
        ),
        "test_the_storys_rules_solve_it_and_guesses_do_not[all-at-once]": (
            "by chance nobody waits for a timeout on the faster line, which then beats the longer queue"
        ),
    },
}


def otherwise(kernel_title: str) -> dict[str, str]:
    """Of a kernel by its title, "Linux 6.1.192"; of the newest series nothing."""
    series = ".".join(kernel_title.removeprefix("Linux ").split(".")[:2])
    return OTHERWISE.get(series, {})
