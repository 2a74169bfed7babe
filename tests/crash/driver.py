"""Does a crash anywhere lose nothing and repeat nothing?

    python tests/crash/driver.py [--database sqlite [--at-home]] [--runs 20] [--act NAME ...]
        [--list | --acts]

Plays every act once to learn the boundaries that it passes; then, at each of them, `runs` times in
one store, has a worker die there; then another process finds out what is left. Prints one JSON line
for each point: act, point, runs, killed, seconds, and what was found.
"""

import argparse
import contextlib
import gc
import importlib.util
import itertools
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psycopg
from acts import ACTS
from aftermath import FINDINGS, look
from forks import forked, killed, killed_when
from scene import MovedClock, Scene
from tripwire import Tripwire, lay

from toolkeeper_ledger import open_ledger


@contextlib.contextmanager
def sqlite_stores():
    """Makes an empty folder and a new store's address for each scene."""
    with _folders() as folder:

        def new(empty=False):
            place = folder()
            return place, f"sqlite:///{place / 'ledger.db'}"

        yield new


@contextlib.contextmanager
def postgresql_stores():
    """The same with a database of its own on a private server; `empty`: without tables."""
    clusters = _clusters()
    binaries = clusters.find_binaries()
    if binaries is None:
        raise SystemExit(clusters.INSTALL)
    with _folders() as folder, clusters.PostgresCluster(binaries) as cluster:
        _create(cluster, "model", None)
        forked(lambda: open_ledger(cluster.url("model"), clock=MovedClock()).close())

        def new(empty=False):
            place = folder()
            name = f"scene_{place.name}"
            _create(cluster, name, None if empty else "model")
            return place, cluster.url(name)

        yield new


def _clusters():
    path = Path(__file__).parents[1] / "postgres_cluster.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _create(cluster, name, model):
    template = f"TEMPLATE {model} STRATEGY file_copy" if model else ""
    with psycopg.connect(cluster.url(), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name} {template}")


@contextlib.contextmanager
def _folders():
    root = Path(tempfile.mkdtemp(prefix="crash-"))
    numbers = itertools.count(1)

    def folder():
        place = root / str(next(numbers))
        place.mkdir()
        return place

    try:
        yield folder
    finally:
        shutil.rmtree(root)


STORES = {"sqlite": sqlite_stores, "postgresql": postgresql_stores}


ANY_MOMENT = "at any moment"


def boundaries(act, new, at_home=False):
    """The boundaries that the act passes when nobody dies, with how often it passes each."""
    if act.endless:
        return {ANY_MOMENT: 1}
    folder, store = new(act.own_store)

    async def play():
        scene = Scene(folder, store)
        lay(scene.wire, at_home)
        await act.play(scene, 0)
        return dict(scene.wire.passed)

    _prepare(act, folder, store, 0)
    passed = forked(play)
    assert passed, f"nothing of the act {act.name} could be interrupted"
    found = forked(lambda: (act.look or look)(Scene(folder, store)))
    assert not wrong(found), f"without a crash the act {act.name} leaves {wrong(found)}"
    varying = ("commit", "a message", "on its way") if at_home else ("commit", "before a message")
    return {
        name: 1 if act.grouped and name.endswith(varying) else times
        for name, times in passed.items()
        if name.startswith(act.only)
    }


def wrong(found):
    """What is not as it has to be."""
    return {name: found[name] for name in FINDINGS if found.get(name)}


def crash(act, point, times, runs, new, at_home=False):
    """What is left after `runs` deaths at one point, which a worker passes `times` times."""
    began = time.perf_counter()
    found = Counter()
    deaths = 0
    places = []
    for number in range(runs):
        if act.own_store or not places:
            places.append(new(act.own_store))
        folder, store = places[-1]
        _prepare(act, folder, store, number)

        async def play(folder=folder, store=store, number=number):
            scene = Scene(folder, store, wire=Tripwire(point, _nth(number, runs, times)))
            lay(scene.wire, at_home)
            await act.play(scene, number)

        if act.endless:
            # Whatever it is doing then: effects are seen from outside, while it goes on.
            effects = Scene(folder, store).effects
            wanted = len(effects.lines()) + number

            def come(effects=effects, wanted=wanted):
                return len(effects.lines()) >= wanted

            deaths += killed_when(play, come)
        else:
            deaths += killed(play)
        _do_again(act, folder, store, number)
    for folder, store in places:
        found.update(
            forked(lambda folder=folder, store=store: (act.look or look)(Scene(folder, store)))
        )
    took = time.perf_counter() - began
    return {
        "act": act.name,
        "point": point,
        "places": times,
        "runs": runs,
        "killed": deaths,
        "seconds": round(took, 2),
        "unknown": found["unknown"],
        **{name: found[name] for name in FINDINGS},
    }


def _do_again(act, folder, store, number):
    if act.again is not None:

        async def play():
            await act.again(Scene(folder, store), number)

        forked(play)


def _nth(number, runs, times):
    """Which passing is a run's: in turn, and where there are more of them, spread over all."""
    return 1 + (number % times if times <= runs else number * times // runs)


def _prepare(act, folder, store, number):
    if act.prepare is not None:

        async def play():
            await act.prepare(Scene(folder, store), number)

        forked(play)


def preload(new):
    """Imports here whatever a worker imports, so that no fork has to."""
    folder, store = new()

    async def play():
        await ACTS[0].play(Scene(folder, store), 0)
        await look(Scene(folder, store))
        return sorted(sys.modules)

    for name in forked(play):
        if name not in sys.modules and not name.startswith("_"):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    # A fork that neither collects nor counts what its parent has copies hardly any of its pages.
    gc.collect()
    gc.freeze()


def main():
    parser = argparse.ArgumentParser(description="Let workers die everywhere.")
    parser.add_argument("--database", choices=STORES, default="sqlite")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--act", action="append", choices=[act.name for act in ACTS])
    parser.add_argument("--acts", action="store_true", help="only say which acts there are")
    parser.add_argument("--list", action="store_true", help="only say which points there are")
    parser.add_argument(
        "--at-home",
        action="store_true",
        help="on a server: a loop has its connections from the first",
    )
    chosen = parser.parse_args()
    if chosen.acts:
        print("\n".join(act.name for act in ACTS))
        return 0
    right = True
    with STORES[chosen.database]() as new:
        preload(new)
        for act in ACTS:
            if chosen.act and act.name not in chosen.act:
                continue
            if chosen.database not in act.databases:
                continue
            for point, times in boundaries(act, new, chosen.at_home).items():
                if chosen.list:
                    print(json.dumps({"act": act.name, "point": point, "places": times}))
                    continue
                told = crash(act, point, times, chosen.runs, new, chosen.at_home)
                print(json.dumps({"database": chosen.database, **told}), flush=True)
                right = right and told["killed"] == told["runs"] and not wrong(told)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
