//! Answers are the same whatever was asked before, in whatever order, and by however many at once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::common;

use common::load_with;
use paynter::draw::{DrawOptions, SvgStyle, draw, svg};
use paynter::ensemble::{Design, Distribution, Draw, Ensemble, EnsembleOptions, EnsembleQuestion};
use paynter::estimate::{EstimateOptions, Estimation, Plan, PlanOptions};
use paynter::export::{self, Target};
use paynter::json::{self, Naming};
use paynter::report::Report;
use paynter::simulate::{Data, Gradients, Perturbed, SimulateOptions, Simulation, Vary};
use paynter::{
    Answer, Asked, Bode, BodeOptions, CancellationToken, Checked, DerivedForm, DerivedModel, Diagnostics,
    Expression, Frequencies, IncrementalOptions, LftOptions, LoopOptions, LoopReport, Model, Plain, Poles,
    QueryError, ResponseOptions, ResponseTolerance, RobustOptions, RobustReport, SensitivityOptions,
    StandardInterconnection, StateEquations, SteadyState, StructureReport, SymbolicSensitivity,
    TransferMatrix, examples,
};
use paynter_testkit::rng::Rng;
use std::sync::atomic::{AtomicUsize, Ordering};

const BAND: Frequencies = Frequencies { low: 0.3, high: 3.0, points: 3 };

/// Polynomials of more terms take long, and say nothing more.
const TERMS: usize = 300;

/// A question: its name, and the answer or the refusal as text.
type Question = (&'static str, fn(&Model) -> String);

/// The document of an answer, or why there is none.
fn told<T>(
    model: &Model,
    asked: Asked<T>,
    document: impl FnOnce(&Answer<T>) -> serde_json::Result<String>,
) -> String {
    match asked {
        Ok(answer) => document(&answer).unwrap(),
        Err(reason) => refused(model, reason),
    }
}

fn refused(model: &Model, reason: QueryError) -> String {
    let QueryError::Wrong(found) = reason else { panic!("nobody cancels") };
    listed(model, &found)
}

fn listed(model: &Model, found: &Diagnostics) -> String {
    serde_json::to_string(&json::Diagnostic::list(found, model.sources(), &Plain)).unwrap()
}

fn derived(model: &Model, form: DerivedForm) -> String {
    let options = IncrementalOptions { form, ..IncrementalOptions::default() };
    told(model, model.incremental(&options, &CancellationToken::new()), |a| {
        serde_json::to_string(&a.document(&Plain))
    })
}

fn program(model: &Model, language: &dyn Target) -> String {
    let asked = model.export(language, &CancellationToken::new());
    told(model, asked, |a| serde_json::to_string(&(&a.result, a.diagnostics(&Plain))))
}

/// The models whose first loop is opened: the worst step responses within tolerances of others take long.
const OPENED: &[&str] = &["ctms_motor", "dc_motor", "rc", "rc2", "two_tanks", "two_carts_loop"];

/// The first parameter estimated from a few samples of the first output, in two iterations.
fn fitted(model: &Model) -> EstimateOptions {
    let graph = model.graph().unwrap_or_default();
    let output = graph.outputs.first().map_or("y", |output| output.name.as_str());
    let content = format!("t,{output}\n0,0\n4e-4,0.1\n7e-4,0.3\n1e-3,0.2\n").into_bytes();
    let fit = graph.parameters.first().map(|parameter| parameter.name.clone()).into_iter().collect();
    let data = vec![Data { path: "measured.csv".to_owned(), content }];
    EstimateOptions { data, fit, iterations: 2, ..EstimateOptions::default() }
}

const QUESTIONS: &[Question] = &[
    ("check", |m| {
        told(m, m.check(&CancellationToken::new()), |a| serde_json::to_string(&a.document(&Plain)))
    }),
    ("findings", |m| listed(m, &m.findings(&CancellationToken::new()).unwrap())),
    ("causality", |m| {
        told(m, m.causality(&CancellationToken::new()), |a| {
            serde_json::to_string(&a.document(Naming::Flat, &Plain))
        })
    }),
    ("equations", |m| {
        told(m, m.equations(&CancellationToken::new()), |a| {
            serde_json::to_string(&(a.document(&Plain), a.written(export::LATEX)))
        })
    }),
    ("equations with mass", |m| {
        told(m, m.equations_with_mass(&CancellationToken::new()), |a| {
            serde_json::to_string(&a.document(&Plain))
        })
    }),
    ("explicit equations", |m| {
        told(m, m.explicit_equations(&CancellationToken::new()), |a| {
            serde_json::to_string(&a.document(&Plain))
        })
    }),
    ("steps", |m| told(m, m.steps(&CancellationToken::new()), |a| serde_json::to_string(&a.document()))),
    ("transfer", |m| {
        told(m, m.transfer(TERMS, &CancellationToken::new()), |a| serde_json::to_string(&a.document(&Plain)))
    }),
    ("transfer by Mason's rule", |m| {
        told(m, m.transfer_by_mason(TERMS, &CancellationToken::new()), |a| {
            serde_json::to_string(&a.document(&Plain))
        })
    }),
    ("operating point", |m| {
        told(m, m.operating_point(&CancellationToken::new()), |a| serde_json::to_string(&a.document(&Plain)))
    }),
    ("what moves the steady state", |m| {
        told(m, m.steady_sensitivity(&[], &CancellationToken::new()), |a| {
            serde_json::to_string(&a.document(Naming::Flat))
        })
    }),
    ("poles", |m| {
        told(m, m.poles(&CancellationToken::new()), |a| {
            serde_json::to_string(&a.document(Naming::Flat, &Plain))
        })
    }),
    ("bode", |m| {
        let options = BodeOptions { omega: Some(BAND), ..BodeOptions::default() };
        told(m, m.bode(&options, &CancellationToken::new()), |a| serde_json::to_string(&a.document(&Plain)))
    }),
    ("structure", |m| {
        told(m, m.structure(true, &CancellationToken::new()), |a| serde_json::to_string(&a.document(&Plain)))
    }),
    ("sensitivity", |m| {
        let options = SensitivityOptions { terms: TERMS, ..SensitivityOptions::default() };
        told(m, m.sensitivity(&options, &CancellationToken::new()), |a| {
            serde_json::to_string(&a.document(Naming::Flat, &Plain))
        })
    }),
    ("sensitivity of the response", |m| {
        let options = ResponseOptions { omega: Some(BAND), verify: 3, seed: 1, ..ResponseOptions::default() };
        told(m, m.sensitivity_response(&options, &CancellationToken::new()), |a| {
            serde_json::to_string(&a.document(&Plain))
        })
    }),
    ("incremental", |m| derived(m, DerivedForm::Incremental)),
    ("pseudo", |m| derived(m, DerivedForm::Pseudo)),
    ("simulate", |m| {
        let options = SimulateOptions { t_end: Some(1e-3), points: 3, ..SimulateOptions::default() };
        told(m, m.simulation(&options, &CancellationToken::new()), |a| {
            let (response, outcome) = a.respond(&a.parameters, &CancellationToken::new());
            let said = a.explain(&a.parameters, &outcome);
            let diagnostics = json::Diagnostic::list(&said, &a.sources, &Plain);
            serde_json::to_string(&json::Simulation::new(a, &response, &outcome, &said, diagnostics))
        })
    }),
    ("sweep", |m| {
        let graph = m.graph().unwrap_or_default();
        let Some(swept) = graph.parameters.first() else { return String::new() };
        let options = SimulateOptions { t_end: Some(1e-3), points: 2, ..SimulateOptions::default() };
        let values = [1.1, 0.9].map(|factor| factor * swept.number).to_vec();
        let sweep = Vary { name: swept.name.clone(), values };
        let mut runs = match m.sweep(&options, &[sweep], &CancellationToken::new()) {
            Ok(runs) => runs,
            Err(reason) => return refused(m, reason),
        };
        let mut text = String::new();
        runs.respond(&CancellationToken::new(), &mut |run, response, _, said| {
            text += &format!("{}: {:?}, {}\n", run.name, response.outputs, listed(m, said));
        });
        text
    }),
    ("ensemble", |m| {
        let graph = m.graph().unwrap_or_default();
        let near = |number: f64| Distribution::Uniform { low: 0.99 * number, high: 1.01 * number };
        let drawn = graph.parameters.iter().find(|parameter| parameter.number > 0.0);
        let options = EnsembleOptions {
            draw: Draw {
                quantities: drawn.map(|drawn| (drawn.name.clone(), near(drawn.number))).into_iter().collect(),
                correlations: Vec::new(),
                design: Design::LatinHypercube,
                seed: 1,
                samples: 3,
                indices: false,
            },
            question: EnsembleQuestion::OperatingPoint,
            shard: (0, 1),
        };
        told(m, m.ensemble(&options, &CancellationToken::new()), |a| {
            serde_json::to_string(&json::Ensemble::new(a.part(), &[], 0.95, a.diagnostics(&Plain)))
        })
    }),
    ("uncertain graph", |m| {
        told(m, m.uncertain_graph(&LftOptions::default(), &CancellationToken::new()), |a| {
            serde_json::to_string(&a.document(&Plain))
        })
    }),
    ("interconnection", |m| {
        told(m, m.lft(&LftOptions::default(), &CancellationToken::new()), |a| {
            serde_json::to_string(&(a.document(&Plain), a.written(export::MATLAB)))
        })
    }),
    ("robustness", |m| {
        // Bounds at a few frequencies, without branch and bound.
        let options = RobustOptions { omega: Some(BAND), nodes: 0, ..RobustOptions::default() };
        told(m, m.robust(&options, &CancellationToken::new()), |a| serde_json::to_string(&a.document(&Plain)))
    }),
    ("open loop", |m| {
        if !OPENED.contains(&m.name()) {
            return String::new();
        }
        let graph = m.graph().unwrap_or_default();
        let open = graph.signals.first().map(|signal| &signal.name);
        let open = open.or(graph.bonds.first().map(|bond| &bond.name)).cloned().unwrap_or_default();
        let options = LoopOptions { open, omega: Some(BAND), ..LoopOptions::default() };
        told(m, m.open_loop(&options, &CancellationToken::new()), |a| {
            serde_json::to_string(&a.document(&Plain))
        })
    }),
    ("planned experiment", |m| {
        let planned = PlanOptions { t_end: Some(1e-3), ..PlanOptions::default() };
        told(m, m.plan(&fitted(m), &planned, &CancellationToken::new()), |a| {
            serde_json::to_string(&a.document(&Plain))
        })
    }),
    ("estimation", |m| {
        told(m, m.estimate(&fitted(m), &CancellationToken::new()), |a| {
            serde_json::to_string(&a.document(&Plain))
        })
    }),
    ("Python", |m| program(m, export::PYTHON)),
    ("MATLAB", |m| program(m, export::MATLAB)),
    ("C", |m| program(m, export::C)),
    ("C simulator", |m| program(m, export::C_SIMULATOR)),
    ("Julia", |m| program(m, export::JULIA)),
    ("LaTeX", |m| program(m, export::LATEX)),
    ("drawing", |m| match m.diagram(&CancellationToken::new()) {
        Ok(diagram) => svg(&draw(&diagram.unwrap(), &DrawOptions::default()), &SvgStyle::default()),
        Err(reason) => refused(m, reason),
    }),
];

/// All answers by the places of their questions, asked in some order.
fn answers(model: &Model, order: &[usize]) -> Vec<String> {
    let mut found = vec![String::new(); QUESTIONS.len()];
    for place in order {
        found[*place] = QUESTIONS[*place].1(model);
    }
    found
}

#[track_caller]
fn assert_same(name: &str, order: &str, found: &[String], expected: &[String]) {
    for ((question, _), (found, expected)) in QUESTIONS.iter().zip(found.iter().zip(expected)) {
        assert!(found == expected, "{name}, {question}, {order}:\n{found}\ninstead of\n{expected}");
    }
}

/// An example, small where its size can be chosen.
fn example(text: &str) -> Model {
    load_with(text, if text.contains("param N ") { &[("N", "3")] } else { &[] })
}

fn examine(name: &str, text: &str) {
    let forward: Vec<usize> = (0..QUESTIONS.len()).collect();
    let expected = answers(&example(text), &forward);
    let mut order = forward;
    order.reverse();
    assert_same(name, "in reverse", &answers(&example(text), &order), &expected);
    let mut rng =
        Rng::new(name.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte))));
    let orders = [0, 1].map(|_| {
        rng.shuffle(&mut order);
        order.clone()
    });
    let shared = example(text);
    std::thread::scope(|scope| {
        // Both begin before the first is waited for.
        let threads = orders.map(|order| {
            let shared = &shared;
            (format!("beside others in the order {order:?}"), scope.spawn(move || answers(shared, &order)))
        });
        for (order, thread) in threads {
            assert_same(name, &order, &thread.join().unwrap(), &expected);
        }
    });
}

#[test]
fn every_example_answers_the_same_in_any_order_and_at_once() {
    let all: Vec<_> = examples::all().collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(example) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    examine(example.name, example.text);
                }
            });
        }
    });
}

/// A model with errors, and one without equations, refuse in any order alike.
#[test]
fn refusals_are_the_same_in_any_order() {
    for text in [
        "model m { SE a = 1; R r = 2; a -> r }",
        "model m { Se a = 1; Se b = 2; 0 j; R r = 1; a -> j; b -> j; j -> r }",
        "model m { param k = 0; Se a = 1; R r { e = k*f }; a -> r; output y = r.f }",
    ] {
        let order: Vec<usize> =
            (0..QUESTIONS.len()).filter(|place| QUESTIONS[*place].0 != "drawing").collect();
        let expected = answers(&common::load(text), &order);
        let reverse: Vec<usize> = order.into_iter().rev().collect();
        assert_same(text, "in reverse", &answers(&common::load(text), &reverse), &expected);
    }
}

#[test]
fn models_and_answers_may_be_sent_and_shared() {
    fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<Model>();
    assert_send_sync::<Expression>();
    assert_send_sync::<QueryError>();
    assert_send_sync::<paynter::Runs>();
    assert_send_sync::<Answer<Checked>>();
    assert_send_sync::<Answer<StateEquations>>();
    assert_send_sync::<Answer<TransferMatrix>>();
    assert_send_sync::<Answer<SteadyState>>();
    assert_send_sync::<Answer<Poles>>();
    assert_send_sync::<Answer<Bode>>();
    assert_send_sync::<Answer<StructureReport>>();
    assert_send_sync::<Answer<SymbolicSensitivity>>();
    assert_send_sync::<Answer<ResponseTolerance>>();
    assert_send_sync::<Answer<DerivedModel>>();
    assert_send_sync::<Answer<Simulation>>();
    assert_send_sync::<Answer<Perturbed>>();
    assert_send_sync::<Answer<Gradients>>();
    assert_send_sync::<Answer<Report>>();
    assert_send_sync::<Answer<StandardInterconnection>>();
    assert_send_sync::<Answer<RobustReport>>();
    assert_send_sync::<Answer<LoopReport>>();
    assert_send_sync::<Answer<Estimation>>();
    assert_send_sync::<Answer<Ensemble>>();
    assert_send_sync::<Answer<Vec<Plan>>>();
    assert_send_sync::<Answer<String>>();
}

/// A chain of masses with springs and dampers, the last of which has this law.
fn chain(masses: usize, law: &str) -> String {
    let mut text = String::from("model chain {\n input F = 1; Se push = F; Sf wall = 0\n");
    for i in 1..=masses {
        text += &format!(
            "param m{i} = 1; param k{i} = {}; param b{i} = 1\n\
             I mass{i} = m{i}; C spring{i} = 1/k{i}; 1 v{i}; 0 f{i}; 1 d{i}\n\
             v{i} -> mass{i}, f{i}; f{i} -> d{i}; d{i} -> spring{i}, damper{i}\n",
            10 + i % 7
        );
        let law = if i < masses { format!("R damper{i} = b{i}\n") } else { law.to_owned() };
        text += &law;
    }
    text += "push -> v1\n";
    (1..masses).for_each(|i| text += &format!("f{i} -> v{}\n", i + 1));
    text + &format!("f{masses} -> wall\n output x = spring{masses}.q }}")
}

/// Numbers of a large model are calculated without the forms that are made to be read.
#[test]
fn numbers_do_not_wait_for_forms_that_are_read() {
    type Question = (&'static str, fn(&Model, &CancellationToken) -> bool);
    let questions: [Question; 6] = [
        ("simulation", |m, token| {
            let options = SimulateOptions { t_end: Some(0.01), points: 2, ..SimulateOptions::default() };
            m.simulation(&options, token).is_ok()
        }),
        ("operating point", |m, token| m.operating_point(token).is_ok()),
        ("planned experiment", |m, token| {
            let planned = PlanOptions { t_end: Some(1e-3), ..PlanOptions::default() };
            let options = EstimateOptions { data: Vec::new(), ..fitted(m) };
            m.plan(&options, &planned, token).is_ok()
        }),
        ("bode", |m, token| {
            m.bode(&BodeOptions { omega: Some(BAND), ..BodeOptions::default() }, token).is_ok()
        }),
        ("poles", |m, token| m.poles(token).is_ok()),
        ("sensitivity", |m, token| {
            let options = ResponseOptions { omega: Some(BAND), ..ResponseOptions::default() };
            m.sensitivity_response(&options, token).is_ok()
        }),
    ];
    let token = CancellationToken::new();
    for law in ["R damper101 = b101\n", "R damper101 { e = b101*f + f^3 }\n"] {
        let text = chain(101, law);
        for (name, ask) in questions {
            let model = common::sound(&text);
            assert!(ask(&model, &token), "{name}: {law}");
            let computed = model.computed();
            assert!(!computed.contains(&"lowest terms"), "{name}: {law}: {computed:?}");
            // Asked again, nothing is computed anew, and forms are made for those who read them.
            assert!(ask(&model, &token) && model.computed() == computed, "{name}");
            assert!(model.equations(&token).is_ok() && model.computed().contains(&"lowest terms"), "{name}");
        }
    }
}
