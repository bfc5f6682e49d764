//! Random models: what is made from a graph is a model like any other. It lays
//! out as it is, draws, keeps the strokes, and answers what its original answers.
//! `cargo xtask random SEED [COUNT]` takes other models.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use common::{findings, load};
use paynter::draw::{DrawOptions, SvgStyle, draw, svg};
use paynter::simulate::{Sensitivities, SimulateOptions};
use paynter::{
    BodeOptions, CancellationToken, DerivedForm, Frequencies, IncrementalOptions, Model, QueryError,
    SensitivityOptions, format,
};
use paynter_testkit::property::{demand, seeds};
use paynter_testkit::{Options, generate};

/// What a command answers: nothing, or why not.
fn outcome<T>(answer: Result<T, QueryError>) -> Result<(), String> {
    match answer {
        Ok(_) => Ok(()),
        Err(QueryError::Cancelled) => Err("cancelled".to_owned()),
        Err(QueryError::Wrong(found)) => {
            let errors: Vec<String> = found
                .iter()
                .filter(|d| d.is_error())
                .map(|d| format!("{}: {}", d.code.id(), d.message))
                .collect();
            Err(errors.join("; "))
        }
    }
}

const BAND: Frequencies = Frequencies { low: 0.3, high: 3.0, points: 3 };

type Question = (&'static str, fn(&Model) -> Result<(), String>);

const QUESTIONS: [Question; 8] =
    [
        ("equations", |model| outcome(model.equations(&CancellationToken::new()))),
        ("structure", |model| outcome(model.structure(true, &CancellationToken::new()))),
        ("operating-point", |model| outcome(model.operating_point(&CancellationToken::new()))),
        ("tf", |model| outcome(model.transfer(300, &CancellationToken::new()))),
        ("poles", |model| outcome(model.poles(&CancellationToken::new()))),
        ("bode", |model| {
            outcome(model.bode(
                &BodeOptions { omega: Some(BAND), ..BodeOptions::default() },
                &CancellationToken::new(),
            ))
        }),
        ("sensitivity", |model| {
            let options = SensitivityOptions { terms: 300, ..SensitivityOptions::default() };
            outcome(model.sensitivity(&options, &CancellationToken::new()))
        }),
        ("simulate", |model| {
            let options = SimulateOptions { t_end: Some(0.1), points: 3, ..SimulateOptions::default() };
            let simulation = match model.simulation(&options, &CancellationToken::new()) {
                Ok(simulation) => simulation,
                Err(reason) => return outcome::<()>(Err(reason)),
            };
            let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
            outcome.failure.map_or(Ok(()), |failure| Err(format!("{failure:?}")))
        }),
    ];

/// Whether a nonlinear model has the slopes that its changes need for a question.
fn demanded(text: &str, question: &str) -> bool {
    match question {
        "equations" => true,
        "operating-point" => load(text).poles(&CancellationToken::new()).is_ok(),
        "simulate" => {
            let sensitivities = Sensitivities::All;
            let options =
                SimulateOptions { t_end: Some(0.1), points: 3, sensitivities, ..SimulateOptions::default() };
            let simulation = load(text).simulation(&options, &CancellationToken::new()).ok();
            simulation.is_some_and(|simulation| {
                let (_, outcome) = simulation.respond(&simulation.parameters, &CancellationToken::new());
                outcome.failure.is_none() && outcome.notes.is_empty()
            })
        }
        _ => false,
    }
}

#[test]
fn derived_models_answer_what_their_originals_answer() {
    let mut answered = 0;
    for seed in seeds(2) {
        let kind = if seed % 2 == 0 { Options::nonlinear() } else { Options::linear() };
        let sample = generate(seed, &kind.tiny());
        let text = &sample.text;
        let original = load(text);
        if findings(&original).has_errors() {
            continue;
        }
        let able: Vec<Result<(), String>> = QUESTIONS.iter().map(|(_, ask)| ask(&load(text))).collect();
        let bonds = original.graph().unwrap().bonds.len();
        let strokes = |model: &Model| -> Vec<bool> {
            let causality = model.causality(&CancellationToken::new()).unwrap();
            causality.strokes.iter().map(|stroke| stroke.effort_to).collect()
        };
        let first = original.graph().unwrap().parameters.first().map(|p| p.name.clone());
        let wanted = |form: DerivedForm, split: bool, pair: bool| IncrementalOptions {
            form,
            only: Vec::new(),
            split,
            pair,
            numeric: false,
        };
        let mut all = vec![
            ("plain", wanted(DerivedForm::Incremental, false, false), vec![0]),
            ("split", wanted(DerivedForm::Incremental, true, false), vec![0]),
            ("pair", wanted(DerivedForm::Incremental, false, true), vec![0, bonds]),
            ("pair split", wanted(DerivedForm::Incremental, true, true), vec![0, bonds]),
            ("linear", wanted(DerivedForm::Linear, false, false), vec![0]),
            ("linear pair", wanted(DerivedForm::Linear, false, true), vec![0, bonds]),
            ("pseudo", wanted(DerivedForm::Pseudo, false, false), vec![0, bonds]),
        ];
        if let Some(first) = first {
            let only = IncrementalOptions { only: vec![first], ..IncrementalOptions::default() };
            all.push(("only", only.clone(), vec![0]));
            all.push(("each", IncrementalOptions { form: DerivedForm::PseudoEach, ..only }, vec![0, bonds]));
        }
        for (place, (name, options, layers)) in all.into_iter().enumerate() {
            // The graphs take turns, because all questions to all of them take long.
            if place as u64 % 3 != seed / 2 % 3 {
                continue;
            }
            let derived = match original.incremental(&options, &CancellationToken::new()) {
                Ok(derived) => derived,
                // A law that is flat or steep at the nominal point has no linear one.
                Err(reason) => {
                    assert!(!sample.linear, "seed {seed}, {name}: {:?}\n{text}", outcome::<()>(Err(reason)));
                    continue;
                }
            };
            let again = format("m.bg", derived.text.as_bytes());
            assert_eq!(again.text, derived.text, "seed {seed}, {name}: not laid out");
            let own = strokes(&original);
            let new = strokes(&derived.model);
            for layer in layers {
                assert_eq!(
                    new[layer..layer + bonds],
                    own,
                    "seed {seed}, {name}: strokes\n{text}\n{}",
                    derived.text
                );
            }
            let picture = derived.model.diagram(&CancellationToken::new()).unwrap();
            for diagram in [derived.diagram.as_ref().unwrap(), picture.as_ref().unwrap()] {
                assert!(
                    svg(&draw(diagram, &DrawOptions::default()), &SvgStyle::default()).contains("</svg>")
                );
            }
            for ((question, ask), able) in QUESTIONS.iter().zip(&able) {
                let answer = ask(&load(&derived.text));
                if able.is_ok() && (sample.linear || demanded(text, question)) {
                    let what = format!("seed {seed}, {name}, {question}");
                    assert!(answer.is_ok(), "{what}: {answer:?}\n{text}\n{}", derived.text);
                }
                answered += usize::from(answer.is_ok());
            }
        }
    }
    demand("questions answered", answered, 20, 2);
}

/// With numbers in the place of the model's parameters a graph of increments says the same.
#[test]
fn increments_in_numbers_are_those_in_symbols() {
    let token = CancellationToken::new();
    for name in ["dc_motor", "two_carts", "vacuum_cleaner"] {
        let original = common::sound(common::example(name));
        for (form, pair) in [
            (DerivedForm::Incremental, false),
            (DerivedForm::Incremental, true),
            (DerivedForm::Linear, false),
        ] {
            let made = |numeric: bool| {
                let options = IncrementalOptions { form, pair, numeric, ..IncrementalOptions::default() };
                let text = original.incremental(&options, &token).unwrap().text.clone();
                let parameters = text.lines().filter(|line| line.trim_start().starts_with("param ")).count();
                let model = common::sound(&text);
                let changed =
                    model.graph().unwrap().parameters.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
                let changed = changed.iter().filter(|name| name.starts_with("Delta_"));
                let model = model.with(changed.map(|name| (name.as_str(), 0.1)));
                let bode = model.bode(&BodeOptions::default(), &token).unwrap();
                (parameters, bode.response.omega.clone(), bode.response.values.clone())
            };
            let (symbols, numbers) = (made(false), made(true));
            assert!(numbers.0 < symbols.0, "{name}: {} of {} parameters", numbers.0, symbols.0);
            assert_eq!(numbers.1.len(), symbols.1.len(), "{name}");
            for (a, b) in numbers.2.iter().flatten().zip(symbols.2.iter().flatten()) {
                assert!((a - b).norm() <= 1e-9 * b.norm().max(1e-12), "{name}: {a} {b}");
            }
        }
    }
}
