"""The page ``claims``: what the paper says of its results, judged by its own figures and by ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from hopscale.paper.pages.differences import PUBLISHED, RULE, Evidence
from hopscale.paper.pages.judges import comparisons, few_labels, links, run_time, transfer
from hopscale.paper.pages.layout import MARKS, markdown_table
from hopscale.paper.pages.records import Records

__all__ = ["page"]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, where it stands, and what judges it."""

    says: str
    where: str
    judge: Callable[[Records], Iterator[Evidence]]
    rule: str = ""


def page(records: Records) -> list[str]:
    """Every claim with its verdicts."""
    lines = [
        "# Claims of the paper, judged",
        "",
        "What the paper says of its results, by its own figures and by ours on raw vectors.",
        "",
        RULE,
        "",
        PUBLISHED,
        "",
    ]
    rows, parts = [], []
    for claim in CLAIMS:
        found = list(claim.judge(records))
        if not found:
            continue
        sources = dict.fromkeys(each.source for each in found)
        verdicts = "; ".join(f"{name}: {_together([e for e in found if e.source == name])}" for name in sources)
        rows.append([f"[{claim.says}](#{_anchor(claim.says)})", claim.where, verdicts])
        parts += [f"## {claim.says}", "", f"{claim.where}.{' ' + claim.rule if claim.rule else ''}", ""]
        parts += [f"- **{each.source}: {each.verdict}.** {each.cells}." for each in found]
        parts.append("")
    signs = [words for sign, words in MARKS.items() if any(sign in line for line in parts)]
    return [
        *lines,
        *signs,
        *([""] if signs else []),
        *markdown_table(["claim", "where", "verdicts"], rows),
        "",
        *parts[:-1],
    ]


def _together(found: Sequence[Evidence]) -> str:
    """The verdicts of a source: one if they are all the same, else each with what it is of.

    >>> _together([Evidence("pmi", "holds", "", "AE"), Evidence("pmi", "mixed", "", "MUSAE")])
    'holds (AE), mixed (MUSAE)'
    """
    if len({each.verdict for each in found}) == 1:
        return found[0].verdict
    return ", ".join(f"{each.verdict} ({each.of})" if each.of else each.verdict for each in found)


def _anchor(title: str) -> str:
    return "".join(letter for letter in title.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


_CLASSIFICATION, _REGRESSION, _FEW = "Node attribute classification", "Node attribute regression", "Few-shot learning"
CLAIMS = (
    Claim("Attributed embeddings tend to outperform other unsupervised methods at classification", _CLASSIFICATION,
          comparisons.ours_ahead("classification")),
    Claim("ASNE and AANE come closest to them", _CLASSIFICATION, comparisons.closest,
          "Data sets on which the best of the other methods is one of the two; it holds if it is on all, in part if on "
          "most."),
    Claim("Multi-scale embeddings tend to outperform pooled ones at classification", _CLASSIFICATION,
          comparisons.multi_scale("classification")),
    Claim("EGO has no material impact on classification", _CLASSIFICATION, comparisons.no_impact_of_ego,
          "Material is a difference of more than a hundredth, as below. It holds if there is none on any data set of "
          "the paper's table, in part if on most there is none."),
    Claim("Attributed embeddings that consider only first-order neighbours are weak", _CLASSIFICATION,
          comparisons.first_order, "By the paper's table of properties these are AANE, ASNE and TENE, two of which an "
          "earlier claim has as the closest rivals."),
    Claim("Supervised methods have an advantage of about four per cent, which can be within one", _CLASSIFICATION,
          comparisons.margin_of_labels,
          "It holds if the median is within one hundredth of four, and the least within one; over the splits that "
          "both have, with the networks that the paper has. Said of supervised methods as such, it is about each "
          "network; as an upper bound, about the best on each data set, which was chosen by its score. APPNP on "
          "twitch-pt is taken as printed, although it is probably of "
          "[another network](networks.md#appnp-on-twitch-pt)."),
    Claim("Supervised methods are an upper bound", _CLASSIFICATION, comparisons.upper_bound,
          "Data sets on which a network is not clearly below the best of the four; it holds of a network if it is so "
          "on all, in part if on most. The best network of each data set was chosen by its score."),
    Claim("With few labels, attributed embeddings are materially better than other unsupervised methods", _FEW,
          few_labels.ours_ahead, "By the mean over all k. Material is a clear difference of a hundredth or more; "
          "it holds if there is one on all data sets, in part if on most. The paper prints no errors: each of its "
          "differences counts as clear. Some rivals are [below the paper's own curves](few-shot.md#below-the-published-"
          "curves) here, so that the four stand beside these curves as well."),
    Claim("With few labels, they gain particularly on the larger data sets", _FEW, few_labels.larger_data_sets,
          "It holds if the best of the four is clearly farther ahead of the best of the other methods that the paper "
          "has figures of on each of the two larger networks than on the smaller one. The paper prints no errors."),
    Claim("With few labels, EGO is of a modest benefit", _FEW, few_labels.gain_of_ego,
          "By the mean over all k. It holds if there is a clear benefit on all data sets, in part if on most; each "
          "published difference counts as clear. *Published, our errors* are the published differences with the "
          "errors that the same differences have here, by the default solver."),
    Claim("Attributed embeddings tend to outperform all others at regression", _REGRESSION,
          comparisons.ours_ahead("regression")),
    Claim("Multi-scale embeddings tend to outperform pooled ones at regression", _REGRESSION,
          comparisons.multi_scale("regression")),
    Claim("EGO is of benefit at regression, but only with several scales", _REGRESSION,
          comparisons.only_multi_scale_gains_by_ego,
          "It holds as far as MUSAE tends to gain by EGO, and does not hold if AE gains as well."),
    Claim("MUSAE-EGO outperforms the best baseline of each regression", _REGRESSION, comparisons.best_baseline,
          "It holds if it is clearly ahead on all data sets, and in part if only on some, and clearly behind on none. "
          "The best of the other methods that the paper has figures of: as printed, or as measured here. The paper "
          "also says by how many per cent of the baseline, which is told and not judged."),
    Claim("Transfer always beats random guessing", "Transfer learning", transfer.beats_random,
          "Cells are methods, sources and targets; it holds if it does in all of them, and does not if it fails in "
          "one. The claim is about micro-F1 and a half. Area under the ROC curve and the commonest class of the target "
          "are what the paper does not compare with."),
    Claim("Other unsupervised methods, without vectors of features, do not enable transfer", "Transfer learning",
          transfer.enabled, "Of unsupervised methods other than AE and MUSAE, those that make vectors of another "
          "graph's nodes here without a fit to it. It does not hold if one of them is clearly above chance by the area "
          "under the ROC curve on a target. FEATHER has no such way in this library; the paper that it is from "
          "reports transfer."),
    Claim("Transfer compares closely to training on the target in some cases", "Transfer learning",
          transfer.near_retrained, "It holds if there are cells that are no more than a hundredth below. Only those "
          "count whose fit to the target is above the target's commonest class: where it is not, being near it says "
          "nothing. Published fits are those of the figure of transfer; the table of classification has more for "
          "twitch-pt ([errata](errata.md))."),
    Claim("Run time is linear in nodes and in features of a node", "Scalability", run_time.linear,
          "Slopes of logarithms within a quarter of one over the upper half of the sizes, where fixed costs count "
          "less; it holds if all are, in part if most are. Slopes over all sizes are told and not judged: with a fixed "
          "cost beside it, linear time has a slope below one. Slopes that are steeper say that time grows faster; of "
          "the others, that fixed costs count or that there is a quicker way. The conclusion says it of all four, of "
          "which the paper's figure has AE and MUSAE, and so have our records."),
    Claim("More cores do not help as features of a node approach all features", "Scalability", run_time.threads,
          "It holds where threads are less than a quarter quicker than one with the most features of a node. These "
          "are an eighth of all features, in the paper's figure and here, and not nearly all. Ours are of the numbers "
          "of threads that were timed on the same processor as one thread."),
    Claim("An implicit decomposition is computationally beneficial", "Introduction, figure of matrix powers",
          run_time.implicit,
          "The paper concludes so from products of powers of the adjacency matrix and features, which become dense. It "
          "holds if the solver that makes no matrix takes less time than the one that does in all cells, and in part "
          "if in most. Only seconds are judged, at these sizes; skip-gram does take less memory "
          "([benchmarks](../benchmarks.md))."),
    Claim("MUSAE-EGO outperforms other unsupervised attributed algorithms", "Conclusion",
          comparisons.ahead_of_attributed, "Differences from the best of the other methods that use features."),
    Claim("EGO typically improves performance further, particularly for link prediction", "Conclusion",
          comparisons.every_gain_of_ego, "Of predicting attributes; links have a claim of their own below. The paper "
          "also says that EGO has no material impact on classification."),
    Claim("Several scales help link prediction", "Conclusion", links.above((("MUSAE", "AE"), ("MUSAE-EGO", "AE-EGO")))),
    Claim("EGO helps link prediction", "Conclusion", links.above((("AE-EGO", "AE"), ("MUSAE-EGO", "MUSAE")))),
    Claim("MUSAE-EGO matches proximity-preserving embeddings in link prediction", "Conclusion",
          links.as_good("MUSAE-EGO", links.NEIGHBOURS),
          "It holds if MUSAE-EGO is nowhere clearly below the best of DeepWalk, Walklets, LINE2, Node2Vec, NetMF, HOPE "
          "and GraRep, by any solver."),
)  # fmt: skip
