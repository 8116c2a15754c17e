"""`python -m hydro.export`: builds the user's model and writes its archive (docs/model-
archive.md).

Runs the user's Python. What that prints goes to stderr; a refusal is the last line there.
"""

import argparse
import json
import logging
import os
import platform
import signal
import sys
import warnings

from hydro import __version__
from hydro.errors import (
    EXIT_ENVIRONMENT,
    EXIT_INTERRUPTED,
    ExportError,
    first_line,
    place_of_exception,
)
from hydro.output_file import check_place

FORMAT = 1


def main(arguments=None):
    options = None
    try:
        options = parse(arguments)
        _keep_stdout_clean()
        signal.signal(signal.SIGTERM, _interrupt)
        export_file(options)
        return 0
    except ExportError as error:
        return _report(error, options)
    except KeyboardInterrupt:
        stopped = ExportError(
            "H0227", "the export was stopped", do="start it again", exit_code=EXIT_INTERRUPTED
        )
        return _report(stopped, options)
    except Exception as error:
        return _report(unexpected(error), options)


def _interrupt(number, frame):
    raise KeyboardInterrupt


def _keep_stdout_clean():
    """Also what C code prints: the file descriptor itself is turned."""
    sys.stdout.flush()
    os.dup2(2, 1)


def _report(error, options):
    sys.stdout.flush()
    as_json = options.json if options else "--json" in sys.argv
    print(error.as_json() if as_json else error.as_text(), file=sys.stderr, flush=True)
    return error.exit_code


def unexpected(error):
    where = place_of_exception(error)
    do = "please report it with the callable that shows it"
    return ExportError(
        "H0229",
        "the exporter failed in a way it does not know",
        where=where,
        why=first_line(error),
        do=do,
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ExportError(
            "H0228",
            "cannot read the exporter's command line",
            why=message,
            do="see `hydro export --help`",
        )


def parse(arguments):
    parser = _Parser(prog="python -m hydro.export", description=__doc__)
    parser.add_argument("target", help="package.module:callable or ./file.py:callable")
    parser.add_argument("--args", default="[]", help="JSON list")
    parser.add_argument(
        "--kwargs", default="{}", help="JSON object; may nest {call, args, kwargs}"
    )
    parser.add_argument(
        "--input", action="append", required=True, help="[name=]dtype[sizes], * is the batch"
    )
    parser.add_argument(
        "--forward", default="{}", help="JSON object of forward arguments that are no tensors"
    )
    parser.add_argument(
        "--initialization", choices=("recorded", "standard"), default="recorded"
    )
    parser.add_argument("--folder", help="imports also resolve from here")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--json", action="store_true", help="errors as one JSON object")
    options = parser.parse_args(arguments)
    for name, kind in (("args", list), ("kwargs", dict), ("forward", dict)):
        setattr(options, name, _json(name, getattr(options, name), kind))
    return options


def _json(name, text, kind):
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise ExportError(
            "H0206",
            f"--{name} is no JSON",
            why=str(error),
            do="quote it for the shell, as in '{\"num_classes\": 10}'",
        ) from error
    if not isinstance(value, kind):
        wanted = "a list" if kind is list else "an object"
        raise ExportError(
            "H0206",
            f"--{name} must be {wanted}",
            do="as in --args '[10]' --kwargs '{\"num_classes\": 10}'",
        )
    return value


def _refuse_constant(name):
    raise ValueError(f"{name} is no JSON number")


def _import_torch():
    try:
        import torch
    except ImportError as error:
        do = (
            "install torch 2.11 or later into this interpreter, or name another by `python:` "
            "in the job"
        )
        what = f"{sys.executable} cannot import torch"
        raise ExportError(
            "H0801", what, why=first_line(error), do=do, exit_code=EXIT_ENVIRONMENT
        ) from error
    torch.set_num_threads(
        1
    )  # tracing is Python's work; idle helper threads only take another's core
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < (2, 11):
        what = f"torch {torch.__version__} is too old"
        raise ExportError(
            "H0801", what, do="install torch 2.11 or later", exit_code=EXIT_ENVIRONMENT
        )
    return torch


def export_file(options, rename=lambda text: text):
    """Builds, exports and writes. `rename` changes the file names that the archive holds (for
    fixtures).
    """
    check_place(options.output)
    torch = _import_torch()
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    from hydro import archive, graphs, initialization, inputs, refused_code, seeds, state

    specs = [inputs.parse_input(text) for text in options.input]
    if options.folder:
        sys.path.insert(0, os.path.abspath(options.folder))
    with seeds.Seeds() as fixed_seeds, refused_code.OpaqueCode() as opaque_code:
        source = _Source(options)
        builder = initialization.Builder(source.make, fixed_seeds)
        first = builder.build()
        state.check_model(first.model, source.where)
        entries = state.list_state(first.model, source.where)
        specs = inputs.bind_inputs(specs, first.model, options.forward)
        constants = inputs.complete_constants(first.model, options.forward)
        call = graphs.ForwardCall(specs, constants, inputs.choose_batch(first.model, specs))
        programs = graphs.export_graphs(first.model, call, opaque_code)
        found, unrecorded = initialization.find_laws(first, builder, source.where)
        graphs.check_forward(builder.latest, specs, constants)
    if unrecorded and options.initialization == "recorded":
        raise initialization.law_not_recorded(unrecorded, source.where)
    manifest = {
        "format": FORMAT,
        "callable": _describe(options, source, rename),
        "versions": _versions(torch),
        **graphs.describe(programs, call, first.model),
        "state": entries,
        **initialization.describe(first.model, found, unrecorded),
    }
    archive.strip(programs, [e["name"] for e in entries if e["kind"] == "parameter"])
    archive.rename_files(programs, rename)
    archive.write_archive(
        options.output, programs, manifest, inputs.place_of_code(first.model.forward)
    )


def _describe(options, source, rename):
    files = [file | {"path": rename(file["path"])} for file in source.files()]
    return {
        "target": options.target,
        "args": options.args,
        "kwargs": options.kwargs,
        "files": files,
    }


class _Source:
    """The user's callable and its arguments, built anew for every model."""

    def __init__(self, options):
        from hydro import inputs, target

        self._target = target
        self._options = options
        self._callable = target.load_target(options.target, options.folder)
        self.where = inputs.place_of_code(self._callable)
        self._check_callable()

    def _check_callable(self):
        import torch

        what = None
        if isinstance(self._callable, torch.nn.Module):
            what = (
                f"`{self._options.target}` is a model already built, so its initialisation "
                "cannot be seen"
            )
        elif not callable(self._callable):
            what = (
                f"`{self._options.target}` is no callable but a {type(self._callable).__name__}"
            )
        if what:
            raise ExportError(
                "H0205",
                what,
                where=self.where,
                do="name a class or function that returns a new nn.Module",
            )

    def make(self):
        import torch

        args = self._target.resolve_arguments(self._options.args, self._options.folder)
        kwargs = self._target.resolve_arguments(self._options.kwargs, self._options.folder)
        try:
            model = self._callable(*args, **kwargs)
        except (Exception, SystemExit) as error:
            where = place_of_exception(error) or self.where
            do = (
                "correct the arguments (--args, --kwargs; in a job model.kwargs) or the "
                "callable"
            )
            raise ExportError(
                "H0204",
                f"`{self._options.target}` failed",
                where=where,
                why=first_line(error),
                do=do,
            ) from error
        if not isinstance(model, torch.nn.Module):
            what = (
                f"`{self._options.target}` returned a {type(model).__name__}, not an nn.Module"
            )
            raise ExportError("H0205", what, where=self.where, do="return the model from it")
        return model

    def files(self):
        return self._target.source_files(self._callable)


def _versions(torch):
    versions = {
        "hydro": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
    }
    for name in ("torchvision", "transformers"):
        if name in sys.modules:
            versions[name] = getattr(sys.modules[name], "__version__", "").split("+")[0]
    return versions


if __name__ == "__main__":
    sys.exit(main())
