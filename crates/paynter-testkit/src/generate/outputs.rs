//! Signals, outputs and initial states.

use super::Maker;
use crate::expr::{Expr, Function};
use crate::linear::generic;
use crate::structure::{End, Kind, Law, Meaning, Signal};

impl Maker {
    /// Lists port variables, states and signals by name.
    fn variables(&self) -> Vec<String> {
        let names = self.draft.structure.names();
        let keep = |meaning: &Meaning| !matches!(meaning, Meaning::Param(_) | Meaning::Input(_));
        names.into_iter().filter(|(_, meaning)| keep(meaning)).map(|(name, _)| name).collect()
    }

    /// The same without thermal ones, whose units are known and must not meet others in a sum.
    fn plain_variables(&self) -> Vec<String> {
        let thermal =
            |name: &String| ["rs", "body", "wall", "outside"].iter().any(|word| name.starts_with(word));
        let mut names = self.variables();
        names.retain(|name| !thermal(name));
        names
    }

    /// Adds signals, integrators and the sources they control.
    pub(crate) fn signals(&mut self) {
        if self.rng.chance(0.2) {
            self.attempt(|maker| {
                let variables = maker.plain_variables();
                let gain = maker.value();
                let value = gain * Expr::name(maker.rng.pick(&variables).clone());
                let name = maker.fresh("w");
                let integral = match maker.rng.below(4) {
                    0 => Some(Expr::from(0)),
                    1 => Some(maker.value()),
                    _ => None,
                };
                maker.draft.structure.signals.push(Signal { name, value, integral });
            });
        }
        if self.rng.chance(0.25) {
            self.attempt(|maker| {
                let signals: Vec<String> =
                    maker.draft.structure.signals.iter().map(|signal| signal.name.clone()).collect();
                let variables = if signals.is_empty() { maker.plain_variables() } else { signals };
                let control = Expr::name(maker.rng.pick(&variables).clone());
                let gain = maker.value();
                let value = if maker.options.linear || maker.rng.chance(0.5) {
                    -(gain * control)
                } else {
                    gain * Expr::call(Function::Sin, control)
                };
                let kind = *maker.rng.pick(&[Kind::Se, Kind::Sf]);
                let name = maker.fresh(if kind == Kind::Se { "se" } else { "sf" });
                let element = maker.draft.element(name, kind, 1, Law::Value(value));
                let fitting = if kind == Kind::Se { Kind::One } else { Kind::Zero };
                let at = maker.some_junction(fitting);
                maker.join(End { element, port: 1 }, End { element: at, port: 0 }, 0.2);
            });
        }
    }

    /// Draws the outputs: port variables, states, signals, sums, with parameters and inputs.
    pub(crate) fn observe(&mut self) {
        for _ in 0..self.rng.within(1, 4) {
            let variables = self.plain_variables();
            let any = self.variables();
            let any = Expr::name(self.rng.pick(&any).clone());
            let mut variable = || Expr::name(self.rng.pick(&variables).clone());
            let (x, y) = (variable(), variable());
            let value =
                match self.rng.weighted(&[5.0, 1.5, 1.0, 1.0, if self.options.linear { 0.0 } else { 1.5 }]) {
                    0 => any,
                    1 => x + y,
                    2 => self.value() * x - y,
                    3 => {
                        let inputs = &self.draft.structure.inputs;
                        let input = Expr::name(inputs[self.rng.below(inputs.len())].0.clone());
                        x / self.value() + input
                    }
                    _ => x * y,
                };
            let name = self.fresh("y");
            self.draft.structure.outputs.push((name, value));
        }
    }

    /// Gives some storages an initial state, where all of them are independent.
    pub(crate) fn initial_states(&mut self) {
        if self.options.conflicts || !self.rng.chance(0.5) {
            return;
        }
        let independent =
            generic(&self.draft.structure, 2).is_some_and(|generic| generic.order == generic.states);
        if !independent {
            return;
        }
        for index in 0..self.draft.structure.elements.len() {
            let element = &self.draft.structure.elements[index];
            if !element.kind.is_storage()
                || self.draft.hidden_elements.contains(&index)
                || self.rng.chance(0.6)
            {
                continue;
            }
            let port = self.rng.within(1, element.ports);
            let value = if self.rng.chance(0.6) { self.value() } else { self.number() };
            self.draft.structure.elements[index].initial.insert(port, value);
        }
    }
}
