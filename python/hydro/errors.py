"""What the exporter says when it refuses: an id, what, where, why and what to do.

Ids H0201 to H0229 belong to the exporter; each is a row of hydro/base/catalogue_export.cpp.
"""

import functools
import json
import linecache
import os
import site
import sys
import sysconfig

EXIT_USAGE = 2
EXIT_ENVIRONMENT = 3
EXIT_STORAGE = 5
EXIT_INTERRUPTED = 75


class ExportError(Exception):
    """A refusal that a user reads. `where` is "file:line", or empty when there is no such
    place.
    """

    def __init__(self, id, what, *, where="", why="", do="", exit_code=EXIT_USAGE):
        super().__init__(what)
        self.id = id
        self.what = what
        self.where = where
        self.why = why
        self.do = do
        self.exit_code = exit_code

    def as_json(self):
        fields = {"id": self.id, "what": self.what, "where": self.where}
        return json.dumps(fields | {"why": self.why, "do": self.do})

    def as_text(self):
        lines = [f"error[{self.id}]: {self.what}" + (f"    {self.where}" if self.where else "")]
        source = source_line(self.where)
        if source:
            number = self.where.rpartition(":")[2]
            lines.append(f"   {number} | {source}")
        lines += [
            f"   {label}: {text}"
            for label, text in (("why", self.why), ("do", self.do))
            if text
        ]
        return "\n".join(lines)


def source_line(where):
    path, _, line = where.rpartition(":")
    return linecache.getline(path, int(line)).strip() if line.isdigit() else ""


def _library_roots():
    paths = sysconfig.get_paths()
    packages = {
        paths["purelib"],
        paths["platlib"],
        *site.getsitepackages(),
        site.getusersitepackages(),
    }
    return [os.path.realpath(p) for p in packages], os.path.realpath(paths["stdlib"])


_PACKAGES, _STDLIB = _library_roots()
_INITIALIZERS = os.path.join("torch", "nn", "init.py")
_OURSELVES = os.path.dirname(os.path.realpath(__file__))


def _inside(path, folder):
    return path.startswith(folder + os.sep)


def _package_of(path):
    """The installed package that a file is from, also out of another environment; else ""."""
    for folder in _PACKAGES:
        if _inside(path, folder):
            return path[len(folder) + 1 :].split(os.sep)[0]
    parts = path.split(os.sep)
    for name in ("site-packages", "dist-packages"):
        if name in parts[:-1]:
            return parts[parts.index(name) + 1]
    return ""


@functools.cache
def rank_of_file(path):
    """0: the user's own file; 1: a model library; 2: torch, Python or this package (never
    shown).
    """
    if path.startswith("<"):
        return 2
    path = os.path.realpath(path)
    package = _package_of(path)
    if package:
        return 2 if package in ("torch", "sympy", "torchgen", "functorch") else 1
    return 2 if _inside(path, _STDLIB) or _inside(path, _OURSELVES) else 0


def best_place(places):
    """The innermost user's place of (file, line) pairs given outermost first; else of a
    library; else "".
    """
    for rank in (0, 1):
        for path, line in reversed(places):
            if rank_of_file(path) == rank:
                return f"{path}:{line}"
    return ""


def place_of_exception(error):
    """The user's file:line that an exception, or the one it was raised from, passed through."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        places, entry = [], error.__traceback__
        while entry is not None:
            places.append((entry.tb_frame.f_code.co_filename, entry.tb_lineno))
            entry = entry.tb_next
        found = best_place(places)
        if found:
            return found
        error = error.__cause__ or error.__context__
    return ""


def place_of_caller():
    """The innermost user's file:line on the present stack."""
    places, frame = [], sys._getframe(1)
    while frame is not None:
        places.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return best_place(places[::-1])


def initializer_of_caller():
    """`torch.nn.init.orthogonal_` when that is what runs; else ""."""
    found, frame = "", sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.endswith(_INITIALIZERS) and not code.co_name.startswith("_"):
            found = f"torch.nn.init.{code.co_name}"
        frame = frame.f_back
    return found


def first_line(error):
    """An exception as one line: its class and the first line of its text that is not empty."""
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
