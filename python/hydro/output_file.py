"""The file that an export writes: tried before the slow part, then written whole or not at all."""

import contextlib
import os

from hydro.errors import EXIT_STORAGE, ExportError, first_line


def check_place(path):
    """Refuses a place that cannot take the file; leaves nothing there."""
    if os.path.isdir(path):
        raise _cannot_write(path, "it is a folder", "name a file in it with -o")
    if os.path.exists(path) and not os.path.isfile(path):
        raise _cannot_write(path, "it is there already and no regular file", "choose another -o")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        do = "make the folder, or choose another -o"
        raise _cannot_write(path, f"there is no folder {folder}", do)
    with _temporary(path) as file:
        file.write(b"")


def write_whole(path, content):
    """Writes beside `path`, then renames."""
    with _temporary(path) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        os.replace(file.name, path)
        _synchronize(os.path.dirname(file.name))


@contextlib.contextmanager
def _temporary(path):
    """A file beside `path` that is gone afterwards, unless it was renamed."""
    folder, name = os.path.split(os.path.abspath(path))
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            yield file
    except OSError as error:
        do = "choose another -o, or make room on the disk"
        raise _cannot_write(path, first_line(error), do) from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _synchronize(folder):
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _cannot_write(path, why, do):
    what = f"cannot write {path}"
    return ExportError("H0219", what, why=why, do=do, exit_code=EXIT_STORAGE)
