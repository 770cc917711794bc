"""What the doors share: their list, and pieces of lines."""

from fuzz.generators import Maker
from fuzz.names import MODELS, model_bytes, npz

DOORS = {}  # by name: the function, and how many inputs a short run takes
SAVED = ("MUSAE", "AE", "HOPE", "FEATHER", "DeepWalk", "TADW")  # models to ask, and whose files are mutated


def door(quick):
    def register(function):
        DOORS[function.__name__] = (function, quick)
        return function

    return register


def line(name, seed):
    """The input of a number; the same for ever, as long as the door is not changed."""
    return DOORS[name][0](Maker(name, seed))


def some(m, **choices):
    """Some of the keyword arguments, each with its own maker."""
    return "".join(f", {name}={make()}" for name, make in choices.items() if m.rarely(0.15))


def followed(m, graph, share=0.03):
    """A graph, and for a few of them what follows."""
    if not m.rarely(share):
        return graph
    name = m.choice(list(MODELS))
    solver = ", solver='sgns'" if name in ("MUSAE", "AE", "DeepWalk", "Walklets") and m.rarely(0.3) else ""
    return f"followed({graph}, {name!r}{solver})"


def saved_model(m):
    """Bytes of a sound file."""
    name = m.choice(SAVED)
    if m.rarely(0.3):
        return model_bytes(name, keep_graph=True)
    return model_bytes(name, solver="sgns") if name == "MUSAE" and m.rarely(0.5) else model_bytes(name)


def sound_npz():
    features = {"feature_indptr": [0, 1, 2, 3, 4], "feature_indices": [0, 1, 2, 0], "n_features": 3}
    labels = {"target": [0, 1, -1, 0], "class_names": ["a", "b"]}
    return npz(edges=[[0, 1], [1, 2], [2, 3]], n_nodes=4, **features, **labels)
