# TEMPORARY shim over the old kernels
import numpy as np

from hopscale._core import _native as n

if not hasattr(n, "Csr"):

    class Graph:
        def __init__(
            self, offsets, neighbors, *, inverse_degrees, weights=None, keep=None, other=None, back=1.0, away=1.0
        ):
            self.walk = (offsets, neighbors, keep, other, back, away)
            self.prop = (offsets, neighbors, weights, inverse_degrees)
            self.n_nodes = len(offsets) - 1

    class Csr:
        def __init__(self, offsets, columns, values, n_columns):
            self.offsets, self.columns, self.values, self.n = offsets, columns, values, n_columns

    class Noise:
        def __init__(self, last, feature, guide, shift):
            self.a = (last, feature, guide, shift)

    class Panels:
        def __init__(self, panels, n_rows, width):
            self.p, self.width = panels, width
            self.addr = np.array([[a.ctypes.data for a in p] for p in panels], dtype=np.uint64)

    class SkipGram:
        def __init__(
            self, graph, features, noise, *, hops, negatives, batch, shared, seed, scale, counts=None, keep=None
        ):
            self.a = (*graph.walk, features.offsets, features.columns, counts, keep, *noise.a)
            self.b = (hops, negatives, batch, shared, seed, scale)

        def train(self, G, H, own, touches, nodes, visits, *, learning_rate, round, stop):
            hops, negatives, batch, shared, seed, scale = self.b
            return old["train"](
                *self.a,
                G,
                H,
                own,
                touches,
                nodes,
                visits,
                hops,
                learning_rate,
                negatives,
                batch,
                shared,
                seed,
                scale,
                round,
                stop,
            )

    old = {k: getattr(n, k) for k in dir(n)}
    n.Graph, n.Csr, n.Noise, n.Panels, n.SkipGram = Graph, Csr, Noise, Panels, SkipGram
    n.propagate = lambda g, b, o: old["propagate"](*g.prop, b, o)
    n.first_hop = lambda g, F, first, last, out: old["first_hop"](
        *g.prop, F.offsets[first : last + 1], F.columns, F.values, out
    )
    n.panels_times = lambda p, x, y, b, e: old["panels_times"](p.addr, p.width, x, y, b, e)
    n.panel_transposed_times = lambda p, j, y, w: old["panel_transposed_times"](*p.p[j], y, w)
    n.csr_times = lambda m, x, y, b, e: old["csr_times"](m.offsets, m.columns, m.values, x, y, b, e)
    n.sample_walks = lambda g, *a: old["sample_walks"](*g.walk, *a)
    n.sample_rows = lambda g, F, nodes, *, walks, hops, scale, seed, stream, stop: old["sample_rows"](
        *g.walk, F.offsets, F.columns, F.values, nodes, walks, hops, scale, seed, stream, stop
    )
