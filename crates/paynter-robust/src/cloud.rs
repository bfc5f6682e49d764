//! Poles of a model at parameters drawn at random from its box, and at its vertices.

use num_complex::Complex64;
use paynter_base::CancellationToken;
use paynter_base::random::Random;

use crate::system::Interconnection;
use crate::tolerance::TRIED_VERTICES;

/// The poles at samples of the box |δ| ≤ size; fewer samples where the work is cancelled.
pub fn root_cloud(
    system: &Interconnection,
    size: f64,
    samples: usize,
    seed: u64,
    token: &CancellationToken,
) -> Vec<Complex64> {
    let count = system.parameters();
    let vertices = if count <= TRIED_VERTICES { 1usize << count } else { 0 };
    let corner = |vertex: usize| -> Vec<f64> {
        (0..count).map(|i| if vertex >> i & 1 == 0 { -size } else { size }).collect()
    };
    let drawn = (0..samples).map(|sample| {
        let mut random = Random::sample(seed, sample as u64);
        (0..count).map(|_| size * random.symmetric()).collect::<Vec<f64>>()
    });
    let all = (0..vertices).map(corner).chain(drawn).take_while(|_| {
        token.spend(system.poles_operations());
        token.check().is_ok() && !token.is_spent()
    });
    all.filter_map(|delta| system.around(&delta, &[]).ok()?.a.eigenvalues()).flatten().collect()
}
