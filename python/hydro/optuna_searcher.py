"""A searcher process for Hydro that asks a sampler of Optuna: JSON lines on standard input and output, as
docs/searchers.md specifies. Hydro starts it for `search: {name: optuna, sampler: ...}` with the Python of the model.

    python -m hydro.optuna_searcher
"""
import inspect
import json
import statistics
import sys

SEED_LIMIT = 2**32    # numpy's seeds lie below it
PATIENCE = 200        # repeated configurations in a row before the sampler counts as exhausted
LOWEST_SHARE = 1e-12  # of a normal distribution's lower and upper tail that is not searched


class Refused(Exception):
    """What Hydro reports instead of a suggestion: the words, what to do, and a reason that programs know."""

    def __init__(self, what, do="", reason=""):
        super().__init__(what)
        self.message = {"type": "error", "what": what, "do": do, "reason": reason}


def import_optuna():
    try:
        import optuna
    except ImportError as fault:
        raise Refused(f"needs the package optuna, which {sys.executable} cannot import: {fault}",
                      f"install it there: {sys.executable} -m pip install optuna", "not installed") from fault
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def make_sampler(optuna, name, arguments, seed):
    known = sorted(key for key, value in vars(optuna.samplers).items()
                   if inspect.isclass(value) and issubclass(value, optuna.samplers.BaseSampler))
    if name not in known:
        raise Refused(f"knows no sampler `{name}`", "one of: " + " ".join(known))
    sampler = getattr(optuna.samplers, name)
    if "seed" in inspect.signature(sampler).parameters:
        arguments = {"seed": seed % SEED_LIMIT, **arguments}
    try:
        return sampler(**arguments)
    except ImportError as fault:
        raise Refused(f"needs a package for {name}: {fault}", "install it beside optuna", "not installed") from fault
    except (TypeError, ValueError) as fault:
        raise Refused(f"cannot make {name}: {fault}", "see this sampler's arguments in Optuna's reference") from fault


class Parameter:
    """One hyperparameter of the space, as Optuna asks for it."""

    def __init__(self, row):
        self.row = row
        self.path = row["path"]
        self.condition = row["condition"]
        # Two options of a choice may hold the same path with different ranges.
        self.name = self.path
        if self.condition is not None:
            self.name += f"@{self.condition['path']}={self.condition['option']}"

    def is_active(self, config):
        return self.condition is None or config.get(self.condition["path"]) == self.condition["option"]

    def suggest(self, trial):
        row, kind = self.row, self.row["kind"]
        if kind == "options":
            return self._suggest_option(trial)
        if kind == "normal":
            share = trial.suggest_float(self.name, LOWEST_SHARE, 1 - LOWEST_SHARE)
            return self._rounded(statistics.NormalDist(row["mean"], row["deviation"]).inv_cdf(share), 0)
        suggest = trial.suggest_int if kind == "integer" else trial.suggest_float
        if row["log"]:  # Optuna has no steps on a logarithmic scale
            return self._rounded(suggest(self.name, row["low"], row["high"], log=True), row["low"])
        if row["step"] is None:
            return suggest(self.name, row["low"], row["high"])
        return suggest(self.name, row["low"], row["high"], step=row["step"])

    def _suggest_option(self, trial):
        options = self.row["options"]
        if self.row["ordered"] and len(options) > 1:
            return options[trial.suggest_int(self.name, 0, len(options) - 1)]
        return trial.suggest_categorical(self.name, options)

    def _rounded(self, value, low):
        step = self.row["step"]
        if step is None:
            return value
        nearest = low + round((value - low) / step) * step
        return min(nearest, self.row["high"]) if "high" in self.row else nearest

    def inverse(self, value):
        """What Optuna must be told to suggest so that `value` comes out."""
        if self.row["kind"] == "normal":
            share = statistics.NormalDist(self.row["mean"], self.row["deviation"]).cdf(value)
            return min(max(share, LOWEST_SHARE), 1 - LOWEST_SHARE)
        if self.row["kind"] == "options" and self.row["ordered"] and len(self.row["options"]) > 1:
            return self.row["options"].index(value)
        return value


class Searcher:
    def __init__(self, hello):
        self.optuna = import_optuna()
        sampler = make_sampler(self.optuna, hello["sampler"], hello["arguments"], hello["seed"])
        self.study = self.optuna.create_study(direction="maximize" if hello["mode"] == "max" else "minimize",
                                              sampler=sampler)
        self.space = [Parameter(row) for row in hello["space"]]
        self.dedup = hello["dedup"]
        self.seen = set()
        self.trials = {}

    def suggest(self):
        trial = self.study.ask()
        config = {}
        for parameter in self.space:
            if parameter.is_active(config):
                config[parameter.path] = parameter.suggest(trial)
        return trial, config

    def give_up(self, trial):
        self.study.tell(trial, state=self.optuna.trial.TrialState.FAIL)

    def keep(self, number, trial, config):
        self.trials[number] = trial
        self.seen.add(json.dumps(config, sort_keys=True))
        return config

    def ask(self, number):
        for _ in range(PATIENCE):
            trial, config = self.suggest()
            if not self.dedup or json.dumps(config, sort_keys=True) not in self.seen:
                return self.keep(number, trial, config)
            self.give_up(trial)
        return None

    def take(self, number, config):
        """Hydro chose this configuration: the sampler learns from it as if it were its own."""
        self.study.enqueue_trial({p.name: p.inverse(config[p.path]) for p in self.space if p.is_active(config)})
        trial, _ = self.suggest()
        return self.keep(number, trial, config)

    def repeat(self, number, config, given):
        """As it was asked before this process began. With the same seed the same suggestion comes again; where it does
        not (a sampler that reads a clock), the recorded one counts."""
        if given:
            self.take(number, config)
            return
        trial = self.ask_until(config)
        if trial is None:
            self.take(number, config)
        else:
            self.keep(number, trial, config)

    def ask_until(self, config):
        for _ in range(PATIENCE if self.dedup else 1):
            trial, again = self.suggest()
            if is_same(again, config):
                return trial
            self.give_up(trial)
        return None

    def tell(self, number, state, value, step):
        states = self.optuna.trial.TrialState
        trial = self.trials.pop(number)
        if state == "failed" or value is None:
            self.study.tell(trial, state=states.FAIL)
        elif state == "stopped":
            trial.report(value, step)
            self.study.tell(trial, state=states.PRUNED)
        else:
            self.study.tell(trial, value)


def is_same(left, right):
    """Equal but for the rounding of numbers, which Hydro corrects."""
    return left.keys() == right.keys() and all(is_same_value(left[key], right[key]) for key in left)


def is_same_value(left, right):
    numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in (left, right))
    return abs(left - right) <= 1e-9 * max(abs(left), abs(right)) if numbers else left == right


class Process:
    """One method a message type."""

    def __init__(self):
        self.searcher = None

    def hello(self, message):
        self.searcher = Searcher(message)
        return {"type": "hello", "protocol": 1}

    def ask(self, message):
        if "config" in message:
            config = self.searcher.take(message["id"], message["config"])
        else:
            config = self.searcher.ask(message["id"])
        return {"type": "suggestion", "id": message["id"], "config": config}

    def tell(self, message):
        self.searcher.tell(message["id"], message["state"], message["value"], message["step"])
        return {"type": "told", "id": message["id"]}

    def state(self, message):
        for event in message["events"]:
            if event["type"] == "ask":
                self.searcher.repeat(event["id"], event["config"], event["given"])
            else:
                self.tell(event)
        return {"type": "state"}


def main():
    process = Process()
    handlers = {"hello": process.hello, "ask": process.ask, "tell": process.tell, "state": process.state}
    answers, sys.stdout = sys.stdout, sys.stderr  # what a sampler prints is no answer
    for line in sys.stdin:
        message = json.loads(line)
        try:
            answer = handlers[message["type"]](message)
        except Refused as refused:
            answer = refused.message
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
