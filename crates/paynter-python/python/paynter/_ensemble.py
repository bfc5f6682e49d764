"""One question asked of many samples, on one core or on a cluster.

Samples depend on the seed, their number and the number of all samples only, and what chunks of them tell is joined along
one tree, so that any split over workers gives the same digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arguments, _paynter
from ._errors import EnsembleError, PaynterError
from ._progress import Bar
from ._result import Result, _axes, _need, _table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._model import Model

    Array = NDArray[np.float64]

#: What a model is asked: a question of the core, or a function of the model at its values.
Question = "str | Callable[[Model], Any]"

#: Samples travel in so many chunks where nothing else is said: enough for some dozen workers, few enough to send.
CHUNKS = 32

#: How often chunks of lost workers are sent again where the executor does not do so itself.
RETRIES = 3


class Statistics:
    """What samples tell about one answer, along its axis, in SI."""

    def __init__(self, entry: Mapping[str, Any]) -> None:
        def row(values: Any) -> Array:
            return np.asarray(values, dtype=np.float64)

        #: The mean.
        self.mean = row(entry["mean"])
        #: The variance, by n − 1.
        self.variance = row(entry["variance"])
        #: The smallest and the largest: the envelope.
        self.least, self.most = row(entry["least"]), row(entry["most"])
        #: Values below which a share of the samples lies, by the share.
        self.quantiles = {float(share): row(values) for share, values in entry["quantiles"].items()}
        #: The histogram of the last number: edges and counts.
        self.histogram = (row(entry["edges"]), np.asarray(entry["counts"], dtype=np.int64))

    @property
    def deviation(self) -> Array:
        """The standard deviation."""
        return np.asarray(np.sqrt(self.variance))

    def __repr__(self) -> str:
        return f"<paynter.Statistics mean={self.mean[-1]:.6g}, deviation={self.deviation[-1]:.3g} at the end>"


class Ensemble(Result):
    """What many samples of a model tell together."""

    @property
    def samples(self) -> int:
        """The number of samples; with Sobol' indices that of base samples."""
        return int(self.document["samples"])

    @property
    def answered(self) -> int:
        """The samples that have answers."""
        return int(self.document["answered"])

    @property
    def axis(self) -> Array | None:
        """The times or frequencies of the answers; nothing for single numbers."""
        return None if self.document["axis"] is None else np.asarray(self.document["axis_values"], dtype=np.float64)

    @property
    def statistics(self) -> dict[str, Statistics]:
        """By answer: what the samples tell together."""
        return {name: Statistics(entry) for name, entry in self.document["statistics"].items()}

    def __getitem__(self, key: str) -> Any:
        """The statistics of an answer, or a key of the document."""
        if key in self.document["statistics"]:
            return Statistics(self.document["statistics"][key])
        return self.document[key]

    @property
    def failures(self) -> list[dict[str, Any]]:
        """Samples without an answer, with their values and the reason."""
        listed = [dict(failure) for failure in self.document["failures"]]
        if self._asked is not None:
            for failure in listed:
                failure["values"] = self._asked[0]._quantities(failure["values"])
        return listed

    @property
    def ends(self) -> dict[str, Array]:
        """By answer: its last number in every sample; NaN where there is none."""
        rows = np.array([np.asarray(row, dtype=np.float64) for row in self.document["ends"]])
        return {name: rows[:, place] for place, name in enumerate(self.document["answers"])}

    @property
    def yield_(self) -> dict[str, float]:
        """By limit that was asked for: the share of samples that keep it."""
        return {name: float(entry["share"]) for name, entry in self.document.get("yield", {}).items()}

    @property
    def indices(self) -> dict[str, dict[str, dict[str, Any]]]:
        """By answer and parameter: Sobol' indices of its last number, with their intervals."""
        return dict(self.document.get("indices", {}))

    def to_pandas(self) -> Any:
        """Mean, deviation, envelope and quantiles along the axis as a pandas DataFrame."""
        pandas = _need("pandas", "to_pandas")
        columns: dict[tuple[str, str], Array] = {}
        for name, told in self.statistics.items():
            columns |= {(name, "mean"): told.mean, (name, "deviation"): told.deviation}
            columns |= {(name, "least"): told.least, (name, "most"): told.most}
            columns |= {(name, str(share)): values for share, values in told.quantiles.items()}
        index = None if self.axis is None else pandas.Index(self.axis, name=self.document["axis"])
        return pandas.DataFrame(columns, index=index)

    def plot(self, ax: Any = None) -> Any:
        """Draws means with the band between 5 % and 95 % and the envelope, or histograms of single numbers."""
        ax = _axes(ax)
        for name, told in self.statistics.items():
            if self.axis is None or len(self.axis) < 2:
                edges, counts = told.histogram
                ax.stairs(counts, edges, label=name)
                continue
            [line] = ax.plot(self.axis, told.mean, label=name)
            ax.fill_between(self.axis, told.quantiles[0.05], told.quantiles[0.95], alpha=0.3, color=line.get_color())
            for edge in (told.least, told.most):
                ax.plot(self.axis, edge, lw=0.5, color=line.get_color())
        if self.axis is not None:
            ax.set_xlabel(self.document["axis"])
        ax.legend()
        return ax

    def _repr_html_(self) -> str:
        rows = [
            [name, float(told.mean[-1]), float(told.deviation[-1]), float(told.least[-1]),
             float(told.quantiles[0.5][-1]), float(told.most[-1])]
            for name, told in self.statistics.items()
        ]
        heading = f"<p>{self.samples} samples, {len(self.failures)} without an answer</p>"
        return heading + _table(("answer (at its end)", "mean", "deviation", "least", "median", "most"), rows)

    def __repr__(self) -> str:
        return f"<paynter.Ensemble of {self.document['model']!r}: {self.samples} samples, {len(self.failures)} without an answer>"


def distributions(vary: Mapping[str, Any] | None) -> list[tuple[str, str, float, float]]:
    """Distributions: ``(low, high)``, ``("normal", mean, deviation)``, ``("lognormal", median, deviation)``."""
    made: list[tuple[str, str, float, float]] = []
    for name, given in _arguments.mapping(vary, "vary", "{'Ra': (1.8, 2.2)}").items():
        listed = list(given) if isinstance(given, (tuple, list)) else []
        if len(listed) == 2:
            listed = ["uniform", *listed]
        if len(listed) != 3 or not isinstance(listed[0], str):
            raise TypeError(
                f"{name!r} is drawn as (low, high), ('normal', mean, deviation) or ('lognormal', median, deviation), "
                f"not {given!r}"
            )
        made.append((name, listed[0], *(_arguments.declared(name, end, f"the distribution of {name!r}") for end in listed[1:])))
    return made


def correlations(correlate: Mapping[tuple[str, str], float] | None) -> list[tuple[str, str, float]]:
    """Correlations by pairs of parameters."""
    example = "{('Ra', 'La'): 0.5}"
    made = []
    for pair, value in _arguments.mapping(correlate, "correlate", example).items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"correlate names pairs of parameters, as in {example}, not {pair!r}")
        made.append((pair[0], pair[1], _arguments.real(value, f"the correlation of {pair}")))
    return made


def _numbers(answer: Any) -> tuple[list[str], list[float] | None, list[float]]:
    """The names of an answer, its axis and its numbers one after the other."""
    given = answer if isinstance(answer, Mapping) else {"answer": answer}
    wanted = "the function returns a number, a row of numbers, or a mapping to rows of one length"
    if any(values is None or np.iscomplexobj(values) for values in given.values()):
        raise TypeError(f"{wanted}, not {answer!r}")
    try:
        named = {str(name): np.asarray(values, dtype=np.float64) for name, values in given.items()}
    except (TypeError, ValueError):
        raise TypeError(f"{wanted}, not {answer!r}") from None
    shapes = {values.shape for values in named.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) > 1:
        raise TypeError(f"{wanted}; it returned shapes {sorted(shapes)}")
    shape = next(iter(shapes))
    axis = None if shape == () else np.arange(shape[0], dtype=float).tolist()
    return list(named), axis, np.concatenate([np.atleast_1d(values) for values in named.values()]).tolist()


class _Named:
    """A question by its name, whose answers are all the numbers in its document."""

    def __init__(self, model: "Model", name: str, keywords: dict[str, Any], words: Sequence[str]) -> None:
        known = [
            word for word in dir(type(model))
            if not word.startswith("_") and word not in (*words, "ensemble", "estimate", "compile", "with_")
            and callable(getattr(type(model), word))
        ]
        if name not in known:
            raise ValueError(f"ask is one of {', '.join(known)}, or a function of the model, not {name!r}")
        self.name, self.keywords = name, keywords
        #: The numbers that are told; nothing where it is not known yet which of them all answers have.
        self.told: list[str] | None = None

    def learn(self, model: "Model", samples: Sequence["Model"]) -> None:
        """Learns which numbers answers have in common: lists may be longer in one than in another."""
        answers = []
        for asked in (model, *samples):
            try:
                answers.append(self(asked))
            except PaynterError:
                continue
        if answers:
            self.told = [name for name in answers[0] if all(name in answer for answer in answers)]

    def __call__(self, model: "Model") -> dict[str, float]:
        """The numbers of the answer."""
        found = self._all(model)
        if self.told is None:
            return found
        missing = [name for name in self.told if name not in found]
        if missing:
            raise PaynterError(f"the answer has no {missing[0]}")
        return {name: found[name] for name in self.told}

    def _all(self, model: "Model") -> dict[str, float]:
        found: dict[str, float] = {}
        _collect(getattr(model, self.name)(**self.keywords).document, "", found)
        if not found:
            raise ValueError(f"the answer to {self.name!r} holds no numbers")
        return found


#: What a document says beside its numbers.
_ASIDE = ("checks", "diagnostics", "stats", "ok")


def _collect(value: Any, path: str, found: dict[str, float]) -> None:
    """Takes in the numbers of a document by their paths; what is listed by name goes by that."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in _ASIDE:
                _collect(inner, f"{path}.{key}" if path else str(key), found)
    elif isinstance(value, np.ndarray) or isinstance(value, (list, tuple)):
        for place, inner in enumerate(value):
            named = [inner[key] for key in ("output", "input", "parameter", "name") if key in inner] \
                if isinstance(inner, Mapping) else []
            label = "/".join(named) if named and all(isinstance(word, str) for word in named) else str(place)
            _collect(inner, f"{path}.{label}", found)
    elif isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_)):
        found[path] = float(value)


def _group(asked: Mapping[str, Any], names: int) -> int:
    return names + 2 if asked["indices"] else 1


def run_chunk(model: "Model", asked: dict[str, Any], question: Any, chunk: int, chunks: int) -> str:
    """What one chunk of the samples tells; workers run this."""
    asked = asked | {"shard": (chunk, chunks)}
    native = model._native
    if not callable(question):
        return str(native.ensemble_part(asked))
    names, _ = native.ensemble_values(asked, 0, 0)
    group = _group(asked, len(names))
    first, last = (asked["samples"] * part // chunks * group for part in (chunk, chunk + 1))
    _, values = native.ensemble_values(asked, first, last)
    answers: list[tuple[list[float] | None, str]] = []
    known: tuple[list[str], list[float] | None] | None = None
    for row in values:
        try:
            answer = question(model.with_(dict(zip(names, row))))
        except (PaynterError, ArithmeticError) as error:
            answers.append((None, f"{type(error).__name__}: {error}".splitlines()[0]))
            continue
        labels, axis, numbers = _numbers(answer)
        if known is not None and known != (labels, axis):
            raise ValueError(f"the function returned {labels} of another shape than before")
        known = (labels, axis)
        answers.append((numbers, ""))
    if known is None:
        # How answers look is learnt from the nominal model.
        known = _numbers(question(model))[:2]
    return str(native.ensemble_gather(asked, known[0], known[1], first, answers))


class _Chunk:
    """The work on one chunk, by its number, on one thread: what is sent to workers."""

    def __init__(self, model: "Model", asked: dict[str, Any], question: Any, chunks: int) -> None:
        self.model, self.asked, self.question, self.chunks = model, asked, question, chunks

    def __call__(self, chunk: int) -> str:
        done: str = _paynter.alone(
            lambda: run_chunk(self.model, self.asked, self.question, chunk, self.chunks)
        )
        return done


def _is(thing: Any, module: str) -> bool:
    return any(kind.__module__.split(".")[0] == module for kind in type(thing).__mro__)


def _mapped(work: _Chunk, numbers: Sequence[int], executor: Any, done: Callable[[int, str], None]) -> None:
    """Runs chunks on an executor and hands each on as it is finished. Chunks of lost workers run again with Dask, Ray
    and joblib; with others what is finished has been handed on before the exception."""
    if getattr(executor, "__name__", None) == "ray" and hasattr(executor, "remote"):
        remote = executor.remote(max_retries=RETRIES)(_ray_chunk)
        shared = executor.put(work)
        waiting = {remote.remote(shared, number): number for number in numbers}
        try:
            while waiting:
                ready, _ = executor.wait(list(waiting), num_returns=1)
                for reference in ready:
                    text = executor.get(reference)
                    done(waiting.pop(reference), text)
        finally:
            for reference in waiting:
                executor.cancel(reference)
    elif _is(executor, "distributed") and hasattr(executor, "submit"):
        import distributed

        [shared] = executor.scatter([work], broadcast=True, hash=False)
        futures = {executor.submit(_called, shared, number, pure=False): number for number in numbers}
        finished: Any = getattr(distributed, "as_completed")
        try:
            for future in finished(list(futures)):
                done(futures[future], future.result())
        finally:
            executor.cancel([future for future in futures if not future.done()])
    elif _is(executor, "joblib"):
        _joblib(work, numbers, executor, done)
    elif hasattr(executor, "submit"):
        _submitted(work, numbers, executor, done)
    elif callable(executor):
        for number, text in zip(numbers, executor(work, numbers)):
            done(number, text)
    else:
        raise TypeError(
            "map= is an executor of concurrent.futures or mpi4py, a Dask client, a joblib.Parallel, the module ray, "
            f"or a function such as map, not {type(executor).__name__}"
        )


def _submitted(work: _Chunk, numbers: Sequence[int], executor: Any, done: Callable[[int, str], None]) -> None:
    """Runs chunks on an executor of concurrent.futures, or one like these."""
    from concurrent.futures import as_completed

    pending = {executor.submit(work, number): number for number in numbers}
    lost: BaseException | None = None
    try:
        for future in as_completed(pending):
            try:
                done(pending[future], future.result())
            except Exception as error:
                # What the question itself raised ends the work; where a worker was lost, what others finish is kept.
                if not _is_loss(error):
                    raise
                lost = lost or error
    finally:
        for future in pending:
            future.cancel()
    if lost is not None:
        raise lost


def _joblib(work: _Chunk, numbers: Sequence[int], executor: Any, done: Callable[[int, str], None]) -> None:
    """Runs chunks on joblib: on as many of loky's processes, so that those of lost workers run again."""
    from joblib import delayed, effective_n_jobs
    from joblib.externals.loky import ProcessPoolExecutor
    from joblib.externals.loky.process_executor import BrokenProcessPool

    if type(getattr(executor, "_backend", None)).__name__ != "LokyBackend":
        # Threads and others do not lose workers.
        for number, text in executor(delayed(_numbered)(work, number) for number in numbers):
            done(number, text)
        return
    left = list(numbers)

    def finished(number: int, text: str) -> None:
        left.remove(number)
        done(number, text)

    for attempt in range(RETRIES + 1):
        with ProcessPoolExecutor(max_workers=effective_n_jobs(executor.n_jobs)) as pool:
            try:
                _submitted(work, list(left), pool, finished)
                return
            except BrokenProcessPool:
                if attempt == RETRIES:
                    raise


def _called(work: _Chunk, number: int) -> str:
    return work(number)


def _ray_chunk(work: _Chunk, number: int) -> str:
    return work(number)


def _numbered(work: _Chunk, number: int) -> tuple[int, str]:
    return number, work(number)


def ensemble(model: "Model", question: Any, prepared: dict[str, Any], asked: Mapping[str, Any]) -> Ensemble:
    """Asks a question of many samples and joins what chunks of them tell: ``prepared`` is for the native module,
    ``asked`` what was asked for."""
    confidence = _arguments.percent(asked["confidence"], "confidence")
    chunks = None if asked["chunks"] is None else _arguments.whole(asked["chunks"], "chunks", 1)
    executor, samples = asked["map"], prepared["samples"]
    ends = []
    for name, pair in _arguments.mapping(asked["limit"], "limit", "{'w': (90, 110)}").items():
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"the limit of {name!r} is a pair (low, high), not {pair!r}")
        if None not in pair and not pair[0] < pair[1]:
            raise ValueError(f"the limit of {name!r} leaves nothing between {pair[0]} and {pair[1]}")
        low, high = (None if end is None else _arguments.real(end, f"a limit of {name!r}") for end in pair)
        ends.append((name, -np.inf if low is None else low, np.inf if high is None else high))
    with Bar(asked["progress"]) as bar:
        if executor is None and not callable(question):
            from ._model import _told

            return Ensemble(_told(model._native.ensemble(prepared, ends, confidence, bar), 4))
        if isinstance(question, _Named):
            names, _ = model._native.ensemble_values(prepared, 0, 0)
            places = sorted({0, samples // 2, samples - 1})
            rows = [model._native.ensemble_values(prepared, place, place + 1)[1][0] for place in places]
            question.learn(model, [model.with_(dict(zip(names, row))) for row in rows])
        count = min(samples, chunks or CHUNKS)
        parts = dict(asked["partial"] or {})
        work = _Chunk(model, prepared, question, count)
        missing = [number for number in range(count) if number not in parts]

        def done(number: int, text: str) -> None:
            parts[number] = text
            if bar is not None:
                bar("ensemble", len(parts), count)

        try:
            _mapped(work, missing, executor or _plain_map, done)
        except Exception as error:
            if not _is_loss(error):
                raise
            lost = count - len(parts)
            raise EnsembleError(
                f"{lost} of {count} chunks were lost ({type(error).__name__}: {error}). What was finished is in "
                "`partial` of this exception; ask again with `partial=` for the rest",
                parts,
            ) from error
    return Ensemble(_paynter.join_ensemble(list(parts.values()), ends, confidence))


def _is_loss(error: Exception) -> bool:
    """Whether a worker or its executor was lost, rather than that the question itself raised."""
    from concurrent.futures import BrokenExecutor, CancelledError

    if isinstance(error, (BrokenExecutor, CancelledError, ConnectionError, EOFError)):
        return True
    # Ray and Dask have exceptions of their own for lost workers; what a task raised is in RayTaskError.
    kind = type(error)
    return kind.__module__.split(".")[0] in ("distributed", "ray") and "TaskError" not in kind.__name__


def _plain_map(function: Callable[[int], str], numbers: Iterable[int]) -> Iterable[str]:
    return (function(number) for number in numbers)
