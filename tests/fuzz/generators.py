"""Source text of values, most of them ordinary and some odd, and bytes that are mutated."""

import random
import string

NUMBERS = [
    *("nan", "inf", "-inf", "-1", "-0.0", "1e30", "1e38", "1e-42", "1e300", "5e-324", "1e-30", "0.1", "2.5", "10**400"),
    *("2**31", "2**31 - 1", "-(2**31)", "2**32", "2**53 + 1", "2**62", "2**63", "2**64", "-(2**63)", "1j"),
    *(
        "np.float16(2)",
        "np.float32(1e-42)",
        "np.int8(-1)",
        "np.uint64(2**64 - 1)",
        "np.longdouble(3)",
        "np.bool_(True)",
    ),
    *("Fraction(1, 3)", "Decimal('1.5')", "Decimal('NaN')", "np.datetime64('2020-01-01')", "np.array(3)", "True"),
]
TEXTS = [
    *(
        "''",
        "' '",
        "'é'",
        "'\\ud800'",
        "'a\\0b'",
        "'\"'",
        "'\\r'",
        "'\\n'",
        "'a,b'",
        "'\\ufeff'",
        "'٣'",
        "'nan'",
        "'inf'",
    ),
    *("'9' * 5000", "'-' + '1' * 400", "'1e400'", "'007'", "'1_000'", "'0x10'", "'x' * 70000", "'None'", "'__class__'"),
    *("'../a'", "'node'", "'🦆'", "'e\\u0301'", "'1.0'", "' 1'", "'+1'", "'null'", "'{'", "'weight'", "'0-3'"),
]
THINGS = [
    *(
        "None",
        "True",
        "()",
        "[]",
        "{}",
        "set()",
        "b'a'",
        "b'\\xff'",
        "object()",
        "lambda *a: 0",
        "int",
        "...",
        "range(3)",
    ),
    *("[[1, 2], [3]]", "(1, (2, (3,)))", "nested(50)", "frozenset({1})", "slice(None)", "iter([1])"),
    *("np.ma.masked", "np.ma.array([1., 2.], mask=[0, 1])", "np.array(['a', None], object)", "np.zeros((0, 2))"),
    *("np.zeros((2, 2, 2))", "np.array(None)", "np.zeros(3, 'V4')", "np.array([1, 2], 'M8[D]')", "np.matrix([[1, 2]])"),
    *(
        "np.array([(1, 2.)], 'i4,f4')",
        "sp.coo_array([1, 0, 2])",
        "sp.csr_array((0, 0))",
        "sp.csr_matrix([[0, 1j], [1, 0]])",
    ),
    *(
        "pd.NA",
        "pd.Series([1, 2])",
        "pd.DataFrame({'a': [1]})",
        "float",
        "np.nan",
        "memoryview(b'ab')",
        "bytearray(b'a')",
    ),
    *("Exception('x')", "np.array([[]], object)", "np.array([None, nan, 'a'], object)", "pd.Categorical(['a', None])"),
]
DTYPES = ["f4", "f8", "i4", "i8", "u1", "u8", "i1", "f2", ">f4", ">i8", "?", "c8", "object", "U3", "S2", "g"]
FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]

CELLS = [
    *("", " ", "nan", "inf", "-1", "1e30", "1e-42", "1e400", "2147483648", "9223372036854775808", "1_000", "0x10", "٣"),
    *(
        "007",
        "+1",
        "1.0",
        "-0",
        "é",
        "🦆",
        "\0",
        "\ufeff",
        '"',
        '""',
        '"a',
        '"a""b"',
        '"a,b"',
        '"a\nb"',
        "a b",
        "#",
        "# x",
    ),
    *(
        "% x",
        "\\",
        "'",
        "null",
        "None",
        "source",
        "weight",
        "id",
        "node",
        "feature",
        "value",
        "label",
        "{",
        "[",
        "\x1a",
        "\x0b",
    ),
    *(
        "9" * 5000,
        "1" * 400,
        "x" * 3000,
        "0" * 20 + "1",
        "1e",
        ".",
        "-",
        "--1",
        "1;2",
        "a\tb",
        "\u2028",
        "\x85",
        "\xa0",
        "NaN",
    ),
]
JSON = [
    *("null", "true", "NaN", "Infinity", "-Infinity", "1e400", "-1", "1.5", '""', '"\\ud800"', '"\\u0000"', '"é"', "0"),
    *(
        '"' + "9" * 5000 + '"',
        "9" * 5000,
        "[" * 5000,
        '{"a":' * 3000,
        "{}",
        "[]",
        "[[1]]",
        '{"a": {"b": 1}}',
        "1e-42",
        "1e30",
    ),
    *('"1.0"', '" 1"', "9223372036854775808", "00", "'a'", '"\n"', "/", '"\\x"', '{"a": 1, "a": 2}', "\ufeff", "// c"),
]


class Maker(random.Random):
    """Values as source text; a share of them, drawn once for each input, is odd."""

    def __init__(self, door, seed):
        super().__init__(f"{door} {seed}")
        self.share = self.choice([0.0, 0.02, 0.05, 0.05, 0.2, 0.5])

    def odd(self):
        return self.random() < self.share

    def rarely(self, share=0.1):
        return self.random() < share

    def one_of(self, *makers):
        return self.choice(makers)()

    def thing(self):
        """Anything at all."""
        return self.choice(self.choice([NUMBERS, TEXTS, THINGS]))

    def number(self):
        if self.odd():
            return self.choice(NUMBERS) if self.rarely(0.8) else self.thing()
        return str(self.randrange(4)) if self.rarely(0.6) else self.choice(["1.0", "0.5", "2.5", "1", "3"])

    def count(self):
        return self.thing() if self.odd() else str(self.randrange(1, 6))

    def name(self):
        """An id or the name of a feature, all numbers or all text within an input as a rule."""
        if self.odd():
            return self.thing()
        return str(self.randrange(6)) if self.numeric else repr(self.choice("abcdefgh"))

    @property
    def numeric(self):
        if not hasattr(self, "_numeric"):
            self._numeric = self.rarely(0.5)
        return self._numeric

    def word(self, *words):
        return self.thing() if self.odd() else repr(self.choice(words))

    def listed(self, item, least=0, most=6, brackets=None):
        opening, closing = brackets or self.choice(["[]", "[]", "[]", "()"])
        inside = [item() for _ in range(self.randint(least, most))]
        return opening + ", ".join(inside) + ("," if closing == ")" and inside else "") + closing

    def mapping(self, key, value, most=6):
        """A dict; keys that cannot be hashed make no input, so that they are names."""
        return "pairs(" + self.listed(lambda: f"({key()}, {value()})", 0, most, "[]") + ")"

    def array(self, shape=None, item=None):
        """NumPy's, of any type and shape, plain, masked, strided, read-only or of another order."""
        shape = shape or self.choice([(4,), (4, 4), (4, 2), (3, 2), (4, 1), (5,), (1,)])
        if self.odd():
            shape = self.choice([(), (0,), (0, 0), (0, 2), (2, 0), (1, 1, 1), (2, 3), (3,), (5, 5)])
        size = 1
        for length in shape:
            size *= length
        item = item or self.number
        values = self.listed(item, size, size, "[]")
        dtype = self.choice(DTYPES) if self.odd() else self.choice(["f4", "f8", "i8", "i4", "object"])
        text = f"array({values}, {dtype!r}, {shape})"
        return (
            self.choice(["masked({})", "strided({})", "frozen({})", "np.asfortranarray({})"]).format(text)
            if self.odd()
            else text
        )

    def sparse(self, shape=(4, 4)):
        """SciPy's, in any format, sound or with raw arrays that were never checked."""
        entries = self.randrange(6)
        rows, columns = ([self.randrange(max(1, n)) for _ in range(entries)] for n in shape)
        if self.rarely(0.7) and shape[0] == shape[1]:
            rows, columns = rows + columns, columns + rows
        values = self.listed(self.number if self.odd() else lambda: "1", len(rows), len(rows), "[]")
        if self.odd():
            indptr = self.listed(lambda: self.choice(["0", "1", "2", "50_000_000", "-1", "2**40"]), 0, 6, "[]")
            indices = self.listed(lambda: self.choice(["0", "1", "3", "4", "-1", "2**30", "2**62"]), 0, 6, "[]")
            width = self.choice(["i4", "i8"])
            return f"raw_csr({values}, {indices}, {indptr}, {shape}, {width!r})"
        kind = self.choice(FORMATS) if self.rarely(0.5) else "csr"
        dtype = self.choice(DTYPES[:-4]) if self.odd() else "f8"
        return f"sparse({kind!r}, {values}, {rows}, {columns}, {shape}, {dtype!r}, {self.rarely()})"

    def matrix(self, shape=(4, 4)):
        if self.odd() and self.rarely(0.3):
            return self.thing()
        return self.sparse(shape) if self.rarely(0.7) else self.array(shape)

    # Bytes of files.

    def cell(self):
        if self.odd():
            return self.choice(CELLS)
        return str(self.randrange(8)) if self.numeric else self.choice("abcdefgh")

    def delimited(self, columns, header):
        """Text of so many columns, as bytes."""
        divider = self.choice([",", ";", "\t", " ", ","])
        end = self.choice(["\n", "\n", "\n", "\r\n", "\r"]) if self.odd() else "\n"
        rows = [[self.cell() for _ in range(columns)] for _ in range(self.randrange(8))]
        if columns == 3:
            for row in rows:
                row[2] = self.choice(CELLS) if self.odd() else self.choice(["1", "2.5", "0.25", "1e-3"])
        if self.rarely(0.5):
            rows.insert(0, list(header[:columns]))
        for row in rows:
            if self.odd():
                row.append(self.cell()) if self.rarely(0.5) else row.pop()
        quoted = self.rarely()
        text = end.join(
            divider.join(f'"{cell}"' if quoted else cell for cell in row) for row in rows
        ) + end * self.randrange(2)
        data = text.encode("utf-8", "surrogatepass")
        if self.odd():
            data = self.choice(
                [
                    text.encode("utf-16"),
                    text.encode("latin-1", "replace"),
                    b"# x\n" + data,
                    b"\xef\xbb\xbf" + data,
                    b"\n" + data,
                ]
            )
        return self.sometimes_mutated(data, CELLS)

    def json(self):
        """Features as JSON, as bytes."""

        def scalar():
            return self.choice(JSON) if self.odd() else self.choice(["1", "2", '"tea"', '"go"'])

        def key():
            return self.choice(JSON) if self.odd() else f'"{self.cell()}"'

        def features():
            if self.odd():
                return scalar()
            if self.rarely(0.5):
                return "[" + ", ".join(scalar() for _ in range(self.randrange(4))) + "]"
            return (
                "{"
                + ", ".join(f"{key()}: {self.choice(['1', '2.5', scalar()])}" for _ in range(self.randrange(4)))
                + "}"
            )

        text = "{" + ", ".join(f"{key()}: {features()}" for _ in range(self.randrange(6))) + "}"
        return self.sometimes_mutated(text.encode("utf-8", "surrogatepass"), JSON)

    def sometimes_mutated(self, data, words, share=0.3):
        return self.mutated(data, words) if self.rarely(share) else data

    def mutated(self, data, words=(), most=6):
        """The same bytes after a few flips, cuts, copies, splices and words put in."""
        data = bytearray(data)
        for _ in range(self.randint(1, most)):
            at, other = (self.randrange(len(data) + 1) for _ in range(2))
            first, last = min(at, other), max(at, other)
            near = min(len(data), at + self.randrange(1, 9))
            action = self.randrange(9)
            if action == 0 and at < len(data):
                data[at] ^= 1 << self.randrange(8)
            elif action == 1 and at < len(data):
                data[at] = self.choice([0, 1, 0x7F, 0x80, 0xFF, 10, 13, 34, 44, self.randrange(256)])
            elif action == 2:
                del data[at:near]
            elif action == 3:
                data[at:at] = data[other : other + self.randrange(1, 40)]
            elif action == 4:
                data[at:near] = bytes(self.randrange(256) for _ in range(near - at))
            elif action == 5 and words:
                data[at : near if self.rarely(0.5) else at] = self.choice(words).encode("utf-8", "surrogatepass")
            elif action == 6 and self.rarely(0.3):
                del data[last:]
            elif action == 7 and self.rarely(0.3):
                del data[first:last]
            elif action == 8:
                data[at:at] = self.choice([b"\0" * 8, b"\xff" * 8, b"0", b"-", b"\n", b"}", b"]", b'"', b","])
        return bytes(data)

    def letters(self, most=8):
        return "".join(self.choice(string.ascii_letters) for _ in range(self.randint(1, most)))
