//! What switches, for random models: dry friction, stops, valves, relays,
//! pulses and switches, each with parameters of its own.

use super::draft::Draft;
use super::{Sample, plain, write};
use crate::expr::{Expr, Function};
use crate::rng::Rng;
use crate::structure::{End, Kind, Law};

/// Joins one to three elements that switch to the junctions of a model, whose submodels it writes out.
/// Parameters and elements that it adds begin with `z`.
#[must_use]
pub fn switching(sample: &Sample) -> Sample {
    let mut rng = Rng::new(sample.seed);
    let mut draft = Draft { structure: plain(&sample.structure), ..Draft::default() };
    let junctions: Vec<(usize, Kind)> = draft
        .structure
        .elements
        .iter()
        .enumerate()
        .filter(|(_, element)| element.kind.is_junction())
        .map(|(index, element)| (index, element.kind))
        .collect();
    if !junctions.is_empty() {
        for number in 0..rng.within(1, 3) {
            let (junction, kind) = *rng.pick(&junctions);
            add(&mut draft, &mut rng, number, End { element: junction, port: 0 }, kind == Kind::One);
        }
    }
    let structure = draft.structure;
    let text = write(&structure);
    Sample { text, structure, submodels: false, array: false, ..*sample }
}

/// Joins one element to a junction, of common flow or of common effort.
fn add(draft: &mut Draft, rng: &mut Rng, number: usize, junction: End, one: bool) {
    let name = |letters: &str| format!("{letters}{number}");
    let (a, b) = (Expr::name(name("za")), Expr::name(name("zb")));
    draft.param(name("za"), Expr::Ratio(rng.within(2000, 20_000) as i64, 10_000));
    draft.param(name("zb"), Expr::Ratio(rng.within(500, 6000) as i64, 10_000));
    let (source, store, across, through, state) =
        if one { (Kind::Se, Kind::C, "e", "f", "q") } else { (Kind::Sf, Kind::I, "f", "e", "p") };
    let choice =
        |left: Expr, right: Expr, yes: Expr, no: Expr| Expr::Choice(Box::new([left, right, yes, no]));
    let law = |right: Expr| Law::Laws(vec![(Expr::name(across), right)]);
    let beside = format!("zy{number}.{through}");
    let (kind, law) = match rng.below(7) {
        0 | 1 => (Kind::R, law(a * Expr::call(Function::Sign, Expr::name(through)))),
        2 => {
            let signal = format!("{a}*pulse({b}, {b} + 0.25)");
            draft.structure.inputs.push((name("zu"), signal));
            (source, Law::Value(Expr::name(name("zu"))))
        }
        3 => {
            let open = a * (Expr::name(through) - b.clone());
            (Kind::R, law(choice(Expr::name(through), b, open, Expr::from(0))))
        }
        4 => {
            let gap = b * Expr::Ratio(1, 10);
            let pressed = a * 5 * (Expr::name(state) - gap.clone());
            (store, law(choice(Expr::name(state), gap, pressed, Expr::from(0))))
        }
        5 => {
            let beside_law = Law::Value(b.clone());
            let element = draft.element(name("zy"), Kind::R, 1, beside_law);
            draft.bond(junction, End { element, port: 1 });
            let value = choice(Expr::name(beside), b, -a.clone(), a * Expr::Ratio(1, 2));
            (source, Law::Value(value))
        }
        _ => {
            let (left, right) = if rng.chance(0.5) { (Expr::from("t"), b) } else { (b, Expr::from("t")) };
            (Kind::Sw, Law::Switch { left, right, on: a, off: Some(Expr::Ratio(1, 2)) })
        }
    };
    let element = draft.element(name("z"), kind, 1, law);
    let own = End { element, port: 1 };
    if kind == source {
        draft.bond(own, junction)
    } else {
        draft.bond(junction, own)
    };
}
