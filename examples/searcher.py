#!/usr/bin/env python3
"""A searcher in one page: random values around the best configuration so far. docs/searchers.md has the protocol.

In the job file, with this file beside it and executable (chmod +x searcher.py):

    tune:
      search: {command: [./searcher.py]}
"""
import json
import math
import random
import sys

START = 5  # configurations drawn from the whole space first


def between(draw, low, high, parameter):
    """A value of the parameter's own kind between two of its values."""
    if parameter["log"]:
        value = math.exp(draw.uniform(math.log(low), math.log(high)))
    else:
        value = draw.uniform(low, high)
    if parameter["step"]:
        value = parameter["low"] + parameter["step"] * round((value - parameter["low"]) / parameter["step"])
    value = min(max(value, parameter["low"]), parameter["high"])
    return round(value) if parameter["kind"] == "integer" else value


def suggest(draw, space, best):
    config = {}
    for parameter in space:
        condition, path = parameter["condition"], parameter["path"]
        if condition and config.get(condition["path"]) != condition["option"]:
            continue  # exists only inside another option
        near = best is not None and path in best and draw.random() < 0.8
        if parameter["kind"] == "options":
            config[path] = best[path] if near else draw.choice(parameter["options"])
        elif parameter["kind"] == "normal":
            config[path] = draw.gauss(best[path] if near else parameter["mean"], parameter["deviation"])
        else:
            low, high = parameter["low"], parameter["high"]
            if near:
                width = (math.log(high / low) if parameter["log"] else high - low) / 5
                middle = best[path]
                low = max(low, middle * math.exp(-width) if parameter["log"] else middle - width)
                high = min(high, middle * math.exp(width) if parameter["log"] else middle + width)
            config[path] = between(draw, low, high, parameter)
    return config


class Searcher:
    def __init__(self):
        self.asked, self.best, self.value = {}, None, None

    def hello(self, message):
        self.space, self.better = message["space"], max if message["mode"] == "max" else min
        self.draw = random.Random(message["seed"])
        return {"protocol": 1}

    def ask(self, message):
        best = self.best if len(self.asked) >= START else None
        config = message.get("config") or suggest(self.draw, self.space, best)
        self.asked[message["id"]] = config
        return {"type": "suggestion", "id": message["id"], "config": config}

    def tell(self, message):
        value = message["value"]
        if value is not None and (self.value is None or self.better(value, self.value) == value):
            self.value, self.best = value, self.asked[message["id"]]
        return {"type": "told", "id": message["id"]}

    def state(self, message):
        """What a process before this one was asked and told."""
        for event in message["events"]:
            (self.ask if event["type"] == "ask" else self.tell)(event)
        return {}


def main():
    searcher = Searcher()
    for line in sys.stdin:
        message = json.loads(line)
        answer = getattr(searcher, message["type"])(message)
        print(json.dumps({"type": message["type"]} | answer), flush=True)  # unflushed, the answer stays in a buffer


main()
