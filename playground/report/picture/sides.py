"""Who is compared: the sides of a record, with the names and colours that they have in every panel."""

from dataclasses import dataclass

from playground.measure.launched import launched
from playground.measure.verdict import CONTROL
from playground.report.picture.page import BODY, LEFT, NORMAL, Page
from playground.report.variants import short_names

BASELINE_COLOUR, CONTROL_COLOUR, CONTROL_RUN_COLOUR, PEER_COLOUR = "#3d3d3d", "#b0b0b0", "#7d7d7d", "#9a8145"
CANDIDATE_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9")
"""Okabe and Ito's, which colour-blind readers tell apart."""


@dataclass(frozen=True)
class Side:
    """One row of samples. `key`: its name in the record."""

    key: str
    name: str
    colour: str
    role: str


def sides_of(record: dict) -> list[Side]:
    """Baseline, A/A, candidates, controls, peers: the A/A only where something was timed."""
    (baseline, name), *others = short_names(launched(record)).items()
    candidates, controls = others[: len(record["variants"]) - 1], others[len(record["variants"]) - 1 :]
    sides = [Side(baseline, name, BASELINE_COLOUR, "baseline")]
    if any("samples_us" in shape for shape in record["shapes"]):
        sides.append(Side(CONTROL, CONTROL, CONTROL_COLOUR, "baseline again"))
    for position, (label, name) in enumerate(candidates):
        sides.append(Side(label, name, CANDIDATE_COLOURS[position % len(CANDIDATE_COLOURS)], "candidate"))
    sides += [Side(label, name, CONTROL_RUN_COLOUR, "control") for label, name in controls]
    peers = dict.fromkeys(peer for shape in record["shapes"] for peer in shape.get("peer_parity", {}))
    return sides + [Side(peer, peer, PEER_COLOUR, "peer") for peer in peers]


def role_names(shape: dict) -> str:
    return ", ".join(role for role in shape["roles"] if role)


def side_name(page: Page, side: Side) -> list[str]:
    """The name as lines that fit the left column."""
    return page.wrap(side.name, BODY - LEFT - 0.1, NORMAL, "bold")
