"""What names of columns say: which hold the nodes of an edge, which weights, and which words name columns at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import combinations
from typing import Any

__all__ = [
    "MISSING_WORDS",
    "WIDE_TABLE",
    "all_whole",
    "are_fractions",
    "are_times",
    "has_digits_only",
    "is_amount_name",
    "is_column_word",
    "is_node_name",
    "is_number",
    "is_whole",
    "pair_of_nodes",
    "pairs_of_nodes",
    "weight_among",
    "words_of",
]

# What programs write for a value that is missing, where it is not an empty cell.
MISSING_WORDS = frozenset({"NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", "\\N"})

WIDE_TABLE = (
    "A wide table, with a column for every feature, goes in as a matrix: "
    "from_edges(edges, matrix, node_ids=..., feature_names=...)"
)

# Python reads whole numbers of so many digits whatever its settings; longer ones are text.
_MOST_DIGITS = 640
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|[0-9]+")

# Two columns with the ends of an edge have names that differ in one of these.
_ENDS = """
    source/target source/destination source/dest source/sink src/dst src/dest src/tgt src/trg src/target s/t s/d
    from/to start/end begin/end first/second left/right head/tail in/out inbound/outbound
    a/b u/v i/j x/y p/q m/n 1/2 0/1 one/two
    follower/followee follower/followed follower/following follower/friend fan/idol
    citing/cited cites/cited citer/citee referrer/referred referrer/referee referring/referenced
    sender/receiver sender/recipient sender/addressee sent/received author/recipient author/coauthor
    buyer/seller vendor/customer supplier/customer supplier/buyer payer/payee payer/receiver debtor/creditor
    lender/borrower creditor/borrower donor/recipient donor/donee giver/taker giver/receiver investor/investee
    parent/child ancestor/descendant mother/child father/child supervisor/subordinate manager/employee
    employer/employee manager/report mentor/mentee advisor/student adviser/student advisor/advisee teacher/student
    subject/object head/dependent caller/callee origin/destination origin/dest orig/dest departure/arrival
    exporter/importer reporter/partner upstream/downstream predator/prey host/parasite host/guest plant/pollinator
    winner/loser victim/offender attacker/defender voter/candidate truster/trustee trustor/trustee rater/ratee
    rater/rated reviewer/reviewee ego/alter self/other who/whom user/friend node/neighbor node/neighbour
    person/friend actor/target influencer/influenced liker/liked asker/answerer questioner/answerer
    doctor/patient regulator/target drug/target enzyme/substrate ligand/receptor local/remote client/server
    pre/post presynaptic/postsynaptic hypernym/hyponym broader/narrower premise/conclusion cause/effect
    query/reference query/subject query/hit before/after old/new home/away
    reviewer/reviewed player/opponent account/counterparty retweeter/tweeter
    following/followed caller/receiver caller/called caller/recipient tenant/landlord lessee/lessor shipper/consignee
    von/nach von/an quelle/ziel absender/empfänger sender/empfänger käufer/verkäufer kunde/lieferant mieter/vermieter
    zahler/empfänger auftraggeber/empfänger origen/destino fuente/destino emisor/receptor remitente/destinatario
    comprador/vendedor pagador/beneficiario origine/destination source/cible de/vers
    expediteur/destinataire expéditeur/destinataire émetteur/récepteur acheteur/vendeur client/fournisseur
"""
_MOST_COLUMNS = 50  # among which the two are looked for

# Other words of which names of columns are made, as far as names of nodes seldom are.
_COLUMNS = """
    id ids idx index key code uid uuid uri url name names label labels title type kind class category group tag tags
    node nodes vertex vertices edge edges entity item items object element user users username member account person
    people friend friends name handle screen login email mail address ip host port domain site page pages link links
    linked paper papers article articles author authors coauthor doc document book movie film song artist actor actress
    director track album game player team club coach company firm organization organisation org employee customer client
    product products brand store shop order seller buyer country countries city state region zone station stop airport
    route road street place location lat lon latitude longitude gene genes protein proteins drug disease species
    compound molecule residue atom cell neuron tissue organism patient word words term terms token concept topic
    topics keyword keywords hashtag channel subreddit community repo repository package module function file path
    project task event venue journal conference year month day date time timestamp datetime since until when duration
    start end created updated weight weights value values val count counts amount amounts score scores strength freq
    frequency similarity distance length size number num n rank rating stars bytes packets price cost total sum
    mean avg probability prob confidence support sign sentiment relation relationship rel predicate property attribute
    attributes feature features interest interests hobby skill skills gender sex age status active flag note notes
    comment description text content language lang currency transaction transactions trade message messages call
    flight flights trip trips ride bike device sensor machine server process thread version comm new old
    cites cited citing follows following followed likes liked knows trusts contains uses depends on by of in the
    refers mentions replies reply retweets interacts combined friendship party recipe ingredient genre course student
    pmid doi isbn no nr similar related wallet acct met
"""
_AMOUNTS = """
    weight weights w wt wgt value values val count counts cnt amount amounts amt score scores strength strengths freq
    frequency frequencies similarity sim tfidf
"""
_ABOUT = "type kind class category group label name title port country city state region date time year"
_NODES = "id ids node nodes nodeid vertex vertices source target src dst from to"
_CONTRASTS: list[tuple[str, str]] = [(pair.partition("/")[0], pair.partition("/")[2]) for pair in _ENDS.split()]
_COLUMN_WORDS = frozenset(_COLUMNS.split()) | {word for pair in _CONTRASTS for word in pair}
_AMOUNT_WORDS, _NODE_WORDS = frozenset(_AMOUNTS.split()), frozenset(_NODES.split())
_ABOUT_WORDS = frozenset(_ABOUT.split())  # in names of columns that describe a node


def is_whole(text: str) -> bool:
    """Whether a name is a whole number; ``007`` is not, so that postcodes keep their zeros, nor are 641 digits.

    Examples
    --------
    >>> is_whole("12"), is_whole("-3"), is_whole("007"), is_whole("1.0")
    (True, True, False, False)
    """
    return len(text) <= _MOST_DIGITS and has_digits_only(text)


def all_whole(texts: list[str]) -> bool:
    """Whether all of many names are whole numbers.

    Examples
    --------
    >>> all_whole(["12", "-0"]), all_whole(["12", "+3"])
    (True, False)
    """
    if max(map(len, texts), default=0) > _MOST_DIGITS:
        return False
    try:
        if list(map(str, map(int, texts))) == texts:  # a tenth of the time
            return True
    except ValueError:
        return False
    return all(map(is_whole, texts))


def has_digits_only(text: str) -> bool:
    """Whether a cell is written as a whole number, however long."""
    return _WHOLE.fullmatch(text) is not None


def is_number(cell: str) -> bool:
    """Whether a cell is a number; "nan" and "inf" may be names.

    >>> is_number("-1.5e3"), is_number("007"), is_number("nan")
    (True, True, False)
    """
    return _NUMBER.fullmatch(cell) is not None


def words_of(name: str) -> list[str]:
    """Words that a name is made of, in lower case.

    >>> words_of("FromNodeId"), words_of("src_ip"), words_of("Person 2"), words_of("protein1")
    (['from', 'node', 'id'], ['src', 'ip'], ['person', '2'], ['protein', '1'])
    """
    return [word.lower() for word in _WORD.findall(name)]


def is_column_word(name: str) -> bool:
    """Whether a name is made of words that columns are called by.

    >>> is_column_word("follower_id"), is_column_word("Person A"), is_column_word("links_to"), is_column_word("ann")
    (True, True, True, False)
    """
    words = words_of(name)
    return name.upper() != name.lower() and all(word in _COLUMN_WORDS or _is_mark(word) for word in words)


def is_node_name(column: str) -> bool:
    """Whether a column of this name holds nodes.

    Examples
    --------
    >>> is_node_name("id_1"), is_node_name("ToNodeId"), is_node_name("borrower")
    (True, True, False)
    """
    words = [word for word in words_of(column) if not word.isdigit() and word != "new"]
    return bool(words) and all(word in _NODE_WORDS for word in words)


def is_amount_name(column: str) -> bool:
    """Whether a column of this name holds weights or values.

    Examples
    --------
    >>> is_amount_name("Edge Weight"), is_amount_name("count"), is_amount_name("time")
    (True, True, False)
    """
    words = words_of(column)
    if "".join(words) == "tfidf":
        return True
    return bool(words) and words[-1] in _AMOUNT_WORDS and is_column_word(column)


def weight_among(columns: Sequence[str], ends: Sequence[int], has_numbers: Callable[[int], bool]) -> int | None:
    """Position of the column that holds weights by its name, if there is one.

    Examples
    --------
    >>> weight_among(["from", "to", "note", "count"], (0, 1), lambda at: at > 2)
    3
    """
    others = [at for at in range(len(columns)) if at not in ends]
    called_so = (at for at in others if is_amount_name(columns[at]))
    return next((at for at in called_so if len(others) == 1 or has_numbers(at)), None)


def are_fractions(names: Sequence[Any]) -> bool:
    """Whether names, as text or numbers, are all numbers that are not whole: measurements, but hardly nodes.

    >>> are_fractions(["0.25", "1e-3"]), are_fractions(["1.0", "2.5"]), are_fractions([0.5])
    (True, False, True)
    """
    texts = list(map(str, names))
    return bool(texts) and all(is_number(text) and not float(text).is_integer() for text in texts)


def are_times(cells: Sequence[str]) -> bool:
    """Whether cells are all moments: seconds or milliseconds since 1970, or days such as 20240131.

    >>> are_times(["1082040961", "1082155839"]), are_times(["20040415"]), are_times(["12", "40"])
    (True, True, False)
    """
    spans = ((10**8, 5 * 10**9), (10**11, 5 * 10**12), (19_000_101, 21_001_231))
    numbers = [int(cell) if is_whole(cell) else -1 for cell in cells]
    return bool(numbers) and any(all(low <= number < high for number in numbers) for low, high in spans)


def pair_of_nodes(
    columns: Sequence[str],
    *,
    by_marks: bool = True,
    unlikely: Collection[int] = (),
    perhaps_times: Collection[int] = (),
) -> tuple[int, int] | None:
    """Positions of two columns that hold the ends of an edge by their names, wherever they stand.

    Of several pairs the names source, target, from, to, id and alike win, then those of one word and those that end in
    id; types, names and ports of nodes come last, and columns that are ``unlikely`` after them. Those that
    are ``perhaps_times`` decide between other names. ``by_marks=False`` leaves out columns that only a letter or a
    digit tells apart, which names of nodes may do as well.

    Examples
    --------
    >>> pair_of_nodes(["date", "amount", "from", "to"]), pair_of_nodes(["follower_id", "followed_id"])
    ((2, 3), (0, 1))
    >>> pair_of_nodes(["user_1", "user_2"]), pair_of_nodes(["user_1", "user_2"], by_marks=False)
    ((0, 1), None)
    >>> pair_of_nodes(["source_name", "source", "target_name", "target"])
    (1, 3)
    """

    def order(pair: tuple[int, int]) -> tuple[bool, bool, int]:
        rank = max(_rank(columns[at]) for at in pair)
        are_times = rank > 0 and all(at in perhaps_times for at in pair)
        return any(at in unlikely for at in pair), are_times, rank

    return min(pairs_of_nodes(columns, by_marks=by_marks), key=order, default=None)


def pairs_of_nodes(columns: Sequence[str], *, by_marks: bool = True) -> list[tuple[int, int]]:
    """Positions of all pairs of columns that may hold the ends of an edge by their names."""
    words = [words_of(column) for column in columns[:_MOST_COLUMNS]]
    contrasts = _CONTRASTS if by_marks else [pair for pair in _CONTRASTS if not any(map(_is_mark, pair))]
    pairs = combinations(range(len(words)), 2)
    return [pair for pair in pairs if _is_pair(words[pair[0]], words[pair[1]], contrasts)]


def _rank(column: str) -> int:
    """How far the name of a column is from one that can only mean a node."""
    words = words_of(column)
    if is_node_name(column):
        return 0
    if words[-1] in _ABOUT_WORDS:
        return 3
    return 1 if (len(words) == 1 and not _is_mark(words[0])) or words[-1] == "id" else 2


def _is_pair(one: list[str], other: list[str], contrasts: Sequence[tuple[str, str]]) -> bool:
    """Whether two names, in words, are the same but for one word of a known pair."""
    if len(one) != len(other):
        return False
    different = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    if len(different) != 1:
        return False
    a, b = different[0]
    # The two may be part of a longer word: srcip, dstip.
    return any({a, b} == {x, y} or (len(x) > 2 and b in (a.replace(x, y), a.replace(y, x))) for x, y in contrasts)


def _is_mark(word: str) -> bool:
    """A letter or a digit, which tells columns of one name apart."""
    return len(word) == 1
