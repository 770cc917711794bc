"""A fuzzer for every door: random inputs end in a result or in a HopscaleError, and in nothing else.

An input is one line of Python, such as ``read_graph(file(b"0,1\\n1,nan"))``: `doors` writes such lines, with what
`generators` makes; `names` holds what they may name; `runner` evaluates them in processes of their own. A line depends
on its door and its number alone: ``python -m tests.fuzz DOOR --seed N`` shows one, and runs it.
"""
