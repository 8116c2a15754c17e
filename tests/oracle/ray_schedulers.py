"""Random streams of reports through Ray's schedulers and through ours: the decisions must be equal.

    ray_schedulers.py SCHEDULER_REPLAY VENV [N]      N: only every N-th part of the streams

VENV is made on the first run from tools/requirements-ray.txt. Prints what was compared, and every difference that we
chose with how often it was met; any other difference fails. Streams are drawn from fixed seeds.
"""
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIE = 1e-9   # closer than this to the bound, the last digit of a float decides


def enter(folder):
    """Runs this script again with the interpreter of its own venv."""
    python = pathlib.Path(folder).resolve() / "bin" / "python"
    if pathlib.Path(sys.prefix) == python.parent.parent:
        return
    if not (python.parent / "ray").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", ROOT / "tools" / "requirements-ray.txt"], check=True)
    os.execv(python, [str(python), *sys.argv])


class Trial:
    def __init__(self, number):
        self.trial_id = str(number)
        self.number = number
        self.status = "RUNNING"
        self.is_saving = False

    def __repr__(self):
        return f"trial {self.number}"


class Controller:
    """As much of Ray's controller as its schedulers ask for."""

    def __init__(self, scheduler):
        self.scheduler = scheduler
        self.stopped = []

    def get_live_trials(self):
        return []

    def stop_trial(self, trial):
        trial.status = "TERMINATED"
        self.stopped.append(trial.number)
        self.scheduler.on_trial_remove(self, trial)


def values_of(rng):
    """Independent values; in one stream of four few different ones, so that ties are common."""
    few = rng.random() < 0.25
    return lambda: rng.randrange(8) / 8 if few else rng.random()


def stream(rng, settings, jumps):
    """Reports of all trials, interleaved; each trial's times rise, up to the end or beyond it."""
    trials = rng.randint(1, 24)
    value = values_of(rng)
    clock = [0] * trials
    reports = []
    alive = list(range(trials))
    window = rng.randint(1, 8)   # trials that run at once
    while alive:
        trial = rng.choice(alive[:window])
        clock[trial] += rng.randint(2, 5) if rng.random() < jumps else 1
        failed = rng.random() < 0.01
        reports.append([trial, clock[trial], "NaN" if failed else value()])
        if clock[trial] >= settings["max_t"] or failed:
            alive.remove(trial)
    return {"scheduler": settings, "trials": trials, "reports": reports}


def ours(binary, streams):
    text = "".join(json.dumps(s) + "\n" for s in streams)
    done = subprocess.run([binary], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def settings_of(rng, kind, **more):
    grace = rng.randint(1, 4)
    return {"kind": kind, "type": "stopping", "grace_period": grace, "reduction_factor": rng.randint(2, 5),
            "max_t": grace * rng.randint(1, 14), "brackets": 1, "min_samples": rng.randint(1, 5), **more}


class Tally:
    def __init__(self, name):
        self.name, self.streams, self.decisions, self.stops, self.ties = name, 0, 0, 0, 0
        self.chosen = {}
        self.wrong = []

    def chose(self, what, count=1):
        self.chosen[what] = self.chosen.get(what, 0) + count

    def __str__(self):
        lines = [f"{self.name}: {self.streams} streams, {self.decisions} decisions, {self.stops} stops; "
                 f"{self.ties} streams left at a floating-point tie, {len(self.wrong)} unexplained differences"]
        lines += [f"  chosen: {what}: {count}" for what, count in sorted(self.chosen.items())]
        return "\n".join(lines + [f"  WRONG {w}" for w in self.wrong[:5]])


def compare(tally, drawn, answer, decide, margin):
    """`decide` is Ray's letter for a report; `margin` how far the value is from the bound that Ray saw."""
    tally.streams += 1
    ended = set()
    for index, (trial, t, value) in enumerate(drawn["reports"]):
        letter = answer["fates"][index]
        if trial in ended:
            if letter != ".":
                tally.wrong.append((drawn["scheduler"], index, "ended", letter))
                return
            continue
        if value == "NaN":   # the study fails it before its scheduler hears of it
            tally.chose("NaN fails the trial")
            ended.add(trial)
            continue
        distance = margin(trial, t, value)
        theirs = decide(trial, t, value)
        tally.decisions += 1
        tally.stops += theirs == "S"
        same = letter == theirs or (letter == "E" and theirs == "S")
        if not same:
            if distance is not None and distance < TIE:
                tally.ties += 1
            else:
                tally.wrong.append((drawn["scheduler"], index, theirs, letter, distance))
            return
        if letter in "SE":
            ended.add(trial)


def check_asha(binary, count):
    from ray.tune.schedulers import AsyncHyperBandScheduler
    tally = Tally("asha, stopping, against AsyncHyperBandScheduler")
    rng = random.Random(1)
    streams = [stream(rng, settings_of(rng, "asha"), jumps=0.15) for _ in range(count)]
    for index, (drawn, answer) in enumerate(zip(streams, ours(binary, streams), strict=True)):
        mode = "min" if index % 2 else "max"
        sign = -1 if mode == "min" else 1
        its = drawn["scheduler"]
        ray = AsyncHyperBandScheduler(time_attr="t", metric="m", mode=mode, max_t=its["max_t"], brackets=1,
                                      grace_period=its["grace_period"], reduction_factor=its["reduction_factor"])
        trials = [Trial(i) for i in range(drawn["trials"])]
        for trial in trials:
            ray.on_trial_add(None, trial)

        def decide(trial, t, value, ray=ray, trials=trials, sign=sign, max_t=its["max_t"]):
            result = {"t": t, "m": sign * value}
            action = ray.on_trial_result(None, trials[trial], result)
            if t >= max_t:
                ray.on_trial_complete(None, trials[trial], result)
            return action[0]

        def margin(trial, t, value, ray=ray, trials=trials):
            bracket = ray._trial_info[trials[trial].trial_id]
            for milestone, recorded in bracket._rungs:
                if t >= milestone and trials[trial].trial_id not in recorded:
                    cutoff = bracket.cutoff(recorded)
                    return None if cutoff is None else abs(value - cutoff)
            return None

        compare(tally, drawn, answer, decide, margin)
    return tally


def check_median(binary, count):
    import numpy as np
    from ray.tune.schedulers import MedianStoppingRule
    tally = Tally("median against MedianStoppingRule")
    rng = random.Random(2)
    streams = [stream(rng, settings_of(rng, "median"), jumps=0.05) for _ in range(count)]
    for index, (drawn, answer) in enumerate(zip(streams, ours(binary, streams), strict=True)):
        mode = "min" if index % 2 else "max"
        sign = -1 if mode == "min" else 1
        its = drawn["scheduler"]
        ray = MedianStoppingRule(time_attr="t", metric="m", mode=mode, grace_period=its["grace_period"],
                                 min_samples_required=its["min_samples"])
        controller = Controller(ray)
        trials = [Trial(i) for i in range(drawn["trials"])]
        best = {}
        skipped = set()

        def decide(trial, t, value, ray=ray, trials=trials, sign=sign, max_t=its["max_t"], controller=controller):
            action = ray.on_trial_result(controller, trials[trial], {"t": t, "m": sign * value})
            return "S" if t >= max_t else action[0]

        def margin(trial, t, value, ray=ray, trials=trials, sign=sign, best=best, its=its, skipped=skipped):
            best[trial] = max(best.get(trial, -math.inf), value)
            others = [o for o in ray._trials_beyond_time(t) if o is not trials[trial]]
            if t < its["grace_period"] or not others:
                return None
            means = [ray._running_mean(o, t) for o in others]
            if any(math.isnan(m) for m in means):
                skipped.add(t)
                return 0.0   # a mean of nothing: theirs is NaN and stops, ours does not count it
            return abs(best[trial] - sign * float(np.median(means)))

        before = tally.ties
        compare(tally, drawn, answer, decide, margin)
        if skipped and tally.ties > before:
            tally.ties -= 1
            tally.chose("a trial that jumped over the grace period is not counted (stream left)")
    return tally


def check_hyperband(binary, count):
    from ray.tune.schedulers import HyperBandScheduler
    tally = Tally("hyperband, synchronous, against HyperBandScheduler")
    rng = random.Random(3)
    for index in range(count):
        eta, power = rng.choice([(2, 3), (2, 4), (3, 2), (3, 3), (4, 2), (5, 1)])
        its = settings_of(rng, "hyperband", type="synchronous", grace_period=1, reduction_factor=eta, max_t=eta**power)
        one_hyperband(tally, binary, rng, its, "min" if index % 2 else "max", HyperBandScheduler)
    return tally


def one_hyperband(tally, binary, rng, its, mode, scheduler):
    """Runs Ray, whose decisions say who may report next, then ours on the same reports."""
    sign = -1 if mode == "min" else 1
    ray = scheduler(time_attr="t", metric="m", mode=mode, max_t=its["max_t"], reduction_factor=its["reduction_factor"])
    controller = Controller(ray)
    trials = [Trial(i) for i in range(rng.randint(1, 40))]
    for trial in trials:
        ray.on_trial_add(controller, trial)
    clock = [0] * len(trials)
    reports, theirs, stops, stuck = [], [], [], set()
    while running := [t for t in trials if t.status == "RUNNING" and clock[t.number] < its["max_t"]]:
        trial = rng.choice(running)
        clock[trial.number] += 1
        value = rng.random()
        controller.stopped = []
        if rng.random() < 0.02:
            reports.append([trial.number, clock[trial.number], "NaN"])
            theirs.append("F")
            trial.status = "ERROR"
            ray.on_trial_error(controller, trial)
            bracket = ray._trial_info[trial][0]
            if bracket.is_being_processed and bracket._live_trials and bracket.cur_iter_done() and bracket._halves:
                stuck.add(len(reports) - 1)
        else:
            reports.append([trial.number, clock[trial.number], value])
            action = ray.on_trial_result(controller, trial, {"t": clock[trial.number], "m": sign * value})
            theirs.append(action[0])
            at_end = clock[trial.number] >= its["max_t"]
            trial.status = {"C": "RUNNING", "P": "PAUSED", "S": "TERMINATED"}[action[0]]
            if action == "STOP" and not at_end:
                ray.on_trial_complete(controller, trial, {"t": clock[trial.number], "m": sign * value})
        stops.append(sorted(n for n in controller.stopped if clock[n] < its["max_t"]))
        for other in trials:   # Ray unpauses by making a waiting trial pending; here it runs at once
            bracket = ray._trial_info[other][0]
            waits = other.status in ("PAUSED", "PENDING") and other in bracket._live_trials
            if waits and bracket.continue_trial(other):
                other.status = "RUNNING"
    answer = ours(binary, [{"scheduler": its, "trials": len(trials), "reports": reports}])[0]
    tally.streams += 1
    for index, letter in enumerate(answer["fates"]):
        tally.decisions += 1
        tally.stops += letter == "S"
        lost = sorted(trial for what, trial in answer["moves"][index] if what == "S")
        if letter == "E":
            tally.chose("a trial at max_t is done; Ray pauses it until its bracket is complete", theirs[index] == "P")
        elif index in stuck:
            tally.chose("a failed trial is no longer waited for; Ray's bracket stands still (stream left)")
            return
        elif letter != theirs[index] or lost != stops[index]:
            tally.wrong.append((its, index, theirs[index], letter, stops[index], lost))
            return


def main():
    binary, folder = sys.argv[1:3]
    share = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    enter(folder)
    tallies = [check_asha(binary, 10_000 // share), check_median(binary, 1_000 // share),
               check_hyperband(binary, 1_000 // share)]
    for tally in tallies:
        print(tally)
    sys.exit(1 if any(tally.wrong for tally in tallies) else 0)


if __name__ == "__main__":
    main()
