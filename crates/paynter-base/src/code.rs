//! The registry of diagnostic codes: one line each. The page of
//! `paynter explain` for a code is `docs/src/diagnostics/CODE.md`.
//!
//! The hundreds tell the stage: 01 text, 02 names and structure of the
//! program, 03 units and domains, 04 the graph, 05 causality, 06 equations, 07 sensitivities,
//! interconnections and robustness, 08 simulation and estimation, 09 files and what is asked.

use crate::{Remedy, Severity};

/// One kind of diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    id: &'static str,
    severity: Severity,
    title: &'static str,
    /// With references as [`Remedy::marked`] reads them.
    remedy: &'static str,
}

impl Code {
    /// The code as printed: `BG0401`.
    pub fn id(self) -> &'static str {
        self.id
    }

    /// Its usual severity.
    pub fn severity(self) -> Severity {
        self.severity
    }

    /// What it is about, in a few words.
    pub fn title(self) -> &'static str {
        self.title
    }

    /// The general remedy, used where the case at hand has no better one.
    pub fn remedy(self) -> Remedy {
        Remedy::marked(self.remedy)
    }

    /// Finds a code by its printed form, in any case.
    pub fn find(id: &str) -> Option<Code> {
        ALL.iter().copied().find(|code| code.id.eq_ignore_ascii_case(id))
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $id:literal $severity:ident $title:literal, $remedy:literal;)*) => {
        $(
            #[doc = $title]
            pub const $name: Code = Code { id: $id, severity: Severity::$severity, title: $title, remedy: $remedy };
        )*

        /// Every code, in order.
        pub const ALL: &[Code] = &[$($name),*];
    };
}

codes! {
    // 01: text
    UNEXPECTED = "BG0101" Error "unexpected text", "see {ask explain code=BG0101} for the form of each statement";
    UNCLOSED = "BG0102" Error "unclosed brace, bracket or string", "close it";
    BAD_CHARACTER = "BG0103" Error "a character the language does not know", "delete it or write the plain character";
    BAD_NUMBER = "BG0104" Error "a malformed or overflowing number", "write digits on both sides of the point, as in `0.5`, and keep within 1e±308";
    TOO_DEEP = "BG0105" Error "nesting too deep", "nest at most 256 levels; name sub-expressions as parameters or signals";
    TOO_LARGE = "BG0106" Error "file too large", "split the model with `import`, or use submodel arrays; a file may have 16 MB";
    NOT_TEXT = "BG0107" Error "not a text file", "save the model as UTF-8 text";
    UNKNOWN_KIND = "BG0108" Error "unknown statement or element kind", "see {ask explain code=BG0108} for the list of kinds";
    EMPTY = "BG0109" Error "no model in the file", "write `model NAME { … }`, or start from {ask examples}";
    // 02: names and program structure
    UNKNOWN_NAME = "BG0201" Error "unknown name", "declare it, or mend the spelling";
    DUPLICATE_NAME = "BG0202" Error "name declared twice", "rename one of the two";
    RESERVED_NAME = "BG0203" Error "reserved name", "choose another name; `s`, `t` and `pi` have fixed meanings";
    CYCLIC_DEFINITION = "BG0204" Error "definitions in a cycle", "break the cycle: one of them needs a value of its own, or an `integral`";
    RECURSIVE_SUBMODEL = "BG0205" Error "recursive submodel", "a submodel cannot contain itself; use an array `use cell c[1..N]`";
    BAD_ARRAY = "BG0206" Error "array size or index out of range", "sizes and indices are whole numbers; `1..0` is empty";
    BAD_ARGUMENT = "BG0207" Error "wrong argument of a submodel or function", "see the declaration";
    IMPORT_FAILED = "BG0208" Error "import failed", "check the path, which is relative to the importing file";
    IMPORT_CYCLE = "BG0209" Error "imports in a cycle", "move what both files need into a third";
    IMPORT_OUTSIDE = "BG0210" Error "import outside the model's folder tree", "move the file below the model's folder";
    BAD_VALUE = "BG0211" Error "value not finite or out of range", "give a finite value";
    BAD_TOLERANCE = "BG0212" Error "bad tolerance or bounds", "write a tolerance as `±10%` or `±0.2`, positive, and bounds as `in [lo, hi]` around the value";
    DERIVED_TOLERANCE = "BG0213" Error "tolerance on a derived parameter", "put the tolerance on the independent parameters it is defined from";
    UNUSED_PARAMETER = "BG0214" Warning "parameter never used", "delete it, or use it";
    MISPLACED = "BG0215" Error "statement or expression in the wrong place", "move it to where the language allows it";
    WRONG_LAW = "BG0216" Error "constitutive law of the wrong form", "give one law for each port, over e, f (and q or p)";
    MISSING_VALUE = "BG0217" Error "element without a value or law", "write `= value` or a law in braces";
    TOO_MANY_ELEMENTS = "BG0218" Error "model too large", "check the array sizes; a model may have two million elements";
    MOVING_TIME = "BG0219" Warning "a time that moves along with time", "give `step` and `pulse` the times at which they change";
    // 03: units and domains
    UNKNOWN_UNIT = "BG0301" Error "unknown unit", "use SI names and prefixes, products, quotients and powers";
    UNIT_MISMATCH = "BG0302" Error "units do not fit", "mend the unit or the expression";
    DOMAIN_MISMATCH = "BG0303" Error "domains do not fit", "join different domains by a TF or a GY";
    NO_MOMENTUM = "BG0304" Error "an I in a thermal domain", "thermal systems have no inertia; use a C";
    LOOK_ALIKE_UNIT = "BG0305" Warning "a unit that is often something else", "write a unit that nobody misreads";
    // 04: the graph
    PORT_COUNT = "BG0401" Error "wrong number of bonds", "connect each port once";
    UNCONNECTED = "BG0402" Error "element without a bond", "connect it or delete it";
    UNKNOWN_PORT = "BG0403" Error "no such port", "see the element's declaration for its ports";
    AMBIGUOUS_PORTS = "BG0404" Error "ports of a two-port ambiguous", "write `NAME.1` and `NAME.2`: port 1 is where power comes in";
    DISCONNECTED = "BG0405" Warning "parts of the model are not connected", "join them by a bond, or keep them if they are meant to be separate";
    BAD_BOND = "BG0406" Error "bond that cannot be", "a bond joins two different elements";
    ARROWS_DISAGREE = "BG0407" Error "arrows disagree at a submodel's port", "turn one of the two bonds";
    NOT_RECIPROCAL = "BG0408" Warning "field without a stored energy", "make the matrix symmetric (∂e_i/∂q_j = ∂e_j/∂q_i)";
    INDEFINITE_FIELD = "BG0409" Warning "field with negative stored energy", "check the signs: a physical store is positive definite";
    MODULATED_STORAGE = "BG0410" Warning "storage modulated by a signal", "energy enters unseen; use a multiport store with the modulating coordinate as a port";
    BAD_INITIAL = "BG0411" Error "initial state that cannot be set", "only states of C and I and integrators have initial values";
    // 05: causality
    CAUSAL_CONFLICT = "BG0501" Error "causal conflict", "one of the two must give way: put an R, C or I between them, or remove one";
    DERIVATIVE_CAUSALITY = "BG0502" Note "storage in derivative causality", "its state depends on others; a small R or C between them would make it independent";
    ALGEBRAIC_LOOP = "BG0503" Note "algebraic loop", "it is solved for you; to break it, insert a small storage or tear it";
    JUNCTION_LOOP = "BG0504" Warning "loop inside the junction structure", "check that it is meant: the junctions alone form a closed signal path";
    VANISHING_MODULUS = "BG0505" Warning "causality that divides by something that can vanish", "put a small C or I next to the element, so that its causality can turn";
    ONE_WAY_LAW = "BG0506" Warning "law used against its direction", "write the law in the other direction, if you can, or keep it: it is solved implicitly";
    BAD_OVERRIDE = "BG0507" Error "causality by hand that cannot be", "remove the override or change it";
    SINGULAR_STRUCTURE = "BG0508" Error "structurally singular", "the named elements leave a variable undetermined or determine one twice";
    SWITCH_SERIES_INERTIA = "BG0509" Error "an open switch would stop an inertia at once", "give the switch a small `Goff`, so that flow can decay";
    NO_CAUSAL_PATH = "BG0510" Error "no causal path", "name two elements that a causal path joins, or look at {ask causality}";
    PREFERENCE_REFUSED = "BG0511" Warning "a preferred causality that cannot be", "remove the `prefer`, or change what stands around the element";
    // 06: equations
    NO_OPERATING_POINT = "BG0601" Error "no operating point", "change the inputs ({option set}) or the initial states, and check whether the model has a steady state at all";
    SEVERAL_OPERATING_POINTS = "BG0602" Warning "several operating points", "choose one by initial states near it, as in `init NAME.q = …`";
    RUNAWAY = "BG0603" Error "no steady state, because something runs away", "balance what drives it, as in {option set=NAME=0}, or let something resist: an R, a spring, an outlet";
    DRIFTING_STATE = "BG0604" Note "a state that goes on growing, which nothing reads", "keep it, because nothing depends on it, or delete it";
    NO_DERIVATIVE = "BG0605" Error "a law with an infinite derivative at the operating point", "choose inputs or initial states away from that point, or give the law a finite derivative there";
    KINK = "BG0606" Warning "a law with a kink or a jump at the operating point", "small signals see one side only; choose inputs or initial states away from it, or make the law smooth";
    VANISHING_DIVISOR = "BG0607" Error "no finite value at the nominal values", "give the parameters values at which nothing is divided by zero";
    TOO_LONG = "BG0608" Warning "an expanded form that would be too long", "use the shared form, whose parts have names, ask for numbers ({ask bode}, {ask poles}), or allow more terms: {option terms=N}";
    LOSS_OF_SIGNIFICANCE = "BG0609" Warning "loss of significance in the derivative of a law", "choose inputs or initial states at which the law is not saturated, or write it in the other direction";
    BELOW_ABSOLUTE_ZERO = "BG0610" Warning "a temperature below absolute zero", "check the sign and the size of what heats and cools it, its initial state, and the law of its storage";
    NO_POLES = "BG0611" Error "no eigenvalues", "ask for {ask bode}, which needs none, or make the model smaller";
    NO_RESPONSE = "BG0612" Error "no frequency response", "declare an input and an output";
    TURNED_ROUND = "BG0613" Note "a causality turned round at the operating point", "keep it: the linear model is right in its own states; ask {ask operating-point} for them";
    BY_GRAPH = "BG0614" Note "a response by the graph's own equations", "keep it: the state equations lose digits by cancellation, and those of the graph do not";

    LOOP_BUDGET = "BG0620" Error "more loops than Mason's rule may list", "ask for {option method=matrix}, which has no such limit and gives the same transfer functions";
    STICKING = "BG0670" Note "dry friction that sticks at the operating point", "keep it, or choose inputs ({option set}) or initial states at which it slips";
    // 07: sensitivities
    NOT_A_PARAMETER = "BG0711" Error "no such parameter", "name independent parameters of the model";
    NO_EFFECT = "BG0712" Note "a parameter without effect", "keep it: it does not reach any output from any input; or delete it";
    AT_A_POLE = "BG0713" Warning "a frequency at a pole", "choose frequencies beside it, or give the model a little damping";
    REPEATED_POLE = "BG0714" Note "a repeated pole", "keep it: the mean of the cluster has a derivative; a small change of a parameter tears it apart";
    BEYOND_FIRST_ORDER = "BG0715" Warning "tolerances beyond first order", "trust the samples there, or make the tolerances smaller";
    // 072: interconnection
    IMPROPER_INTERCONNECTION = "BG0720" Error "an improper interconnection", "put a small R, C or I between the source and the storage that it determines, so that no input is differentiated";
    NO_TOLERANCE = "BG0721" Error "a normalised uncertainty without a tolerance", "give the parameter a tolerance, as in `param R = 2 ±10%`, or leave {option normalized} out";
    ILL_POSED = "BG0722" Error "an ill-posed interconnection", "make the tolerances smaller, so that the model has one solution for all values within them";
    NO_INTERCONNECTION = "BG0723" Error "no standard interconnection model", "make the laws that are named linear, or give the model an operating point at which they have a tangent";
    MORE_CHANNELS = "BG0724" Note "more channels than the bound", "keep it: the model is exact; a realisation with fewer channels is not known to exist";
    LINEARISED_INTERCONNECTION = "BG0725" Note "an interconnection of the linearised model", "keep it: it holds near the operating point, which does not move with the parameters here";
    UNCERTAIN_VALUE = "BG0726" Note "the uncertainty of a value", "keep it: the value is uncertain as a whole, because it depends on parameters in a way that is not rational";
    NOT_STABILISABLE = "BG0727" Warning "a model that no control can stabilise", "let an input act on the storages that are named";
    NOT_DETECTABLE = "BG0728" Warning "a model whose outputs hide an unstable part", "measure one of the storages that are named";
    NOTHING_UNCERTAIN = "BG0729" Error "nothing is uncertain", "declare parameters with `param NAME = value` and use their names";
    NO_UNCERTAIN_GRAPH = "BG0730" Error "no uncertain bond graph", "ask for the matrices, which are exact, or leave out the outputs in which derivatives of inputs cancel";
    // 074: loops and robustness
    NO_SUCH_LOOP = "BG0740" Error "no such place to open a loop", "name a signal or a bond of the model";
    IMPROPER_LOOP = "BG0741" Error "a loop gain that is not proper", "open the loop at another signal or bond, as that of an independent storage";
    NO_FEEDBACK = "BG0742" Warning "nothing comes back", "open the loop at a signal or bond that takes part in a feedback";
    UNSTABLE_LOOP = "BG0743" Warning "a closed loop that is not stable", "change its gain to where it is stable, if there is such a factor, and look for its poles with {ask poles}";
    UNSETTLED_STEP = "BG0744" Note "a step response that does not settle", "choose another output, or give the model what makes it stable";
    UNSTABLE_NOMINAL = "BG0745" Error "an unstable nominal model", "make the nominal model stable first: change a parameter or close a loop, and look at {ask poles}";
    FIXED_POLE = "BG0746" Note "a pole at zero that no parameter moves", "keep it: it is set aside, and the margin is that of the rest";
    BAD_RADIUS = "BG0747" Error "a radius of neglected dynamics that cannot be used", "write a positive number, or a stable and proper transfer function in s: {option dynamics=u=(0.1*s + 0.01)/(0.05*s + 1)}";
    INFINITE_GAIN = "BG0748" Error "a worst-case gain that is infinite already nominally", "ask for an output that does not see the pole, as a rate in place of an amount, or give the model what damps it";
    WORK_SPENT = "BG0749" Warning "a budget of work that is spent", "allow more with {option work=MILLIONS}, let fewer parameters be uncertain, or ask for fewer frequencies";
    TOLERANCE_BEYOND_ZERO = "BG0750" Warning "a tolerance that goes beyond zero", "make the tolerance smaller than the value: a parameter that changes its sign is another model, as an element that gives energy";
    // 08: simulation
    CANNOT_SIMULATE = "BG0801" Error "a simulation that cannot go on", "look at the law that is named, the initial states, and the solver";
    CHATTERING = "BG0802" Error "switching without end (chattering)", "give the switch a hysteresis, or regularise the jump by a steep law";
    GRAZING = "BG0803" Warning "a condition touched without crossing (grazing)", "sensitivities may be undefined from this time on; change a parameter a little and compare";
    BAD_SIMULATION = "BG0804" Error "a simulation that cannot be asked for", "see {ask help command=simulate} for the options";
    UNDEFINED_OUTPUT = "BG0805" Warning "an output or a derivative without a value", "look for a division by zero, or a root or logarithm of a negative number, in the output's expression";
    ZENO = "BG0821" Warning "ever faster switching (Zeno behaviour)", "give the switch a hysteresis, or more damping near it, if what it does there matters";
    IMPULSE = "BG0822" Warning "an impulse in an output", "let the source rise in a short time instead of jumping, or put a small resistance between it and the storage";
    PASSED_OVER = "BG0823" Warning "a jump that an exported program passes over", "simulate with {ask simulate}, which finds jumps, or let the source rise in a short time";
    SECOND_OPINION = "BG0824" Note "a second opinion on a run", "keep it: it tells how far another method differs";
    SECOND_OPINION_DIFFERS = "BG0825" Warning "a second opinion that differs", "take a finer {option rtol}, and look at the law or junction that is named";
    SHARED_FORCE = "BG0826" Note "forces that are not unique", "let one of the laws rise steeply instead of jumping if each force matters";
    NEGATIVE_AMOUNT = "BG0827" Warning "a negative amount under a logarithm", "check the initial state and what takes from it; the run goes on where rates are products of powers";
    EQUIVALENT_CONTROL = "BG0828" Warning "a switched value that is squared while it is between its branches", "keep it for a steep law; for what switches fast give the condition a hysteresis, or write the rate linear in the switched value";
    BAD_ESTIMATION = "BG0850" Error "an estimation that cannot be asked for", "see {ask help command=estimate} for the options";
    UNDETERMINED = "BG0851" Warning "unknowns that the data do not determine", "estimate fewer of them, or measure another output or with another input";
    NOT_CONVERGED = "BG0852" Warning "a search that did not converge", "start elsewhere, or several times with {option starts=N}";
    COLOURED_RESIDUALS = "BG0853" Note "residuals that are not white", "look at the plot of the residuals: they show what the model leaves out";
    AT_BOUND = "BG0854" Warning "an estimate at its bound", "widen its {option bounds} if the bound is not physical";
    NO_COST = "BG0855" Error "a cost without a value at the start", "start from values at which the model can be simulated over the data";
    UNWRITTEN = "BG0856" Warning "an estimate that is not written into the model", "use it with {option set}";
    UNKNOWN_NOISE = "BG0857" Warning "noise that too few samples tell", "measure the output more often, or estimate less from it";
    UNKNOWN_SCALE = "BG0858" Note "an output whose data do not vary", "say how much it counts with {option weight=OUTPUT=W}: one over the variance of its noise";
    // 09: files and command line
    FILE_UNREADABLE = "BG0901" Error "file cannot be read", "check the path and the permissions";
    FILE_UNWRITABLE = "BG0902" Error "file cannot be written", "check the path and the permissions";
    UNKNOWN_MODEL = "BG0903" Error "no such model", "name one of the models in the file with {option model}";
    UNKNOWN_EXAMPLE = "BG0904" Error "no such example", "see {ask examples} for the list";
    UNKNOWN_CODE = "BG0905" Error "no such diagnostic code", "codes look like BG0401";
    BAD_SET = "BG0906" Error "bad setting of a parameter or an input", "write {option set=NAME=VALUE} with a parameter or an input of the model";
    BAD_COMMAND_LINE = "BG0907" Error "wrong command line", "see {ask help} for the commands and their options";
    BAD_LAYOUT_FILE = "BG0908" Error "bad layout file", "write `{\"NAME\": [x, y], …}`, or delete the file: {option layout} writes it anew";
    UNKNOWN_POSITION = "BG0909" Warning "a layout file places what the model does not have", "delete the name from the layout file, or keep it: it is ignored";
    BAD_DATA = "BG0910" Error "measured data that cannot be used", "write a line of headings with `t`, then a line of numbers for each time, with commas between them";
    MISSING_COLUMN = "BG0911" Error "no such column", "name a column as the file does";
    UNMEASURED_INPUT = "BG0912" Warning "an input without measured data", "add a column named as the input, or keep the model's own value";
    REPLACED_INPUT = "BG0913" Warning "a value of an input that data take the place of", "leave the value out, or the column";
    UNREAD_TIMES = "BG0914" Warning "a column of times that holds none", "write seconds or dates there, map another column to `t`, or give the column another heading";
    COUNTED_TIMES = "BG0915" Note "times that are counted from the first sample", "keep it: time zero of the model is the first sample; times in seconds are taken as they are";
    UNUSED_COLUMN = "BG0916" Warning "a column of measured data that nothing has", "name the column as the input or the output, or map it";
    HELD_INPUT = "BG0917" Warning "an input that is measured for a part of the time only", "measure it as long as the outputs";
    // 099: answers that fail their own check
    CONTRADICTION = "BG0990" Error "an answer that contradicts the model", "please report it with the model: it is a fault of the program, not of yours";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_ordered() {
        assert!(ALL.windows(2).all(|pair| pair[0].id < pair[1].id));
        assert_eq!(Code::find("bg0101"), Some(UNEXPECTED));
        assert_eq!(Code::find("BG9999"), None);
    }

    #[test]
    fn every_reference_in_a_remedy_is_read() {
        for code in ALL {
            for part in code.remedy().parts() {
                if let crate::Part::Words(words) = part {
                    assert!(!words.contains("{option") && !words.contains("{ask"), "{}: {words}", code.id());
                }
            }
        }
    }
}
