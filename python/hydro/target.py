"""Finds the user's callable by `package.module:name` or `./file.py:name`, and builds its
arguments.
"""

import contextlib
import difflib
import hashlib
import importlib
import importlib.util
import inspect
import os
import sys

from hydro.errors import ExportError, first_line, place_of_exception, rank_of_file

_PICKLES = (".pt", ".pth", ".pkl", ".pickle", ".bin", ".ckpt", ".safetensors", ".onnx")


def load_target(text, folder=None):
    """The callable that a target names, with imports also resolved from `folder`."""
    _refuse_files(text)
    place, colon, path = text.partition(":")
    if not colon or not place or not path:
        do = "write package.module:callable or ./file.py:callable"
        raise ExportError(
            "H0201", f"`{text}` names no callable", why="there must be one `:`", do=do
        )
    is_file = place.endswith(".py")
    module = _import_file(place, folder) if is_file else _import_module(place)
    return _find_attribute(module, place, path)


def _refuse_files(text):
    lower = text.lower()
    if lower.endswith(".pt2"):
        do = f"write `file: {text}` in the job, or name the callable that builds the model"
        raise ExportError("H0201", f"`{text}` is an exported archive already", do=do)
    if lower.endswith(_PICKLES):
        why = (
            "a pickle or a weights file holds no code that builds the model, and loading a "
            "pickle runs whatever is in it"
        )
        do = (
            "name the callable that builds the model: package.module:callable or "
            "./file.py:callable"
        )
        raise ExportError(
            "H0201", f"`{text}` is a file of weights, not a callable", why=why, do=do
        )


def _import_file(place, folder):
    path = os.path.normpath(os.path.join(folder or os.getcwd(), place))
    if not os.path.isfile(path):
        siblings = [f for f in _listing(os.path.dirname(path)) if f.endswith(".py")]
        near = difflib.get_close_matches(os.path.basename(path), siblings, 1)
        do = (
            f"did you mean `{near[0]}`?"
            if near
            else "paths are relative to the job file, or to where you are"
        )
        raise ExportError("H0202", f"there is no file {path}", do=do)
    name = os.path.splitext(os.path.basename(path))[0]
    sys.path.insert(0, os.path.dirname(path))
    if name in sys.modules:
        name = f"_hydro_user_{name}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    return _run_import(place, lambda: spec.loader.exec_module(module) or module)


def _listing(folder):
    return os.listdir(folder) if os.path.isdir(folder) else []


def _import_module(place):
    return _run_import(place, lambda: importlib.import_module(place))


def _run_import(place, load):
    try:
        return load()
    except ModuleNotFoundError as error:
        where = place_of_exception(error)
        do = "install it into the interpreter that `python:` names, or correct the name"
        if error.name and (place == error.name or place.startswith(error.name + ".")):
            do = _near_module(place) or do
        raise ExportError(
            "H0202",
            f"there is no Python module `{error.name}`",
            where=where,
            why=first_line(error),
            do=do,
        ) from error
    except (Exception, SystemExit) as error:
        where = _syntax_place(error) or place_of_exception(error)
        do = "correct the error, so that Python can import it"
        raise ExportError(
            "H0202", f"importing `{place}` failed", where=where, why=first_line(error), do=do
        ) from error


def _syntax_place(error):
    return (
        f"{error.filename}:{error.lineno}"
        if isinstance(error, SyntaxError) and error.filename
        else ""
    )


def _near_module(place):
    import pkgutil

    parent, _, last = place.rpartition(".")
    path = None
    if parent:
        if parent not in sys.modules:
            return ""
        path = getattr(sys.modules[parent], "__path__", [])
    near = difflib.get_close_matches(last, [m.name for m in pkgutil.iter_modules(path)], 1)
    return f"did you mean `{parent}{'.' if parent else ''}{near[0]}`?" if near else ""


def _find_attribute(module, place, path):
    found = module
    for step in path.split("."):
        if not hasattr(found, step):
            near = difflib.get_close_matches(
                step, [n for n in dir(found) if not n.startswith("__")], 1
            )
            do = (
                f"did you mean `{near[0]}`?"
                if near
                else f"name a function or class of `{place}`"
            )
            raise ExportError(
                "H0203", f"`{place}` has no `{step}`", where=module_file(module), do=do
            )
        found = getattr(found, step)
    return found


def module_file(module):
    return getattr(module, "__file__", None) or ""


def resolve_arguments(value, folder=None):
    """Replaces each {"call": target, "args": [...], "kwargs": {...}} by what the call
    returns.
    """
    if isinstance(value, list):
        return [resolve_arguments(item, folder) for item in value]
    if not isinstance(value, dict):
        return value
    if "call" not in value:
        return {key: resolve_arguments(item, folder) for key, item in value.items()}
    unknown = sorted(set(value) - {"call", "args", "kwargs"})
    if unknown or not isinstance(value["call"], str):
        why = f"`{unknown[0]}` is no key of it" if unknown else "`call` must be text"
        raise ExportError(
            "H0206",
            "cannot read a nested call",
            why=why,
            do='write {"call": "module:callable", "kwargs": {...}}',
        )
    function = load_target(value["call"], folder)
    args = resolve_arguments(value.get("args", []), folder)
    kwargs = resolve_arguments(value.get("kwargs", {}), folder)
    try:
        return function(*args, **kwargs)
    except Exception as error:
        do = "correct its arguments"
        where = place_of_exception(error)
        raise ExportError(
            "H0206", f"`{value['call']}` failed", where=where, why=first_line(error), do=do
        ) from error


def source_files(function):
    """Path and SHA-256 of the file that defines the callable, then of the user's other imported
    files.
    """
    paths = []
    with contextlib.suppress(TypeError):
        paths.append(inspect.getsourcefile(inspect.unwrap(function)))
    others = [
        getattr(m, "__file__", None)
        for name, m in list(sys.modules.items())
        if name != "__main__"
    ]
    paths += sorted(p for p in others if p and p.endswith(".py") and rank_of_file(p) == 0)
    return [
        {"path": path, "sha256": _digest(path)}
        for path in dict.fromkeys(paths)
        if path and os.path.isfile(path)
    ]


def _digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()
