"""Fixed seeds for each build, and no seeding by the callable itself: else every build would
look like the next.
"""

import contextlib
import random

import torch

_NAMES = (
    (torch, "manual_seed"),
    (torch, "set_rng_state"),
    (torch.random, "manual_seed"),
    (torch.random, "set_rng_state"),
    (torch.random, "seed"),
    (torch, "seed"),
    (torch.cuda, "manual_seed"),
    (torch.cuda, "manual_seed_all"),
    (random, "seed"),
)


class Seeds:
    """Takes the place of the seeding functions, before the user's modules are imported and may
    copy them.
    """

    def __init__(self):
        self._muted = False
        self._originals = {}

    def __enter__(self):
        names = list(_NAMES)
        with contextlib.suppress(ImportError):
            import numpy

            names.append((numpy.random, "seed"))
        for module, name in names:
            self._originals[(module, name)] = getattr(module, name)
            setattr(module, name, self._mutable(getattr(module, name)))
        return self

    def __exit__(self, *exception):
        for (module, name), original in self._originals.items():
            setattr(module, name, original)

    def _mutable(self, original):
        def seed(*args, **kwargs):
            return torch.default_generator if self._muted else original(*args, **kwargs)

        return seed

    @contextlib.contextmanager
    def fixed(self, number):
        """Seeds everything, then lets no code inside seed anything."""
        for (module, name), original in self._originals.items():
            if name == "manual_seed" or (
                name == "seed" and module not in (torch, torch.random)
            ):
                original(number)
        self._muted = True
        try:
            yield
        finally:
            self._muted = False
