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
    /// One value.
    pub fn of(value: f64) -> Summary {
        Summary { values: vec![value], weight: 1 }
    }

    /// The summary of two that stand for as many values each.
    pub(crate) fn joined(&self, other: &Summary) -> Summary {
        let mut values = Vec::with_capacity(self.values.len() + other.values.len());
        let (mut a, mut b) = (self.values.iter().peekable(), other.values.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(left), Some(right)) if left <= right => a.next(),
                (_, Some(_)) => b.next(),
                (Some(_), None) => a.next(),
                (None, None) => break,
            };
            values.extend(next);
        }
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

/// The value below which a share of all values lies, linearly between neighbours; of summaries with weights.
pub(crate) fn quantile(parts: &[&Summary], share: f64) -> f64 {
    let mut all: Vec<(f64, u64)> =
        parts.iter().flat_map(|part| part.values.iter().map(|value| (*value, part.weight))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: u64 = all.iter().map(|(_, weight)| weight).sum();
    let Some((_, last)) = all.split_last().map(|(last, _)| (0, *last)) else { return f64::NAN };
    // Ranks count from 0 to total − 1; a value with a weight stands in the middle of its ranks.
    let rank = share.clamp(0.0, 1.0) * (total as f64 - 1.0);
    let mut before: Option<(f64, f64)> = None;
    let mut passed = 0u64;
    for (value, weight) in all {
        let middle = passed as f64 + (weight as f64 - 1.0) / 2.0;
        if middle >= rank {
            return match before {
                Some((at, low)) if middle > at => low + (value - low) * ((rank - at) / (middle - at)),
                _ => value,
            };
        }
        before = Some((middle, value));
        passed += weight;
    }
    last.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_base::random::Random;

    #[test]
    fn few_values_give_exact_quantiles() {
        let all = [3.0, 1.0, 2.0, 5.0].map(Summary::of);
        let parts: Vec<&Summary> = all.iter().collect();
        assert_eq!(quantile(&parts, 0.0), 1.0);
        assert_eq!(quantile(&parts, 0.5), 2.5);
        assert_eq!(quantile(&parts, 1.0), 5.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn many_values_give_quantiles_within_their_bound() {
        let mut random = Random::new(4);
        let mut level: Vec<Summary> = (0..1 << 16).map(|_| Summary::of(random.unit())).collect();
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| pair[0].joined(&pair[1])).collect();
        }
        assert!(level[0].values.len() <= HELD_VALUES);
        for share in [0.01, 0.05, 0.5, 0.9, 0.99] {
            // Six doublings beyond what is held, and the scatter of the values themselves.
            let found = quantile(&[&level[0]], share);
            assert!((found - share).abs() < 6.0 / (2.0 * HELD_VALUES as f64) + 0.006, "{share}: {found}");
        }
    }
}
