//! Models that nothing uses. They have no values and no bonds from outside, so
//! that only what their own text tells is judged.

use paynter_algebra::Pool;
use paynter_base::{Code, code};

use super::expression::Typed;
use super::instance::Instance;
use super::params::Arguments;
use super::program::ModelInfo;
use super::{Flattener, Report};
use crate::limits::UNUSED_ELEMENTS;

/// Mistakes that no value and no bond from outside could mend.
const KNOWABLE: [Code; 8] = [
    code::UNKNOWN_NAME,
    code::BAD_ARGUMENT,
    code::MISPLACED,
    code::WRONG_LAW,
    code::MISSING_VALUE,
    code::UNKNOWN_UNIT,
    code::UNIT_MISMATCH,
    code::UNKNOWN_PORT,
];

/// Instantiates what nothing uses by itself, and reports the mistakes that are certain. `order` has each model
/// after those it uses.
pub(super) fn check(
    mut infos: Vec<ModelInfo<'_>>,
    order: &[usize],
    instances: &[Instance],
    report: &mut Report,
) {
    let mut seen = vec![false; infos.len()];
    instances.iter().for_each(|instance| seen[instance.model] = true);
    for &model in order.iter().rev() {
        if seen[model] {
            continue;
        }
        let mut pool = Pool::new();
        let one = pool.one();
        let header = infos[model].params.iter().enumerate().take(infos[model].header);
        let open = header.filter(|(_, param)| param.value.is_none());
        let arguments: Arguments = open.map(|(i, param)| (i, Typed::unknown(one), param.span)).collect();
        let mut trial = Flattener::new(&mut pool, infos, Report::default(), model, UNUSED_ELEMENTS);
        trial.run(model, arguments);
        trial.instances.iter().for_each(|instance| seen[instance.model] = true);
        let found = trial.report.diagnostics.iter();
        found.filter(|d| KNOWABLE.contains(&d.code)).for_each(|d| report.push(d.clone()));
        infos = trial.infos;
    }
}
