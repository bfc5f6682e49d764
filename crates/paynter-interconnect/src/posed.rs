//! Well-posedness: whether I − D11 Δ is regular for every Δ of the box abs(δ) ≤ 1.
//!
//! D11 falls into loops of channels that act on one another; each is judged on its own. The determinant of a loop
//! is affine in the δ of every single channel, so over a box it is extreme at corners. Signs that agree at all
//! corners of the box in which each channel has a δ of its own prove that it is regular; a corner of the true box
//! with another sign gives values at which it is singular. Where there are such, both are sought in smaller boxes: the
//! scaling up to which it is proved to be regular, and the smallest found at which it is not.

use std::collections::BTreeMap;
use std::ops::Range;

use paynter_base::{CancellationToken, QueryError, random, strong_components};

use crate::limits::{CORNER_CHANNELS, CORNER_SAMPLES, SCALING_TOLERANCE};
use crate::model::Numbers;

/// Whether the interconnection is well posed over the box of tolerances.
#[derive(Debug, Clone, PartialEq)]
pub enum Posed {
    /// It is, by the signs of determinants at all corners.
    Proven,
    /// No singular values were found, but the corners prove nothing.
    Undecided,
    /// It is not.
    Ill(Singular),
}

/// Values at which I − D11 Δ is singular.
#[derive(Debug, Clone, PartialEq)]
pub struct Singular {
    /// The blocks in the loop, with their δ.
    pub deltas: Vec<(usize, f64)>,
    /// The largest of these δ: the scaling of the box that holds them.
    pub scale: f64,
    /// The scaling of the box up to which I − D11 Δ is proved to be regular.
    pub regular: f64,
}

impl Singular {
    /// These values for so many blocks, with a little more, so that rounding does not make I − D11 Δ regular.
    pub fn beyond(&self, blocks: usize) -> Vec<f64> {
        let more = 1.0 + f64::EPSILON.sqrt();
        let mut delta = vec![0.0; blocks];
        self.deltas.iter().for_each(|(block, value)| delta[*block] = more * value);
        delta
    }
}

/// Judges I − D11 Δ over the box.
pub(crate) fn over_the_box(
    d11: &Numbers,
    blocks: &[Range<usize>],
    token: &CancellationToken,
) -> Result<Posed, QueryError> {
    let mut rows: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); d11.rows];
    for (i, j, value) in d11.entries.iter().filter(|(_, _, value)| *value != 0.0) {
        rows[*i].insert(*j, *value);
    }
    let next: Vec<Vec<u32>> = rows.iter().map(|row| row.keys().map(|j| *j as u32).collect()).collect();
    let owner = |channel: usize| blocks.partition_point(|block| block.end <= channel);
    let mut undecided = false;
    // The singular values of the smallest scaling, and the smallest scaling up to which loops are regular.
    let mut worst: Option<Singular> = None;
    let mut regular = f64::INFINITY;
    for group in strong_components(rows.len(), |v| &next[v as usize]) {
        let channels: Vec<usize> = group.iter().map(|v| *v as usize).collect();
        if let [one] = channels[..]
            && !rows[one].contains_key(&one)
        {
            continue;
        }
        let loop_ = Loop { d11: &rows, owners: channels.iter().map(|c| owner(*c)).collect(), channels };
        match loop_.judge(token)? {
            Posed::Ill(singular) => {
                regular = regular.min(singular.regular);
                if worst.as_ref().is_none_or(|worst| singular.scale < worst.scale) {
                    worst = Some(singular);
                }
            }
            Posed::Undecided => {
                undecided = true;
                regular = regular.min(loop_.regular_scale(token)?);
            }
            Posed::Proven => {}
        }
    }
    Ok(match worst {
        Some(worst) => Posed::Ill(Singular { regular: regular.min(worst.scale), ..worst }),
        None if undecided => Posed::Undecided,
        None => Posed::Proven,
    })
}

/// Channels that act on one another.
struct Loop<'a> {
    d11: &'a [BTreeMap<usize, f64>],
    channels: Vec<usize>,
    /// By channel: its block.
    owners: Vec<usize>,
}

impl Loop<'_> {
    fn judge(&self, token: &CancellationToken) -> Result<Posed, QueryError> {
        let n = self.channels.len();
        let mut members = self.owners.clone();
        members.sort_unstable();
        members.dedup();
        let free: Vec<usize> = (0..n).collect();
        if self.contracts() {
            return Ok(Posed::Proven);
        }
        let by_block: Vec<usize> =
            self.owners.iter().filter_map(|owner| members.iter().position(|m| m == owner)).collect();
        // The corner of the smallest box: each that is found makes the box smaller in which another is sought.
        let mut worst: Option<(f64, Vec<f64>)> = None;
        let smaller = |worst: &Option<(f64, Vec<f64>)>| {
            worst.as_ref().map_or(1.0, |(scale, _)| scale * (1.0 - SCALING_TOLERANCE))
        };
        while let Some(corner) = self.other_sign(&by_block, members.len(), smaller(&worst), token)? {
            worst = Some((self.singular_scale(&by_block, &corner, smaller(&worst)), corner));
        }
        if let Some((scale, corner)) = worst {
            let deltas = members.iter().zip(&corner).map(|(block, side)| (*block, scale * side)).collect();
            let regular = self.regular_scale(token)?.min(scale);
            return Ok(Posed::Ill(Singular { deltas, scale, regular }));
        }
        let proven = n <= CORNER_CHANNELS && self.other_sign(&free, n, 1.0, token)?.is_none();
        Ok(if proven { Posed::Proven } else { Posed::Undecided })
    }

    /// The scaling of the box up to which the loop is proved to be regular, at most one: by the signs at all corners,
    /// or by the sums of rows where there are too many.
    fn regular_scale(&self, token: &CancellationToken) -> Result<f64, QueryError> {
        let n = self.channels.len();
        let sum = |i: &usize| self.channels.iter().map(|j| self.entry(*i, *j).abs()).sum::<f64>();
        let contracting = 1.0 / self.channels.iter().map(sum).fold(1.0, f64::max);
        if n > CORNER_CHANNELS {
            return Ok(contracting);
        }
        let free: Vec<usize> = (0..n).collect();
        let (mut low, mut high) = (contracting, 1.0);
        while high - low > SCALING_TOLERANCE * high {
            let middle = 0.5 * (low + high);
            match self.other_sign(&free, n, middle, token)? {
                None => low = middle,
                Some(_) => high = middle,
            }
        }
        Ok(low)
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self.d11[i].get(&j).copied().unwrap_or(0.0)
    }

    /// Whether every row of the loop sums to less than one, which no δ within ±1 can make singular.
    fn contracts(&self) -> bool {
        self.channels
            .iter()
            .all(|i| self.channels.iter().map(|j| self.entry(*i, *j).abs()).sum::<f64>() < 1.0)
    }

    /// A corner of a scaled box at which the determinant is not positive; `groups` tells which channels share a δ.
    fn other_sign(
        &self,
        groups: &[usize],
        count: usize,
        scale: f64,
        token: &CancellationToken,
    ) -> Result<Option<Vec<f64>>, QueryError> {
        let corners = if count <= CORNER_CHANNELS { 1 << count } else { CORNER_SAMPLES };
        for corner in 0..corners {
            token.check()?;
            let side = |k: usize| {
                let bits =
                    if count <= CORNER_CHANNELS { corner >> k } else { random::bits(corner, k as u64) };
                if bits & 1 == 1 { 1.0 } else { -1.0 }
            };
            let corner: Vec<f64> = (0..count).map(side).collect();
            if self.determinant(groups, &corner, scale) <= 0.0 {
                return Ok(Some(corner));
            }
        }
        Ok(None)
    }

    /// Where on the way from the nominal values to a corner of a scaled box the determinant vanishes.
    fn singular_scale(&self, groups: &[usize], corner: &[f64], scale: f64) -> f64 {
        let (mut low, mut high) = (0.0, scale);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.determinant(groups, corner, middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// The determinant of I − D11 Δ of the loop, by elimination with row pivots.
    fn determinant(&self, groups: &[usize], corner: &[f64], scale: f64) -> f64 {
        let n = self.channels.len();
        let entry = |i: usize, j: usize| {
            let own = if i == j { 1.0 } else { 0.0 };
            own - self.entry(self.channels[i], self.channels[j]) * scale * corner[groups[j]]
        };
        let mut rows: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
        let mut determinant = 1.0;
        for j in 0..n {
            let Some(pivot) = (j..n).max_by(|a, b| rows[*a][j].abs().total_cmp(&rows[*b][j].abs())) else {
                return 0.0;
            };
            if rows[pivot][j] == 0.0 {
                return 0.0;
            }
            if pivot != j {
                rows.swap(pivot, j);
                determinant = -determinant;
            }
            determinant *= rows[j][j];
            for i in j + 1..n {
                let factor = rows[i][j] / rows[j][j];
                if factor != 0.0 {
                    for k in j..n {
                        rows[i][k] -= factor * rows[j][k];
                    }
                }
            }
        }
        determinant
    }
}
