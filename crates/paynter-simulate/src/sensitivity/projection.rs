//! The projection of sensitivities onto sliding surfaces on which a run starts: what begins beside them comes back
//! along the jumps of the vector field at once, S − D (G D)⁻¹ G S, with the gradients G of the event functions and
//! the jumps D = f⁺ − f⁻.

use crate::system::{EvaluationError, System, Values};
use paynter_numerics::linalg::PivotedFactors;

/// The gradients of the functions that are held at zero, and the jumps of the vector field with their modes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Projection {
    gradients: Vec<Vec<(usize, f64)>>,
    jumps: Vec<Vec<f64>>,
}

impl Projection {
    /// The projection onto the surfaces along which the motion slides here, if it does.
    pub fn find(system: &mut System<'_>, t: f64, x: &[f64]) -> Result<Option<Projection>, EvaluationError> {
        let surfaces = system.surfaces();
        // What reacts at once holds no state.
        let holds = |j: &usize| system.slides_along(*j) && surfaces[*j].order == 1;
        let held: Vec<usize> = (0..surfaces.len()).filter(holds).map(|j| surfaces[j].relation).collect();
        if held.is_empty() {
            return Ok(None);
        }
        let (snapshot, point) = (system.snapshot(), system.point());
        for j in 0..surfaces.len() {
            system.set_sliding(j, 0.0);
        }
        let found = Projection::beside(system, t, x, &held);
        system.restore(&snapshot);
        system.set_point_to(point);
        found.map(Some)
    }

    /// The same where nothing slides any more.
    fn beside(
        system: &mut System<'_>,
        t: f64,
        x: &[f64],
        held: &[usize],
    ) -> Result<Projection, EvaluationError> {
        let mut jumps = Vec::with_capacity(held.len());
        for k in held {
            let kept = system.mode(*k);
            let mut sides = [vec![0.0; x.len()], vec![0.0; x.len()]];
            for (mode, rates) in [1.0, -1.0].into_iter().zip(&mut sides) {
                system.set_mode(*k, mode);
                system.prepare();
                system.rates(t, x, rates)?;
            }
            system.set_mode(*k, kept);
            system.prepare();
            jumps.push(sides[0].iter().zip(&sides[1]).map(|(above, below)| above - below).collect());
        }
        let mut values = Values::default();
        system.relations_full(t, x, &mut values)?;
        let full = &system.model.relations_full;
        let by_states = full.by_states(&values.data);
        let gradient =
            |k: &usize| full.pattern.row(*k).map(|e| (full.pattern.at[e] as usize, by_states[e])).collect();
        Ok(Projection { gradients: held.iter().map(gradient).collect(), jumps })
    }

    /// A direction of the state after the projection.
    pub fn apply(&self, mut direction: Vec<f64>) -> Vec<f64> {
        let mut apart: Vec<f64> = self.gradients.iter().map(|gradient| along(gradient, &direction)).collect();
        self.factors(false).solve(&mut apart);
        for (jump, apart) in self.jumps.iter().zip(&apart).filter(|(_, apart)| apart.is_finite()) {
            direction.iter_mut().zip(jump).for_each(|(value, jump)| *value -= jump * apart);
        }
        direction
    }

    /// The derivative of a cost by the state before the projection: λ − Gᵀ (G D)⁻ᵀ Dᵀ λ.
    pub fn transpose(&self, lambda: &mut [f64]) {
        let product = |jump: &Vec<f64>| jump.iter().zip(&*lambda).map(|(jump, value)| jump * value).sum();
        let mut apart: Vec<f64> = self.jumps.iter().map(product).collect();
        self.factors(true).solve(&mut apart);
        for (gradient, apart) in self.gradients.iter().zip(&apart).filter(|(_, apart)| apart.is_finite()) {
            gradient.iter().for_each(|(i, derivative)| lambda[*i] -= derivative * apart);
        }
    }

    /// Factors of G D, or of its transpose.
    fn factors(&self, transposed: bool) -> PivotedFactors {
        let count = self.jumps.len();
        let places: Vec<(usize, usize)> = (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).collect();
        let mut matrix = PivotedFactors::new(count, &places);
        matrix.factorise(places.iter().map(|(a, b)| {
            let (row, column) = if transposed { (b, a) } else { (a, b) };
            along(&self.gradients[*row], &self.jumps[*column])
        }));
        matrix
    }
}

/// The change of a function along a direction of the state.
fn along(gradient: &[(usize, f64)], direction: &[f64]) -> f64 {
    gradient.iter().map(|(i, derivative)| derivative * direction[*i]).sum()
}
