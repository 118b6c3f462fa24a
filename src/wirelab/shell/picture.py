"""What waits in a network, as lines of text: frame by frame, or as bars."""

from collections.abc import Iterator, Sequence
from typing import Final

from wirelab.shell.instant import shown
from wirelab.shell.places import PLACES, Place, PortPlaces
from wirelab.shell.sentence import Words
from wirelab.units import BPS_PER_MBPS, RATE, SIZE, rounded, show

MOST_FRAMES: Final = 40
"""Of one place; how many more there are is said."""

_BAR: Final = 24
_RINGS: Final = ("tx_ring", "rx_ring")
_FULL, _PART, _EMPTY = "#", "+", "."


def described(ports: Sequence[PortPlaces], words: Words, now_ps: int) -> Iterator[str]:
    """Each place where something is, with the frames in it; of the others how many ports they are."""
    idle = []
    for port in ports:
        filled = [place for place in port.places if place.fill_bytes or place.fill_frames]
        is_paused = port.paused_until_ps > now_ps
        if not filled and not is_paused:
            idle.append(words.label(port.name))
            continue
        speed = rounded(port.speed_mbps * BPS_PER_MBPS, RATE) if port.has_link else "no link"
        paused = f", paused until {words.instant(port.paused_until_ps)}" if is_paused else ""
        yield f"{words.label(port.name)}  {speed}{paused}"
        for place in filled:
            yield f"  {PLACES.get(place.name, place.name)}: {_fill(place)}"
            for frame in place.frames[:MOST_FRAMES]:
                number = f"{frame.number}" if frame.number else "-"
                several = f", to be {frame.segments} segments" if frame.segments > 1 else ""
                yield f"    {number:>8}  {words.frame(frame.headers, frame.length_bytes)}{several}"
            if (more := len(place.frames) - MOST_FRAMES) > 0:
                yield f"    {'':>8}  and {more} more"
    if idle:
        yield f"nothing waits at {', '.join(idle)}"


def _fill(place: Place) -> str:
    if place.name == "buffer":
        return f"{place.fill_bytes} B of {show(place.limit, SIZE)}"
    count = f"{place.fill_frames} frame{'' if place.fill_frames == 1 else 's'}"
    if place.name in _RINGS:
        return f"{count} of {place.limit}"
    limit = f" of {show(place.limit, SIZE)}" if place.limit else ""
    return f"{place.fill_bytes} B{limit} in {count}"


def bars(ports: Sequence[PortPlaces], words: Words, at_ns: int, now_ps: int, width: int) -> list[str]:
    """One line a port: how full its queue, rings and buffer are."""
    longest = max((len(words.label(port.name)) for port in ports), default=0)
    lines = [shown(at_ns)]
    for port in ports:
        state = "paused" if port.paused_until_ps > now_ps else "" if port.has_link else "no link"
        fills = {place.name: place for place in port.places}
        queue, buffer = fills["queue"], fills["buffer"]
        sending = ">" if fills["wire"].fill_frames else " "
        text = (
            f"{words.label(port.name):<{longest}} {sending} queue {_bar(queue.fill_bytes, queue.limit)}"
            f" {queue.fill_bytes:>8} B  rx ring {fills['rx_ring'].fill_frames:>4}"
            f"  buffer {_bar(buffer.fill_bytes, buffer.limit)} {buffer.fill_bytes:>8} B  {state}"
        )
        lines.append(text.rstrip()[:width])
    return lines


def _bar(fill: int, limit: int) -> str:
    """A bar as long as the limit; where there is none, a mark that something is there."""
    if not limit:
        return f"{_PART if fill else _EMPTY}{'':<{_BAR - 1}}"
    full = min(_BAR, fill * _BAR // limit)
    part = _PART if fill and full < _BAR else ""
    return f"{_FULL * full}{part}".ljust(_BAR, _EMPTY)
