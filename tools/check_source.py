#!/usr/bin/env python3
"""House rules that no other tool checks: function and file length, torch's random ops, error ids, README, map."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONGEST_FUNCTION = 60
LONGEST_FILE = 400
NOT_A_FUNCTION = re.compile(r"^\s*(namespace|class|struct|enum|union|extern|using|constexpr auto|inline constexpr|TEST|//)")
RANDOM_OPS = re.compile(
    r"\b(at|torch)::(rand|randn|randint|randperm|bernoulli|dropout|feature_dropout|alpha_dropout|multinomial|normal|"
    r"native_dropout|rand_like|randn_like|manual_seed)\b|\.(uniform_|normal_|bernoulli_?|random_|exponential_)\(")


def sources():
    return sorted([*ROOT.glob("hydro/*/*.cpp"), *ROOT.glob("hydro/*/*.h"), *ROOT.glob("tests/**/*.cpp"),
                   *ROOT.glob("bench/*.cpp")])


def long_functions(path, lines):
    """A body opens on a line ending in '{' and closes on a '}' of the same indentation."""
    for start, line in enumerate(lines):
        if not line.endswith("{") or NOT_A_FUNCTION.match(line) or "(" not in line:
            continue
        indent = len(line) - len(line.lstrip())
        if indent > 2:
            continue
        for end in range(start + 1, len(lines)):
            if lines[end].startswith(" " * indent + "}"):
                if end - start - 1 > LONGEST_FUNCTION:
                    yield f"{path}:{start + 1}: function of {end - start - 1} lines (at most {LONGEST_FUNCTION})"
                break


def source_problems():
    for file in sources():
        path, text = file.relative_to(ROOT).as_posix(), file.read_text()
        lines = text.splitlines()
        yield from long_functions(path, lines)
        if len(lines) > LONGEST_FILE:
            yield f"{path}: {len(lines)} lines (at most {LONGEST_FILE}): split it by idea"
        if not path.endswith("_test.cpp"):
            for number, line in enumerate(lines, 1):
                if RANDOM_OPS.search(line.split("//")[0]):
                    yield f"{path}:{number}: a random op of torch; random numbers come from hydro/base/philox.h"


def catalogue_problems():
    """Every row is used by code, every id used has a row, and every id has a test that names it."""
    rows = set(re.findall(r'row\("(H\d{4})"', "".join(
        file.read_text() for file in ROOT.glob("hydro/base/catalogue_*.cpp") if not file.stem.endswith("_test"))))
    code = [*ROOT.glob("hydro/*/*.cpp"), *ROOT.glob("hydro/*/*.h"), *ROOT.glob("python/hydro/*.py")]
    tests = [*ROOT.glob("hydro/*/*_test.cpp"), *ROOT.glob("tests/**/*.cpp"), *ROOT.glob("tests/**/*.py"),
             *ROOT.glob("python/tests/*.py"), *ROOT.glob("tests/golden/**/*.txt")]
    used = {id for f in code if "catalogue" not in f.name and f not in tests
            for id in re.findall(r"\bH0\d{3}\b", f.read_text())}
    tested = {id for f in tests for id in re.findall(r"\bH0\d{3}\b", f.read_text())}
    yield from (f"{id}: used, but no hydro/base/catalogue_*.cpp has a row" for id in sorted(used - rows))
    yield from (f"{id}: a row of the catalogue that no code uses" for id in sorted(rows - used))
    yield from (f"{id}: no test names it" for id in sorted(rows - tested))


def document_problems():
    readme = (ROOT / "README.md").read_text()
    for command in sorted(set(re.findall(r"(?m)^\s*(?:\$ )?(\./[\w./-]+|tools/[\w-]+|bench/[\w.-]+)", readme))):
        if not (ROOT / command).exists() and not command.startswith("./my_"):
            yield f"README.md: `{command}` does not exist"
    verbs = {p.stem for p in (ROOT / "hydro/cli").glob("*_verb.cpp")}
    for verb in sorted(set(re.findall(r"\bhydro (\w+) ", " ".join(re.findall(r"(?s)```.*?```", readme))))):
        if f"{verb}_verb" not in verbs:
            yield f"README.md: there is no verb `hydro {verb}`"
    place_map = (ROOT / "docs/map.md").read_text()
    for room in sorted(p.name for p in (ROOT / "hydro").iterdir() if p.is_dir() and any(p.iterdir())):
        if f"hydro/{room}" not in place_map:
            yield f"docs/map.md: room hydro/{room} is missing"
    for path in sorted(set(re.findall(r"`((?:hydro|python|tools|docs|tests|bench|examples)/[\w./-]+)`", place_map))):
        if not (ROOT / path).exists():
            yield f"docs/map.md: `{path}` does not exist"


def committed_problems():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in names:
        size = (ROOT / name).stat().st_size if (ROOT / name).exists() else 0
        if size > 400_000:
            yield f"{name}: {size} bytes committed; large files are made, not stored"


if __name__ == "__main__":
    found = [*source_problems(), *catalogue_problems(), *document_problems(), *committed_problems()]
    print("\n".join(found) or "source: ok")
    sys.exit(bool(found))
