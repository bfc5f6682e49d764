"""Models and their questions."""

from __future__ import annotations

import os
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from . import _arguments, _asked, _ensemble, _inputs, _paynter, _pictures
from ._ensemble import Ensemble
from ._errors import Diagnostic, ModelError, ModelWarning
from ._progress import Bar
from ._quantity import Quantity
from ._rates import Rates
from ._derivation import Causality, Check, Equations, Structure
from ._estimation import Estimation, Plan
from ._linear import FrequencyResponse, OperatingPoint, Poles, Sensitivity, SensitivityResponse, TransferFunctions
from ._pictures import Drawing, Report
from ._robustness import Interconnection, OpenLoop, Robustness
from ._runs import Runs, Simulation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Unpack

    from ._arguments import Frequencies, Names
    from ._keywords import Experiment, Measurement

#: So many models are kept compiled in a process for those that arrive from others.
_KEPT_MODELS = 32

_kept: OrderedDict[Any, Any] = OrderedDict()


#: An input that data do not drive: whoever gives `inputs=` leaves the others to the model on purpose.
_UNMEASURED_INPUT = "BG0912"


def _told(native: Any, level: int = 3, but: str = "") -> Any:
    """Warns of what an answer warns of, but for one code."""
    for finding in native.findings:
        if finding["severity"] == "warning" and finding["code"] != but:
            warnings.warn(ModelWarning(Diagnostic(**finding)), stacklevel=level)
    return native


def _restored(state: dict[str, Any]) -> "Model":
    """The model of a state that came from elsewhere. Each process derives a model once, whatever its values."""
    key = (state["main"], state["model"], tuple(sorted(state["files"].items())))
    base = _kept.get(key)
    if base is None:
        base = _native(state | {"set": []})
        _kept[key] = base
        while len(_kept) > _KEPT_MODELS:
            _kept.popitem(last=False)
    else:
        _kept.move_to_end(key)
    settings = state["set"]
    return Model(base.with_values(settings) if settings else base)


def _native(state: Mapping[str, Any]) -> Any:
    files: Mapping[str, bytes] = state["files"]

    def read(path: str) -> bytes:
        try:
            return files[path]
        except KeyError:
            raise FileNotFoundError(path) from None

    return _paynter.load(state["main"], state["shown"], read, state["model"], list(state["set"]))


class Model:
    """A bond graph, loaded or made, which answers questions.

    Models do not change: :meth:`with_` gives one at other values. They are made by :func:`paynter.load`,
    :func:`paynter.parse`, :class:`paynter.Graph` or ``paynter.examples``. Keywords are those of the command line.
    """

    def __init__(self, native: Any) -> None:
        self._native = native

    # Values and texts

    @property
    def name(self) -> str:
        """The model's name."""
        return str(self._native.name)

    @property
    def text(self) -> str:
        """The text of the model's file."""
        return str(self._native.text)

    def with_(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> "Model":
        """The model at other values of parameters and inputs, in the units that it declares.

        Values are numbers, or text as one would write it in the model: ``model.with_(Ra=3, La="6 [mH]")``. Names
        that are no identifiers go into a mapping: ``model.with_({"cell_1.k": 2})``.
        """
        given = {**_arguments.mapping(values, "the first argument", "{'cell_1.k': 2}"), **named}
        own = self._quantities({name: float(value) for name, value in given.items() if isinstance(value, Quantity)})
        # The value of one parameter may be given to another, which may be declared in another unit.
        settings = [(name, _arguments.setting(name, own.get(name, value))) for name, value in given.items()]
        made = Model(self._native.with_values(settings))
        made._refuse_errors()
        return made

    def _refuse_errors(self) -> None:
        found = self._native.check()
        if not found.document["ok"]:
            raise ModelError(found.findings)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self._native.state(),))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and bool(self._native.state() == other._native.state())

    def __hash__(self) -> int:
        state = self._native.state()
        return hash((state["main"], tuple(sorted(state["files"].items())), tuple(state["set"])))

    def __repr__(self) -> str:
        return f"<paynter.Model {self.name!r}>"

    def _repr_svg_(self) -> str | None:
        try:
            return self.draw().svg
        except ModelError:
            return None

    @property
    def parameters(self) -> dict[str, float]:
        """The independent parameters with their values, in SI as all that is read. :meth:`with_` takes numbers in the
        units that the model declares, and these values for what they are."""
        return self._quantities(self._native.equations().document["parameters"])

    def _quantities(self, values: Mapping[str, float]) -> dict[str, float]:
        """Values of parameters and inputs in SI, with the factors of their declared units."""
        factors = dict(self._native.factors)
        return {name: Quantity(value, factors.get(name, 1.0), name) for name, value in values.items()}

    # Questions

    def _ask(self, question: str, kind: type[Any], asked: dict[str, Any], progress: bool, *arguments: Any) -> Any:
        with Bar(progress) as bar:
            native = getattr(self._native, question)(*arguments, progress=bar)
        return kind(_told(native, 4), (self, asked.pop("question", question), asked))

    def check(self) -> Check:
        """Whether it is a well-formed bond graph; errors are in the answer, not raised."""
        return Check(self._native.check(), (self, "check", {}))

    def causality(self, *, progress: bool = False) -> Causality:
        """Every bond's causal stroke, when it was decided and why."""
        found: Causality = self._ask("causality", Causality, {}, progress)
        return found

    def equations(
        self, *, mass: bool = False, numeric: bool = False, steps: bool = False, progress: bool = False
    ) -> Equations:
        """The state equations, in symbols."""
        asked = {"mass": mass, "numeric": numeric, "steps": steps}
        found: Equations = self._ask("equations", Equations, asked, progress, mass, numeric, steps)
        return found

    def structure(self, *, junction_matrix: bool = False, progress: bool = False) -> Structure:
        """Rank, controllability, observability, causal paths, relative degree, zero dynamics."""
        asked = {"junction_matrix": junction_matrix}
        found: Structure = self._ask("structure", Structure, asked, progress, junction_matrix)
        return found

    def tf(
        self, *, method: str = "matrix", terms: int = 200_000, numeric: bool = False, progress: bool = False
    ) -> TransferFunctions:
        """The transfer functions in symbols, or in numbers; of a nonlinear model at its operating point."""
        _arguments.choice(method, ("matrix", "mason"), "method")
        terms = _arguments.whole(terms, "terms")
        asked = {"method": method, "terms": terms, "numeric": numeric}
        found: TransferFunctions = self._ask("tf", TransferFunctions, asked, progress, method, terms, numeric)
        return found

    def poles(self, *, progress: bool = False) -> Poles:
        """Poles and zeros, damping, natural frequencies, and estimates read off the graph."""
        found: Poles = self._ask("poles", Poles, {}, progress)
        return found

    def bode(
        self,
        omega: Frequencies = None,
        *,
        hz: bool = False,
        input: Names = None,
        output: Names = None,
        progress: bool = False,
    ) -> FrequencyResponse:
        """The frequency response, at frequencies in rad/s, or Hz with ``hz``, that the model chooses where none are
        given."""
        grid, listed = _arguments.frequencies(omega, hz=hz)
        asked = {"omega": omega, "hz": hz, "input": input, "output": output}
        found: FrequencyResponse = self._ask(
            "bode", FrequencyResponse, asked, progress, grid, listed, _arguments.names(output), _arguments.names(input)
        )
        return found

    def operating_point(self, *, sensitivity: Names = None, progress: bool = False) -> OperatingPoint:
        """The steady state with the inputs at time zero; its derivatives by ``"all"`` or some parameters."""
        names = None if sensitivity is None else _arguments.names(sensitivity)
        only = [] if names is not None and "all" in names else names
        found: OperatingPoint = self._ask(
            "operating_point", OperatingPoint, {"sensitivity": sensitivity}, progress, only
        )
        return found

    def sensitivity(
        self,
        *,
        only: Names = None,
        normalized: bool = False,
        matrices: bool = False,
        frozen: bool = False,
        terms: int = 200_000,
        omega: Frequencies = None,
        hz: bool = False,
        verify: int = 0,
        seed: int = 1,
        progress: bool = False,
    ) -> Any:
        """Sensitivities of the transfer functions to the parameters.

        Of a model without inputs it is the :class:`OperatingPoint` with its derivatives.
        In symbols (:class:`Sensitivity`); with frequencies ``omega``, or ``verify`` Monte Carlo samples, in numbers
        with a ranking and tolerance bands (:class:`SensitivityResponse`); frequencies are in rad/s, or Hz with ``hz``.
        """
        terms, verify = _arguments.whole(terms, "terms"), _arguments.whole(verify, "verify")
        seed = _arguments.whole(seed, "seed")
        asked: dict[str, Any] = {"only": only, "normalized": normalized, "matrices": matrices, "frozen": frozen}
        asked |= {"terms": terms, "omega": omega, "hz": hz, "verify": verify, "seed": seed, "question": "sensitivity"}
        if omega is None and not verify:
            if self._native.undriven:
                # A model that nothing drives has no transfer functions; what its parameters move is its steady state.
                return self.operating_point(sensitivity=only or "all", progress=progress)
            return self._ask(
                "sensitivity", Sensitivity, asked, progress, _arguments.names(only), normalized, matrices, frozen, terms
            )
        grid, listed = _arguments.frequencies(omega, hz=hz)
        return self._ask(
            "sensitivity_response", SensitivityResponse, asked, progress,
            _arguments.names(only), normalized, frozen, grid, listed, verify, seed,
        )

    def lft(
        self, *, only: Names = None, normalized: bool = False, procedure: str = "new", progress: bool = False
    ) -> Interconnection:
        """The standard interconnection model: the nominal model in feedback with uncertain parameters."""
        _arguments.choice(procedure, ("new", "existing"), "procedure")
        asked = {"only": only, "normalized": normalized, "procedure": procedure}
        found: Interconnection = self._ask(
            "lft", Interconnection, asked, progress, _arguments.names(only), normalized, procedure
        )
        return found

    def uncertain_graph(self, *, only: Names = None, normalized: bool = False, procedure: str = "new") -> "Model":
        """The uncertain bond graph as a model of its own."""
        _arguments.choice(procedure, ("new", "existing"), "procedure")
        return Model(self._native.uncertain_graph(_arguments.names(only), normalized, procedure))

    def uncertain_blocks(self, *, only: Names = None, normalized: bool = False, procedure: str = "new") -> Drawing:
        """The block diagram of the uncertain model."""
        _arguments.choice(procedure, ("new", "existing"), "procedure")
        svg = self._native.uncertain_blocks(_arguments.names(only), normalized, procedure)
        if svg is None:
            raise ModelError(self._native.check().findings)
        return Drawing(svg)

    def robust(
        self,
        *,
        only: Names = None,
        omega: Frequencies = None,
        hz: bool = False,
        output: str | None = None,
        input: str | None = None,
        gain: float | str | None = None,
        dynamics: Mapping[str, float | str] | None = None,
        gap: float = 1e-3,
        nodes: int = 500,
        work: int | None = None,
        progress: bool = False,
    ) -> Robustness:
        """How far parameters may drift before the model is unstable, and its worst-case gain.

        ``work`` is the number of operations after which it ends, with what is proved and found by then.
        ``gain`` is in the unit of the output per that of the input, or has one of its own: ``"2.5 [rpm/V]"``.
        """
        if (output is None) != (input is None):
            raise TypeError("a worst-case gain needs both output= and input=")
        pair = None if output is None else (output, input)
        gain = None if gain is None else _arguments.setting("gain", gain)
        gap = _arguments.real(gap, "gap")
        nodes = _arguments.whole(nodes, "nodes")
        dynamics = _arguments.mapping(dynamics, "dynamics", "{'u': '0.1*s/(s + 1)'}")
        asked: dict[str, Any] = {"only": only, "omega": omega, "hz": hz, "output": output, "input": input, "gain": gain}
        asked |= {"dynamics": dynamics, "gap": gap, "nodes": nodes, "work": work}
        work = None if work is None else _arguments.whole(work, "work")
        radii = [(signal, str(radius)) for signal, radius in dynamics.items()]
        found: Robustness = self._ask(
            "robust", Robustness, asked, progress,
            _arguments.names(only), _arguments.grid(omega, hz=hz), pair, gain, radii, gap, nodes, work,
        )
        return found

    def loop(
        self,
        open: str,
        *,
        omega: Frequencies = None,
        hz: bool = False,
        output: Names = None,
        input: Names = None,
        over: str | None = None,
        range: Frequencies = None,
        work: int | None = None,
        progress: bool = False,
    ) -> OpenLoop:
        """A loop opened at a signal or a bond: margins, crossover, step figures, nominal and within tolerances.

        ``range`` of ``over`` is in the unit of that parameter. ``work`` is the number of operations after which searches
        within the tolerances end.
        """
        asked: dict[str, Any] = {"open": open, "omega": omega, "hz": hz, "output": output, "input": input, "over": over}
        asked |= {"range": range, "work": work, "question": "loop"}
        work = None if work is None else _arguments.whole(work, "work")
        found: OpenLoop = self._ask(
            "open_loop", OpenLoop, asked, progress,
            open, _arguments.grid(omega, hz=hz), _arguments.names(output), _arguments.names(input), over, _arguments.grid(range, "range"), work,
        )
        return found

    def incremental(
        self,
        *,
        form: str = "incremental",
        only: Names = None,
        split: bool = False,
        pair: bool = False,
        numeric: bool = False,
        each: bool = False,
        progress: bool = False,
    ) -> "Model":
        """The incremental bond graph, or a graph of sensitivities, as a model of its own."""
        _arguments.choice(form, ("incremental", "linear", "pseudo"), "form")
        with Bar(progress) as bar:
            native, answer = self._native.incremental(form, _arguments.names(only), split, pair, numeric, each, progress=bar)
        _told(answer)
        return Model(native)

    def draw(
        self,
        *,
        sfg: bool = False,
        path: tuple[str, str] | None = None,
        loops: bool = False,
        numbers: bool = False,
        variables: bool = False,
        no_values: bool = False,
        letters: bool = False,
        boxes: bool = False,
        fold: int | None = None,
        unfold: bool = False,
        theme: str = "light",
        transparent: bool = False,
        embed_font: bool = False,
        scale: float = 1.0,
        layout: Mapping[str, tuple[float, float]] | str | os.PathLike[str] | None = None,
    ) -> Drawing:
        """The bond graph, or its signal-flow graph with ``sfg=True``, as a picture.

        ``layout`` keeps positions: by name, as :attr:`Drawing.layout` of another drawing has them, or in a JSON file,
        which is written where it does not exist.
        """
        _arguments.choice(theme, ("light", "dark"), "theme")
        if path is not None and (isinstance(path, str) or len(path) != 2):
            raise TypeError(f"path is the pair of elements at its ends, as in ('supply', 'rotor'), not {path!r}")
        scale = _arguments.real(scale, "scale")
        if not 0 < scale < np.inf:
            raise ValueError(f"scale must be positive, not {scale}")
        fold = None if fold is None else _arguments.whole(fold, "fold")
        options = {
            "sfg": sfg, "path": None if path is None else tuple(path), "loops": loops, "numbers": numbers, "variables": variables,
            "no_values": no_values, "letters": letters, "boxes": boxes, "fold": fold, "unfold": unfold,
            "dark": theme == "dark", "transparent": transparent, "embed_font": embed_font, "scale": scale,
        }
        made = self._native.draw(options | {"layout": _pictures.positions(layout)})
        if made is None:
            raise ModelError(self._native.check().findings)
        svg, places, unknown = made
        for name in unknown:
            warnings.warn(ModelWarning(f"the layout places {name!r}, which is not in the drawing"), stacklevel=2)
        drawing = Drawing(svg, places)
        _pictures.keep(drawing, layout)
        return drawing

    def report(
        self,
        *,
        t_end: float | None = None,
        data: Any = None,
        map: Mapping[str, str] | None = None,
        sample_time: float | None = None,
        hold: str = "linear",
        fit: Names = None,
        start: Mapping[str, float | str] | None = None,
        progress: bool = False,
    ) -> Report:
        """One page with everything about the model; with measured ``data`` also what :meth:`estimate` finds in them."""
        asked = {name: value for name, value in locals().items() if name not in ("self", "progress")}
        t_end = _arguments.real_or_none(t_end, "t_end")
        measured = None if data is None else _asked.measurements(asked)[0]
        with Bar(progress) as bar:
            return Report(self._native.report(t_end, measured, progress=bar), (self, "report", asked))

    def export(self, to: str, *, simulate: bool = False) -> str:
        """The model as a program: python, matlab, c, julia or latex."""
        answer = _told(self._native.export(to, simulate))
        return str(answer.document["program"])

    @property
    def rhs(self) -> Rates:
        """The right-hand side as a fast function of (t, x, u, p) with its Jacobians, for SciPy and others."""
        return Rates(self)

    # Runs over time

    @overload
    def simulate(
        self, t_end: float | None = None, *, sweep: None = None, scenario: None = None, **asked: Unpack[Experiment]
    ) -> Simulation: ...

    @overload
    def simulate(
        self, t_end: float | None = None, *, sweep: Mapping[str, ArrayLike], scenario: None = None,
        **asked: Unpack[Experiment],
    ) -> Runs: ...

    @overload
    def simulate(
        self, t_end: float | None = None, *, sweep: None = None, scenario: Mapping[str, Mapping[str, Any]],
        **asked: Unpack[Experiment],
    ) -> Runs: ...

    def simulate(
        self,
        t_end: float | None = None,
        *,
        points: int = 101,
        times: ArrayLike | None = None,
        sensitivity: Names = None,
        direction: Any = None,
        states_only: bool = False,
        solver: str = "auto",
        rtol: float = 1e-8,
        atol: float | None = None,
        step: float | None = None,
        data: Any = None,
        inputs: Mapping[str, Any] | None = None,
        hold: str = "linear",
        grid: ArrayLike | None = None,
        max_step: float | None = None,
        sweep: Mapping[str, ArrayLike] | None = None,
        scenario: Mapping[str, Mapping[str, Any]] | None = None,
        perturb: Mapping[str, float | str] | None = None,
        gradient: Names = None,
        energy: bool = False,
        verify: bool = False,
        progress: bool = False,
    ) -> Simulation | Runs:
        """The response over time, with sensitivities to ``"all"`` or some parameters.

        ``inputs`` drives inputs by name, in their declared units: a number; an array, evenly over the run or at
        ``times``; a pair (times, values); or a function of t. A function is sampled at the times ``grid``, or every
        ``max_step`` seconds, or at 1001 times; what it does between is not known, and ``input_notes`` of the answer
        says so. ``data`` is a CSV file, a mapping of columns or a DataFrame with a column ``t``.

        ``sweep={"R": [1, 2]}`` and ``scenario={"cold": {"T0": 270}}`` give several :class:`Runs`;
        ``perturb={"R": "+10%"}`` compares the incremental model with the exact response;
        ``gradient="integral(w)"`` tells the gradient of a cost.
        """
        asked = {name: value for name, value in locals().items() if name not in ("self", "progress")}
        model, options, notes = _asked.experiment(self, asked)
        native = model._native
        special = [name for name in ("sweep", "scenario", "perturb", "gradient") if asked[name] is not None]
        if len(special) > 1:
            raise TypeError(f"ask for one of {' and '.join(special)} at a time")
        if special and not asked[special[0]]:
            raise ValueError(f"{special[0]} is empty")
        if special and verify:
            raise TypeError(f"verify=True is about a single run; it does not go with {special[0]}")
        sweep = _arguments.mapping(sweep, "sweep", "{'R': [1, 2]}")
        scenario = _arguments.mapping(scenario, "scenario", "{'cold': {'T0': 270}}")
        perturb = _arguments.mapping(perturb, "perturb", "{'R': '+10%'}")
        with Bar(progress) as bar:
            if sweep:
                grids = [(name, _swept(name, values)) for name, values in sweep.items()]
                empty = [name for name, values in grids if not values]
                if empty:
                    raise ValueError(f"the sweep of {empty[0]!r} is empty")
                return Runs(_told(native.runs(options, grids, [], progress=bar)), (self, "simulate", asked))
            if scenario:
                named = [(name, [(key, _arguments.written(key, value)) for key, value in _arguments.mapping(settings, f"the scenario {name!r}", "{'T0': 270}").items()])
                         for name, settings in scenario.items()]
                return Runs(_told(native.runs(options, [], named, progress=bar)), (self, "simulate", asked))
            if perturb:
                changes = [_arguments.change(name, value) for name, value in perturb.items()]
                answer = native.perturbed(options, changes, progress=bar)
            elif gradient:
                answer = native.gradients(options, [_arguments.cost(text) for text in _arguments.names(gradient)], progress=bar)
            else:
                answer = native.simulate(options, verify, bar)
        if answer.findings:
            self._ended(answer, _UNMEASURED_INPUT if inputs else "")
        return Simulation(answer, (self, "simulate", asked), notes)

    @staticmethod
    def _ended(answer: Any, but: str = "") -> None:
        """Warns of what a run warns of; one that stopped early is an answer with a warning."""
        _told(answer, 4, but)
        for finding in answer.findings:
            if finding["severity"] == "error":
                warnings.warn(ModelWarning(Diagnostic(**finding)), stacklevel=4)

    def compile(
        self,
        t_end: float | None = None,
        *,
        points: int = 101,
        times: ArrayLike | None = None,
        sensitivity: Names = None,
        direction: Any = None,
        states_only: bool = False,
        solver: str = "auto",
        rtol: float = 1e-8,
        atol: float | None = None,
        step: float | None = None,
        data: Any = None,
        inputs: Mapping[str, Any] | None = None,
        hold: str = "linear",
        grid: ArrayLike | None = None,
        max_step: float | None = None,
        energy: bool = False,
    ) -> "Simulator":
        """The model compiled for an experiment, to be run many times and at other values."""
        model, options, notes = _asked.experiment(self, locals())
        return Simulator(model, options, notes)

    def ensemble(
        self,
        samples: int = 1000,
        ask: Any = "simulate",
        *,
        keywords: Mapping[str, Any] | None = None,
        map: Any = None,
        vary: Mapping[str, Any] | None = None,
        correlate: Mapping[tuple[str, str], float] | None = None,
        design: str = "latin",
        seed: int = 1,
        indices: bool = False,
        confidence: float = 95.0,
        limit: Mapping[str, tuple[float | None, float | None]] | None = None,
        chunks: int | None = None,
        partial: Mapping[int, str] | None = None,
        t_end: float | None = None,
        points: int = 101,
        times: ArrayLike | None = None,
        sensitivity: Names = None,
        solver: str = "auto",
        rtol: float = 1e-8,
        atol: float | None = None,
        step: float | None = None,
        inputs: Mapping[str, Any] | None = None,
        omega: Frequencies = None,
        progress: bool = False,
    ) -> Ensemble:
        """One question asked of many samples, with statistics that do not hold all answers.

        ``ask`` is ``"simulate"`` (with ``t_end``, ``points`` and others), ``"operating_point"``, ``"bode"`` (with
        ``omega``), the name of any other question (with its ``keywords``), whose answers are all the numbers in its
        document by their places there, as ``"margin.lower"`` of ``"robust"``; or a function of the model at its values
        that returns a number, a row of numbers or a mapping to such. Samples are drawn from the tolerances, or from
        ``vary``: ``{"Ra": (1.8, 2.2), "La": ("normal", 5e-3, 1e-4), "kT": ("lognormal", 0.1, 0.05)}`` in the units that
        the model declares, correlated by ``correlate={("Ra", "La"): 0.5}``; ``design`` is ``"latin"``, ``"sobol"`` or
        ``"random"``.

        ``map`` is where chunks of samples run: an executor of :mod:`concurrent.futures` or mpi4py, a Dask client, a
        ``joblib.Parallel``, the module ``ray``, or a function such as :func:`map`; the core's threads where left out.
        The digits do not depend on it. ``indices=True`` tells Sobol' indices, ``limit={"w": (90, 110)}`` the yield.
        """
        asked = {name: value for name, value in locals().items() if name != "self"}
        question, model, prepared = _asked.ensemble(self, asked)
        return _ensemble.ensemble(model, question, prepared, asked)

    @overload
    def estimate(
        self, data: Any = (), *, plan: Literal[False] = False, **asked: Unpack[Measurement]
    ) -> Estimation: ...

    @overload
    def estimate(self, data: Any = (), *, plan: Literal[True], **asked: Unpack[Measurement]) -> Plan: ...

    def estimate(
        self,
        data: Any = (),
        *,
        map: Mapping[str, str] | None = None,
        sample_time: float | Sequence[float] | None = None,
        hold: str = "linear",
        decimate: int = 1,
        validate: Any = None,
        validate_map: Mapping[str, str] | None = None,
        plan: bool = False,
        noise: Mapping[str, float] | None = None,
        t_end: float | None = None,
        fit: Names = None,
        local: Names = None,
        start: Mapping[str, float | str] | None = None,
        bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
        weight: Mapping[str, float | str] | None = None,
        loss: str = "squares",
        prior: bool = False,
        method: str = "levenberg-marquardt",
        log: Names = None,
        iterations: int = 100,
        starts: int = 1,
        seed: int = 1,
        shots: int = 1,
        confidence: float = 95.0,
        profile: Names = None,
        tolerance: float | None = None,
        solver: str = "auto",
        rtol: float = 1e-8,
        atol: float | None = None,
        step: float | None = None,
        progress: bool = False,
    ) -> Estimation | Plan:
        """Parameters and initial states from measured data: a path, columns or a DataFrame, or a list of them.

        ``plan=True`` tells what an experiment would determine before anything is measured. ``Estimation.text`` is
        the model with the estimates in place; ``tolerance=95`` writes half the width of their intervals beside them.
        """
        asked = {name: value for name, value in locals().items() if name not in ("self", "progress")}
        if not _arguments.flag(plan, "plan"):
            if data is None or (isinstance(data, (list, tuple)) and not data):
                raise TypeError("estimate needs data=: a path, a mapping of columns, a DataFrame, or a list of them")
            if noise or t_end is not None:
                raise TypeError("noise= and t_end= describe an experiment that is planned: they go with plan=True")
        options, spacing = _asked.measurements(asked)
        t_end = _arguments.real_or_none(t_end, "t_end")
        noise = {
            name: _arguments.real(sigma, f"the noise of {name!r}")
            for name, sigma in _arguments.mapping(noise, "noise", "{'w': 0.1}").items()
        }
        with Bar(progress) as bar:
            if plan:
                answer = self._native.plan(options, list(noise.items()), t_end, spacing, progress=bar)
                return Plan(_told(answer), (self, "estimate", asked))
            share_of = None if tolerance is None else _arguments.percent(tolerance, "tolerance")
            answer, text, found = self._native.estimate(options, share_of, progress=bar)
        return Estimation(_told(answer), (self, "estimate", asked), text, dict(found))


class Simulator:
    """A model compiled for an experiment. It travels to other processes, where it is compiled once."""

    def __init__(self, model: Model, options: dict[str, Any], notes: Sequence[str] = ()) -> None:
        #: The model.
        self.model = model
        self._options, self._notes = options, list(notes)
        self._compiled = model._native.simulator(options)

    def __call__(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> Simulation:
        """Runs the experiment, at other values of parameters and inputs where some are given."""
        compiled = self._compiled
        if values or named:
            compiled = self.model.with_(values, **named)._native.simulator(self._options)
        answer = compiled.run()
        if answer.findings:
            Model._ended(answer)
        return Simulation(answer, None, self._notes)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Simulator, (self.model, self._options, self._notes))

    def __repr__(self) -> str:
        return f"<paynter.Simulator of {self.model.name!r}>"


def _swept(name: str, values: Any) -> list[float]:
    """The values of a sweep in the declared unit."""
    if isinstance(values, (list, tuple)):
        values = [value.declared(name) if isinstance(value, Quantity) else value for value in values]
    return list(_inputs.numbers(values, f"the sweep of {name!r}").tolist())


def load(
    path: str | os.PathLike[str],
    *,
    model: str | None = None,
    set: Mapping[str, Any] | None = None,
    check: bool = True,
) -> Model:
    """Loads a model file with what it imports.

    ``model`` chooses one of several models in the file, ``set`` replaces values. A model with errors raises
    :class:`ModelError`, unless ``check=False``: then :meth:`Model.check` tells them.
    """
    from pathlib import Path

    file = Path(path)
    # Read once here, so that a missing file is Python's own exception.
    content = file.read_bytes()
    folder = file.parent

    def read(name: str) -> bytes:
        if name == file.name:
            return content
        full = (folder / name).resolve(strict=True)
        if not full.is_relative_to(folder.resolve()):
            raise PermissionError(name)
        if not full.is_file():
            raise OSError("it is no regular file")
        return full.read_bytes()

    return _loaded(file.name, str(file), read, model, set, check)


def parse(
    text: str,
    *,
    model: str | None = None,
    set: Mapping[str, Any] | None = None,
    files: Mapping[str, str | bytes] | None = None,
    check: bool = True,
) -> Model:
    """A model from its text; ``files`` are those that it imports or reads tables from, by their paths."""
    if not isinstance(text, str):
        raise TypeError(f"a model is parsed from text, not from {type(text).__name__}; paynter.load reads files")
    contents = {name: data.encode() if isinstance(data, str) else data for name, data in (files or {}).items()}
    contents["<text>"] = text.encode()

    def read(name: str) -> bytes:
        try:
            return contents[name]
        except KeyError:
            raise FileNotFoundError(name) from None

    return _loaded("<text>", "<text>", read, model, set, check)


def _loaded(
    main: str, shown: str, read: Any, model: str | None, set: Mapping[str, Any] | None, check: bool
) -> Model:
    settings = [(name, _arguments.written(name, value)) for name, value in _arguments.mapping(set, "set", "{'Ra': 3}").items()]
    made = Model(_paynter.load(main, shown, read, model, settings))
    if check:
        made._refuse_errors()
    return made


class Examples(Mapping[str, Model]):
    """The built-in examples by name: ``paynter.examples["dc_motor"]``, or ``paynter.examples.dc_motor``."""

    def __init__(self) -> None:
        self._entries: dict[str, dict[str, Any]] | None = None

    def _all(self) -> dict[str, dict[str, Any]]:
        if self._entries is None:
            self._entries = {entry["name"]: entry for entry in _paynter.examples()}
        return self._entries

    def __getitem__(self, name: str) -> Model:
        try:
            entry = self._all()[name]
        except KeyError:
            raise KeyError(f"there is no example {name!r}; there are {', '.join(self._all())}") from None
        files = {f"{name}.csv": entry["data"]} if entry["data"] else {}
        return parse(entry["text"], files=files)

    def __getattr__(self, name: str) -> Model:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __iter__(self) -> Any:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._all()]

    def data(self, name: str) -> dict[str, NDArray[np.float64]]:
        """The measured data of an example, by column; NaN where a cell is empty."""
        import csv

        text = self._all()[name]["data"]
        if text is None:
            raise KeyError(f"the example {name!r} has no measured data")
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
        headings, *cells = csv.reader(lines, skipinitialspace=True)
        rows = np.array([[float(cell or "nan") for cell in row] for row in cells])
        return {heading: rows[:, place].copy() for place, heading in enumerate(headings) if heading}

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {entry['title']}" for name, entry in self._all().items())


def explain(code: str) -> str:
    """The page on a diagnostic code, in Markdown."""
    page = _paynter.explain(code)
    if page is None:
        raise KeyError(f"there is no diagnostic {code!r}")
    return str(page)
