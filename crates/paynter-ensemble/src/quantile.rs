//! Quantiles of more values than are held: a sorted summary, of which two
//! become one by keeping every other value (Munro and Paterson 1980, Manku,
//! Rajagopalan and Lindsay 1998). With up to [`HELD_VALUES`] values quantiles
//! are exact; every doubling beyond moves ranks by at most half a held value.

/// So many values are held before every other one is left out.
pub const HELD_VALUES: usize = 1024;

/// Values in order, each of which stands for as many.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// The values, rising.
    pub values: Vec<f64>,
    /// How many values each stands for.
    pub weight: u64,
}

impl Summary {
    /// The summary of two that stand for as many values each.
    pub(crate) fn joined(&self, other: &Summary) -> Summary {
        let (a, b) = (&self.values, &other.values);
        let mut values = Vec::with_capacity(a.len() + b.len());
        let mut from = 0;
        for right in b {
            while from < a.len() && a[from].total_cmp(right).is_le() {
                values.push(a[from]);
                from += 1;
            }
            values.push(*right);
        }
        values.extend_from_slice(&a[from..]);
        let mut weight = self.weight.max(other.weight);
        if values.len() > HELD_VALUES {
            // The lower and the upper of each pair are kept in turn, so that neither side is favoured.
            let odd = weight.trailing_zeros() as usize % 2;
            values = values.into_iter().skip(odd).step_by(2).collect();
            weight *= 2;
        }
        Summary { values, weight }
    }
}

/// The values below which shares of all values lie, linearly between neighbours; of summaries with weights.
pub(crate) fn quantiles(parts: &[&Summary], shares: &[f64]) -> Vec<f64> {
    let mut all: Vec<(f64, u64)> =
        parts.iter().flat_map(|part| part.values.iter().map(|value| (*value, part.weight))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: u64 = all.iter().map(|(_, weight)| weight).sum();
    shares.iter().map(|share| at_rank(&all, share.clamp(0.0, 1.0) * (total as f64 - 1.0))).collect()
}

/// The value at a rank among rising values with weights. Ranks count from 0; a value stands in the middle of its ranks.
fn at_rank(all: &[(f64, u64)], rank: f64) -> f64 {
    let mut before: Option<(f64, f64)> = None;
    let mut passed = 0u64;
    for (value, weight) in all {
        let middle = passed as f64 + (*weight as f64 - 1.0) / 2.0;
        if middle >= rank {
            return match before {
                Some((at, low)) if middle > at => low + (value - low) * ((rank - at) / (middle - at)),
                _ => *value,
            };
        }
        before = Some((middle, *value));
        passed += weight;
    }
    all.last().map_or(f64::NAN, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_base::random::Random;

    fn single(value: f64) -> Summary {
        Summary { values: vec![value], weight: 1 }
    }

    #[test]
    fn few_values_give_exact_quantiles() {
        let all = [3.0, 1.0, 2.0, 5.0].map(single);
        let parts: Vec<&Summary> = all.iter().collect();
        assert_eq!(quantiles(&parts, &[0.0, 0.5, 1.0]), [1.0, 2.5, 5.0]);
        assert!(quantiles(&[], &[0.5])[0].is_nan());
    }

    #[test]
    fn many_values_give_quantiles_within_their_bound() {
        let mut random = Random::new(4);
        let mut level: Vec<Summary> = (0..1 << 16).map(|_| single(random.unit())).collect();
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| pair[0].joined(&pair[1])).collect();
        }
        assert!(level[0].values.len() <= HELD_VALUES);
        for share in [0.01, 0.05, 0.5, 0.9, 0.99] {
            // Six doublings beyond what is held, and the scatter of the values themselves.
            let found = quantiles(&[&level[0]], &[share])[0];
            assert!((found - share).abs() < 6.0 / (2.0 * HELD_VALUES as f64) + 0.006, "{share}: {found}");
        }
    }
}
