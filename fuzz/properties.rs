//! What holds of any input to the passes behind the graph, whatever its bytes.
//! The fuzz targets look for inputs that contradict it, and an ordinary test
//! replays those that did.

use paynter::simulate::{Data, SimulateOptions};
use paynter::{CancellationToken, LoadOptions, MemoryWorld, Model, Plain, QueryError};

/// Larger models take longer than a fuzzer waits.
const MOST_ELEMENTS: usize = 60;

/// A run takes no more steps than this.
const MOST_STEPS: u64 = 2_000;

/// A property of any bytes; it panics where it does not hold.
pub type Property = fn(&[u8]);

/// Every property by the name of its fuzz target.
#[allow(dead_code, reason = "a fuzz target has one of them, the replay all")]
pub const PROPERTIES: &[(&str, Property)] =
    &[("equations", equations), ("operating", operating), ("simulate", simulate), ("data", data)];

/// Equations exist or are refused with a reason; each state has a rate, and the answer stays the same.
#[allow(dead_code, reason = "each fuzz target has its own property")]
pub fn equations(data: &[u8]) {
    let Some(model) = small(data) else { return };
    let Some(answer) = told(model.equations(&CancellationToken::new())) else { return };
    let equations = &answer.result.equations;
    assert_eq!(equations.states.len(), equations.rates.len());
    let document = format!("{:?}", answer.document(&Plain));
    let again = told(model.equations(&CancellationToken::new()))
        .map(|answer| format!("{:?}", answer.document(&Plain)));
    assert_eq!(Some(document), again, "the same question has another answer");
}

/// An operating point exists, with finite values, or is refused with a reason.
#[allow(dead_code, reason = "each fuzz target has its own property")]
pub fn operating(data: &[u8]) {
    let Some(model) = small(data) else { return };
    let Some(answer) = told(model.operating_point(&CancellationToken::new())) else { return };
    assert!(answer.result.point.values.values().all(|value| value.is_finite()));
}

/// A simulation is refused with a reason, or runs until it ends or says why it cannot go on.
#[allow(dead_code, reason = "each fuzz target has its own property")]
pub fn simulate(data: &[u8]) {
    if let Some(model) = small(data) {
        run(&model, None);
    }
}

/// Any bytes as measured data: as inputs, and as a table that the model reads.
#[allow(dead_code, reason = "each fuzz target has its own property")]
pub fn data(data: &[u8]) {
    let parts = "R r = 1; C c = 1; 1 j; s -> j; j -> r, c; output y = c.e }";
    for (text, path) in [
        (format!("model m {{ input u; input v = 1; Se s = u + v; {parts}"), "measured.csv"),
        (format!("model m {{ input u = table(\"table.csv\", u); Se s = u; {parts}"), "table.csv"),
    ] {
        let world = MemoryWorld::new().with("model.bg", text).with("table.csv", data);
        let model = Model::load(&world, "model.bg", &LoadOptions::default());
        let measured = Data { path: path.to_owned(), content: data.to_vec() };
        run(&model, (path == "measured.csv").then_some(measured));
    }
}

/// Reads bytes as a model, if that is small enough to be asked.
fn small(data: &[u8]) -> Option<Model> {
    let world = MemoryWorld::new().with("model.bg", paynter_testkit::fuzzed(data));
    let model = Model::load(&world, "model.bg", &LoadOptions::default());
    model.graph().is_some_and(|graph| graph.elements.len() <= MOST_ELEMENTS).then_some(model)
}

/// An answer; where there is none, the reason must be told.
fn told<T>(answer: Result<T, QueryError>) -> Option<T> {
    match answer {
        Ok(answer) => Some(answer),
        Err(QueryError::Wrong(findings)) => {
            assert!(findings.has_errors(), "no answer, and no reason");
            None
        }
        Err(QueryError::Cancelled) => panic!("cancelled by nobody"),
    }
}

/// Runs a model for a moment: times go on, and every output has a value for each.
fn run(model: &Model, data: Option<Data>) {
    let options = SimulateOptions {
        t_end: Some(0.1),
        points: 5,
        rtol: 1e-4,
        data,
        max_steps: MOST_STEPS,
        ..SimulateOptions::default()
    };
    let Some(answer) = told(model.simulation(&options, &CancellationToken::new())) else { return };
    let simulation = answer.result;
    let (response, _) = simulation.respond(&simulation.parameters, &CancellationToken::new());
    assert!(response.t.windows(2).all(|pair| pair[0] <= pair[1]), "time goes back");
    assert!(response.outputs.iter().all(|output| output.len() == response.t.len()));
}
