//! Parameters and constitutive laws.

use super::Maker;
use crate::expr::{Expr, Function};
use crate::structure::{Kind, Law};

/// A positive number that prints shortly.
const NUMBERS: &[(i64, i64)] =
    &[(1, 2), (2, 1), (3, 1), (3, 2), (1, 4), (5, 1), (4, 5), (7, 10), (12, 1), (1, 10), (9, 4), (1, 1)];

fn n(name: impl Into<String>) -> Expr {
    Expr::name(name)
}

impl Maker {
    /// Draws a positive number.
    pub(crate) fn number(&mut self) -> Expr {
        let (above, below) = *self.rng.pick(NUMBERS);
        Expr::Ratio(above, below)
    }

    /// Draws a parameter, often one that is in use already.
    pub(crate) fn parameter(&mut self) -> Expr {
        let own: Vec<usize> = (0..self.draft.structure.params.len())
            .filter(|index| !self.draft.hidden_params.contains(index))
            .collect();
        if !own.is_empty() && self.rng.chance(0.25) {
            return n(self.draft.structure.params[*self.rng.pick(&own)].name.clone());
        }
        let prefix = *self.rng.pick(&["a", "k", "m", "R", "C", "θ_"]);
        let name = self.fresh(prefix);
        let value = if own.len() >= 2 && self.rng.chance(0.2) {
            let mut other = || n(self.draft.structure.params[*self.rng.pick(&own)].name.clone());
            let (x, y) = (other(), other());
            match self.rng.below(4) {
                0 => x * y,
                1 => x.clone() * y.clone() / (x + y),
                2 => x / (y + 1),
                _ => x.pow(2) + y,
            }
        } else {
            self.number()
        };
        self.draft.param(name.clone(), value);
        n(name)
    }

    /// Draws a positive value: a number, a parameter or an expression of parameters.
    pub(crate) fn value(&mut self) -> Expr {
        match self.rng.weighted(&[1.0, 6.0, 1.5]) {
            0 => self.number(),
            1 => self.parameter(),
            _ => {
                let x = self.parameter();
                match self.rng.below(5) {
                    0 => self.number() * x,
                    1 => x / self.number(),
                    2 => x + self.parameter(),
                    3 => x * self.parameter(),
                    _ => Expr::from(1) / (x + 1),
                }
            }
        }
    }

    /// Draws the law of a one-port R, C or I.
    pub(crate) fn one_port_law(&mut self, kind: Kind) -> Law {
        if !self.options.linear && self.rng.chance(0.4) {
            return self.nonlinear_law(kind);
        }
        let value = self.value();
        if self.rng.chance(0.75) {
            return Law::Value(value);
        }
        let (left, right) = match kind {
            Kind::R => ("e", "f"),
            Kind::C => ("q", "e"),
            _ => ("p", "f"),
        };
        Law::Laws(vec![match self.rng.below(4) {
            0 => (n(left), value * n(right)),
            1 | 2 => (n(right), n(left) / value),
            _ => (n(left) - value * n(right), Expr::from(0)),
        }])
    }

    /// Draws a law that is not linear. Every one is monotonic, so that it has
    /// a value both ways near the origin.
    fn nonlinear_law(&mut self, kind: Kind) -> Law {
        let (a, b) = (self.value(), self.value());
        let call = Expr::call;
        Law::Laws(vec![match kind {
            Kind::R => match self.rng.below(9) {
                0 => (n("e"), a * n("f") + b * n("f").pow(3)),
                1 => (n("e"), a * n("f") * call(Function::Abs, n("f"))),
                2 => (n("f"), a * (call(Function::Exp, n("e") / (b + 1)) - 1)),
                3 => (n("e"), a * n("f") + call(Function::Tanh, n("f"))),
                4 => (n("e") - a * n("f").pow(3), b * n("f")),
                5 => (n("f"), a * n("e").pow(3)),
                6 => (n("e"), a * call(Function::Tanh, b * n("f"))),
                7 => {
                    let power = call(Function::Abs, n("f")).pow(Expr::Ratio(3, 2));
                    (n("e"), a * call(Function::Sign, n("f")) * power)
                }
                _ => (n("e") + b * n("e").pow(3) - a * n("f"), Expr::from(0)),
            },
            Kind::C => match self.rng.below(5) {
                0 => (n("e"), n("q") / a + b * n("q").pow(3)),
                1 => (n("e"), a * (call(Function::Exp, n("q") / (b + 1)) - 1)),
                2 => (n("q"), a * call(Function::Tanh, n("e"))),
                3 => (n("e"), a * n("q").pow(3)),
                _ => (n("q") - a * n("e") - b * n("e").pow(3), Expr::from(0)),
            },
            _ => match self.rng.below(4) {
                0 => (n("f"), n("p") / a + b * n("p").pow(3)),
                1 => (n("f"), n("p") / call(Function::Sqrt, a.pow(2) + n("p").pow(2))),
                2 => (n("p"), a * n("f")),
                _ => (n("p"), a * n("f") + b * n("f").pow(3)),
            },
        }])
    }

    /// Draws the law of an R-, C- or I-field: positive definite, reciprocal for stores.
    pub(crate) fn field_law(&mut self, kind: Kind, ports: usize) -> Law {
        let reciprocal = kind != Kind::R;
        let mut matrix = vec![vec![Expr::from(0); ports]; ports];
        let coupling: Vec<Expr> = (1..ports).map(|_| self.value()).collect();
        for (row, entries) in matrix.iter_mut().enumerate() {
            let mut diagonal = self.value();
            for (index, coupling) in coupling.iter().enumerate() {
                // A chain of couplings between neighbouring ports keeps the matrix definite.
                if index == row || index + 1 == row {
                    diagonal = diagonal + coupling.clone();
                }
            }
            entries[row] = diagonal;
        }
        for (index, value) in coupling.iter().enumerate() {
            let skew = !reciprocal && self.rng.chance(0.4);
            matrix[index][index + 1] = value.clone();
            matrix[index + 1][index] = if skew { -value.clone() } else { value.clone() };
        }
        if self.rng.chance(0.5) {
            return Law::Matrix(matrix);
        }
        let (left, right) = match (kind, self.rng.chance(0.5)) {
            (Kind::R, true) => ("e", "f"),
            (Kind::R, false) => ("f", "e"),
            (Kind::C, true) => ("q", "e"),
            (Kind::C, false) => ("e", "q"),
            (_, true) => ("p", "f"),
            (_, false) => ("f", "p"),
        };
        let port = |letter: &str, index: usize| n(format!("{letter}{}", index + 1));
        let cubic = !self.options.linear && self.rng.chance(0.4);
        let mut laws = Vec::new();
        for (row, entries) in matrix.into_iter().enumerate() {
            let mut sum: Option<Expr> = None;
            for (column, entry) in entries.into_iter().enumerate() {
                if entry != Expr::from(0) {
                    let term = entry * port(right, column);
                    sum = Some(match sum {
                        Some(sum) => sum + term,
                        None => term,
                    });
                }
            }
            let mut sum = sum.unwrap_or(Expr::from(0));
            if cubic {
                sum = sum + port(right, row).pow(3);
            }
            laws.push((port(left, row), sum));
        }
        Law::Laws(laws)
    }

    /// Draws the modulus of a TF or GY, with whether it may vanish.
    pub(crate) fn modulus(&mut self) -> (Expr, bool) {
        let modulating = self.modulating();
        if self.options.linear || modulating.is_empty() || !self.rng.chance(0.35) {
            return (self.value(), false);
        }
        let x = n(self.rng.pick(&modulating).clone());
        let value = self.value();
        match self.rng.below(5) {
            0 => (value * Expr::call(Function::Cos, x), true),
            1 => (x, true),
            2 => (Expr::call(Function::Sin, x) + 2, false),
            3 => (value * Expr::call(Function::Exp, Expr::call(Function::Tanh, x)), false),
            _ => (x.pow(2) + 1, false),
        }
    }

    /// The names that may modulate: states of C and I that exist, inputs.
    fn modulating(&self) -> Vec<String> {
        let structure = &self.draft.structure;
        let mut names: Vec<String> = structure.states().into_iter().map(|(name, _)| name).collect();
        names.extend(structure.inputs.iter().map(|(name, _)| name.clone()));
        names.extend(structure.signals.iter().map(|signal| signal.name.clone()));
        names
    }
}
