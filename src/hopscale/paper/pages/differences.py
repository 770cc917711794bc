"""Differences that a claim of the paper is judged by, and what they say in words.

A claim that one thing tends to be better than another is a list of differences, one per data set, each with its
standard error. A clear one is farther from zero than two standard errors. Where there is nothing to count, nothing is
judged.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from hopscale.paper.estimates import Estimate
from hopscale.paper.store import reference_values

__all__ = [
    "NOT_JUDGED",
    "PUBLISHED",
    "RULE",
    "Evidence",
    "clear",
    "everywhere",
    "printed_datasets",
    "shares",
    "tendency",
    "told",
]

RULE = (
    "A difference is *clear* if it is of more than two standard errors; with few splits or fits of more, as many as "
    "Student's distribution says. Errors are corrected for splits that overlap; those of few labels cannot be, and "
    "say nothing of the nodes that are tested on. That one thing tends to be better than another **holds** if "
    "differences are clear on more than half of the data sets and clearly reversed on none. It **holds in part** if "
    "they are clear on a quarter or more and reversed on fewer, **does not hold** if they are reversed on a quarter "
    "or more and clear on fewer, and is **mixed** if as many are clear as reversed. Else it is **not shown**. Data "
    "sets that the paper's tables do not have are told, and not counted. A claim that is said of every data set or "
    "cell **does not hold** if one of them is clearly against it. It is **not judged** where there is nothing to "
    "judge it by. Other claims say their rule. Where the best of several is compared, it was chosen by the scores "
    "shown, on either side. The models are those with a scale of the node's own features, as the vectors behind the "
    "published figures have it; *the text's models* are without it, as the paper's text has them. By skip-gram these "
    "were not measured on every data set."
)
PUBLISHED = (
    "Differences of ours are over the same splits; where a method was fitted once, their errors know nothing of the "
    "fit. Whether the paper's methods shared theirs is not known: errors of published differences are those of "
    "independent figures, larger than they would be over the same splits. The printed errors are larger, too, than "
    "those of the same methods here ([classification](classification.md#the-published-errors), "
    "[regression](regression.md#the-published-errors)). *Published, our errors* has each published figure with the "
    "error of the same method's scores here, where there are any, as if it were of as many fits. So *not shown* says "
    "of published figures that what is printed cannot show it, and not that it is wrong. Regression has a fixed "
    "penalty, by which scores of raw vectors depend on their length: of rivals it says as well what holds if either "
    "side has raw or standardised vectors, whichever is better."
)
NOT_JUDGED = "not judged"
_ENOUGH = 1 / 4  # of the data sets: what is clear on fewer may be chance


@dataclass(frozen=True)
class Evidence:
    """What one source (published figures, or a solver) says about a claim: a verdict and the cells that show it.

    ``of`` says which part of the claim, where a source has several.
    """

    source: str
    verdict: str
    cells: str
    of: str = ""


def clear(differences: Sequence[Estimate]) -> tuple[int, int]:
    """How many differences are clearly above zero, and how many clearly below."""
    verdicts = [each.verdict for each in differences]
    return verdicts.count("above"), verdicts.count("below")


def tendency(
    source: str,
    differences: dict[str, Estimate],
    what: str = "",
    *,
    of: str = "",
    counted: Container[str] | None = None,
) -> Evidence:
    """The verdict on "tends to be above", with all differences; those of data sets in ``counted`` decide.

    >>> from hopscale.paper.estimates import Estimate
    >>> tendency("pmi", {"cora": Estimate(0.5, 0.1), "pubmed": Estimate(0.1, 0.1)}).verdict
    'holds in part'
    """
    judged = {name: each for name, each in differences.items() if counted is None or name in counted}
    up, down = clear([*judged.values()])
    enough, verdict = _ENOUGH * len(judged), "not shown"
    if up > len(judged) / 2 and not down:
        verdict = "holds"
    elif max(up, down) >= max(enough, 1):
        verdict = "mixed" if up == down else "holds in part" if up > down else "does not hold"
    words = [told(judged)] if judged else []
    if others := {name: each for name, each in differences.items() if name not in judged}:
        words.append(f"not in the paper's tables: {told(others)}")
    return Evidence(source, verdict if judged else NOT_JUDGED, _cells(what, up, down, judged, "; ".join(words)), of)


def everywhere(source: str, differences: dict[str, Estimate], what: str = "", *, of: str = "") -> Evidence:
    """The verdict on "is above on each": all must be clear, and none may be reversed.

    >>> from hopscale.paper.estimates import Estimate
    >>> everywhere("pmi", {"cora": Estimate(0.5, 0.1), "pubmed": Estimate(0.1, 0.1)}).verdict
    'holds in part'
    """
    up, down = clear([*differences.values()])
    verdict = "holds" if up == len(differences) else "does not hold" if down else "holds in part" if up else "not shown"
    verdict = verdict if differences else NOT_JUDGED
    return Evidence(source, verdict, _cells(what, up, down, differences, told(differences)), of)


def _cells(what: str, up: int, down: int, judged: dict[str, Estimate], words: str) -> str:
    counts = f"clear on {up}, reversed on {down} of {len(judged)}. " if judged else ""
    return f"{what + ': ' if what else ''}{counts}{words}"


def told(differences: dict[str, Estimate]) -> str:
    """Names with their differences and errors."""
    return ", ".join(f"{name} {each.signed}" for name, each in differences.items())


def shares(source: str, holds: int, total: int, cells: str, *, of: str = "", always: bool = False) -> Evidence:
    """The verdict on a claim that is said of cells: it holds if it does for all, in part if for most.

    Of one that is said of ``always``, no part is left where it fails once.
    """
    in_part = 2 * holds > total and not always
    verdict = "holds" if holds == total else "holds in part" if in_part else "does not hold"
    verdict = verdict if total else NOT_JUDGED
    return Evidence(source, verdict, f"{holds} of {total}. {cells}" if total else cells, of)


def printed_datasets(experiment: str) -> frozenset[str]:
    """Data sets of the paper's table or plot of an experiment."""
    return frozenset(row["dataset"] for row in reference_values(experiment.replace("-", "_")))
