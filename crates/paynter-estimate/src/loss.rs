//! Losses: how much a residual counts.

/// How much a residual counts: its square, or less where it is far off.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Loss {
    /// Squares alone.
    #[default]
    Squares,
    /// Squares up to a threshold, straight lines beyond it.
    Huber,
    /// The logarithm that belongs to Cauchy's distribution.
    Cauchy,
}

impl Loss {
    /// All losses with the names that people choose them by.
    pub const NAMES: [(&'static str, Loss); 3] =
        [("squares", Loss::Squares), ("huber", Loss::Huber), ("cauchy", Loss::Cauchy)];

    /// The name that people choose it by.
    pub fn name(self) -> &'static str {
        Loss::NAMES.iter().find(|(_, loss)| *loss == self).map_or("", |(name, _)| name)
    }
}

/// A loss with the residual at which it departs from squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Penalty {
    pub loss: Loss,
    pub threshold: f64,
}

impl Penalty {
    /// Squares alone.
    pub const SQUARES: Penalty = Penalty { loss: Loss::Squares, threshold: 1.0 };

    /// ρ(r), which is r² for small residuals, and the weight w with ψ = w r of the reweighted squares.
    pub fn of(self, residual: f64) -> (f64, f64) {
        let share = (residual / self.threshold).abs();
        let square = self.threshold * self.threshold;
        match self.loss {
            Loss::Squares => (residual * residual, 1.0),
            Loss::Huber if share <= 1.0 => (residual * residual, 1.0),
            Loss::Huber => (square * (2.0 * share - 1.0), 1.0 / share),
            Loss::Cauchy => (square * (share * share).ln_1p(), 1.0 / (1.0 + share * share)),
        }
    }

    /// The derivative ψ' of the influence of a residual.
    pub fn curvature(self, residual: f64) -> f64 {
        let share = (residual / self.threshold).abs();
        match self.loss {
            Loss::Squares => 1.0,
            Loss::Huber => f64::from(u8::from(share <= 1.0)),
            Loss::Cauchy => (1.0 - share * share) / (1.0 + share * share).powi(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn influence_is_half_the_derivative_of_the_loss() {
        for (_, loss) in Loss::NAMES {
            let penalty = Penalty { loss, threshold: 0.7 };
            for r in [-3.0, -0.69, -0.1, 0.2, 0.65, 0.8, 5.0] {
                let h = 1e-6;
                let derivative = (penalty.of(r + h).0 - penalty.of(r - h).0) / (2.0 * h);
                let psi = |r: f64| penalty.of(r).1 * r;
                assert!((0.5 * derivative - psi(r)).abs() < 1e-8, "{loss:?} {r}");
                let bend = (psi(r + h) - psi(r - h)) / (2.0 * h);
                assert!((bend - penalty.curvature(r)).abs() < 1e-8, "{loss:?} {r}");
            }
        }
    }
}
