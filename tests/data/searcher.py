"""A searcher process for tests: suggests by the id alone, and fails as it is told.

    searcher.py FOLDER [FAULT]

FOLDER takes `starts`, one line for each start of this program, and `told`, the ids told to the running process in
their order. FAULT is one of
    hang:ID    no answer to ask ID          die:ID      the end of the process at ask ID
    garbage:ID text that is no JSON         outside:ID  a value outside the space
    repeat:ID  the configuration of id 0    refuse      an error as answer to hello
    dead       the end before hello         kills:N:SEED  N ends by SIGKILL at random places, then none
A fault with an id happens at every start, unless it ends in `:once`.
"""
import json
import os
import pathlib
import random
import signal
import sys

FOLDER = pathlib.Path(sys.argv[1])
FAULT = sys.argv[2].split(":") if len(sys.argv) > 2 else [""]


def count_start():
    path = FOLDER / "starts"
    with path.open("a") as file:
        file.write(f"{os.getpid()}\n")
    return len(path.read_text().splitlines())


class Killer:
    """Ends the process at a random message, before the answer, in its middle or after it. Two starts in a row give at
    least one suggestion between them: three failures without one would end the study."""

    def __init__(self, start):
        kills, seed = (int(FAULT[1]), int(FAULT[2])) if FAULT[0] == "kills" else (0, 0)
        draw = random.Random(1000 * seed + start)
        self.left = draw.randint(1, 2) if start <= kills else -1
        if start % 2 == 0:
            self.left += 1
        self.place = draw.choice(["before", "middle", "after"])

    def answer(self, text, counted):
        self.left -= counted
        now = self.left == 0 and counted
        if now and self.place == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        half = text[:len(text) // 2] if now and self.place == "middle" else text + "\n"
        sys.stdout.write(half)
        sys.stdout.flush()
        if now:
            os.kill(os.getpid(), signal.SIGKILL)


def suggestion(number, space):
    """A function of the id: whoever is asked again says the same."""
    config = {}
    for row in space:
        draw = random.Random(f"{number}/{row['path']}")
        if row["kind"] == "options":
            config[row["path"]] = draw.choice(row["options"])
        else:
            config[row["path"]] = draw.uniform(row["low"], row["high"])
    return config


def wants(fault, number, start):
    once = FAULT[-1] == "once"
    return FAULT[0] == fault and int(FAULT[1]) == number and (start == 1 or not once)


def answer_to_ask(message, space, start):
    number = message["id"]
    print(f"asked for {number}", file=sys.stderr, flush=True)
    if wants("hang", number, start):
        signal.pause()
    if wants("die", number, start):
        print("last words", file=sys.stderr, flush=True)
        sys.exit(3)
    if wants("garbage", number, start):
        return "no JSON at all"
    config = message.get("config") or suggestion(0 if wants("repeat", number, start) else number, space)
    if wants("outside", number, start):
        config = {path: 1e9 for path in config}
    return json.dumps({"type": "suggestion", "id": number, "config": config})


def main():
    start = count_start()
    killer = Killer(start)
    told, space = [], []
    if FAULT[0] == "dead":
        sys.exit("nothing to say")
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            space = message["space"]
            refusal = {"type": "error", "what": "does not like this space", "do": "use another"}
            killer.answer(json.dumps(refusal if FAULT[0] == "refuse" else {"type": "hello", "protocol": 1}), 0)
        elif kind == "state":
            told = [event["id"] for event in message["events"] if event["type"] == "tell"]
            (FOLDER / "told").write_text(" ".join(map(str, told)))
            killer.answer('{"type": "state"}', 0)
        elif kind == "tell":
            told.append(message["id"])
            (FOLDER / "told").write_text(" ".join(map(str, told)))
            killer.answer(json.dumps({"type": "told", "id": message["id"]}), 1)
        else:
            killer.answer(answer_to_ask(message, space, start), 1)


if __name__ == "__main__":
    main()
