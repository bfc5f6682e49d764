//! Statistics of many answers, gathered without holding them: mean, variance,
//! extremes and quantiles of every number.
//!
//! Samples are the leaves of one binary tree over their numbers, and two nodes
//! become one only where they are the halves of a node of that tree. What is
//! gathered of any range of samples is a list of such nodes, and joining
//! lists of neighbouring ranges gives the list of the whole range to the last
//! digit, however it was split.

use crate::quantile::{HELD_VALUES, Summary, quantiles};

/// What is known of the samples of a node: the numbers 2^level·place up to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The level in the tree: it has room for 2^level samples.
    pub level: u32,
    /// Its place among the nodes of its level.
    pub place: u64,
    /// The samples that have answers.
    pub count: u64,
    /// For every number: its mean.
    pub mean: Vec<f64>,
    /// For every number: the sum of squared deviations from the mean.
    pub squares: Vec<f64>,
    /// For every number: the smallest.
    pub least: Vec<f64>,
    /// For every number: the largest.
    pub most: Vec<f64>,
    /// For every number: its values in order, by weights. A node may hold several, of different weights.
    pub summaries: Vec<Vec<Summary>>,
}

/// A sample without an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The number of the sample.
    pub sample: u64,
    /// The values of the quantities.
    pub values: Vec<f64>,
    /// Why there is none.
    pub reason: String,
}

/// What is gathered of a range of samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathered {
    /// The first sample.
    pub from: u64,
    /// One past the last.
    pub to: u64,
    /// The nodes that make up the range, in order.
    pub nodes: Vec<Node>,
    /// The samples without an answer, in order.
    pub failures: Vec<Failure>,
}

/// Why two ranges cannot be joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeError {
    /// One does not begin where the other ends.
    Gap(u64, u64),
    /// They are about different numbers.
    Unlike,
}

/// What is known of one number over all samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// The samples that have answers.
    pub count: u64,
    /// For every number: its mean.
    pub mean: Vec<f64>,
    /// For every number: its variance, by n − 1.
    pub variance: Vec<f64>,
    /// For every number: the smallest.
    pub least: Vec<f64>,
    /// For every number: the largest.
    pub most: Vec<f64>,
    nodes: Vec<Node>,
}

impl Node {
    fn empty(place: u64, size: usize) -> Node {
        Node {
            level: 0,
            place,
            count: 0,
            mean: vec![0.0; size],
            squares: vec![0.0; size],
            least: vec![f64::INFINITY; size],
            most: vec![f64::NEG_INFINITY; size],
            summaries: vec![Vec::new(); size],
        }
    }

    /// The node over so many samples that all have answers, as joining halves would make it.
    fn block(level: u32, place: u64, answers: &[Vec<f64>]) -> Node {
        let size = answers.first().map_or(0, Vec::len);
        let mut mean: Vec<f64> = answers.iter().flatten().copied().collect();
        let (mut least, mut most, mut squares) = (mean.clone(), mean.clone(), vec![0.0; mean.len()]);
        let column = |number: usize| {
            let mut values: Vec<f64> = answers.iter().map(|answer| answer[number]).collect();
            values.sort_by(f64::total_cmp);
            vec![Summary { values, weight: 1 }]
        };
        let summaries = (0..size).map(column).collect();
        for level in 0..level {
            let each = (1u64 << level) as f64;
            for pair in 0..answers.len() >> (level + 1) {
                let (left, right, joined) = (2 * pair * size, (2 * pair + 1) * size, pair * size);
                for k in 0..size {
                    let (a, b) = (left + k, right + k);
                    let moments = joined_moments((each, mean[a], squares[a]), (each, mean[b], squares[b]));
                    (mean[joined + k], squares[joined + k]) = moments;
                    least[joined + k] = least[a].min(least[b]);
                    most[joined + k] = most[a].max(most[b]);
                }
            }
        }
        for list in [&mut mean, &mut squares, &mut least, &mut most] {
            list.truncate(size);
        }
        Node { level, place, count: answers.len() as u64, mean, squares, least, most, summaries }
    }

    fn end(&self) -> u64 {
        (self.place + 1) << self.level
    }

    /// The moments of two nodes together.
    fn moments(&self, other: &Node) -> Node {
        let numbers = 0..self.mean.len();
        let each = |join: &dyn Fn(usize) -> f64| numbers.clone().map(join).collect::<Vec<f64>>();
        let of = |node: &Node, k: usize| (node.count as f64, node.mean[k], node.squares[k]);
        let joined = |k: usize| joined_moments(of(self, k), of(other, k));
        Node {
            level: self.level + 1,
            place: self.place / 2,
            count: self.count + other.count,
            mean: each(&|k| joined(k).0),
            squares: each(&|k| joined(k).1),
            least: each(&|k| self.least[k].min(other.least[k])),
            most: each(&|k| self.most[k].max(other.most[k])),
            summaries: Vec::new(),
        }
    }

    /// The node of which both are the halves.
    fn parent(self, other: Node) -> Node {
        let moments = self.moments(&other);
        let summaries = self.summaries.into_iter().zip(other.summaries);
        Node { summaries: summaries.map(|(a, b)| together(a, b)).collect(), ..moments }
    }
}

/// The mean and the sum of squared deviations of two sets of samples together, from their numbers, means and sums
/// (Chan, Golub and LeVeque 1979).
fn joined_moments((a, mean, squares): (f64, f64, f64), (b, other, more): (f64, f64, f64)) -> (f64, f64) {
    let share = if b == 0.0 { 0.0 } else { b / (a + b) };
    let distance = other - mean;
    let joined = if a == 0.0 { other } else { mean + distance * share };
    (joined, squares + more + distance * distance * a * share)
}

/// Summaries with one for each weight: equal weights are joined, from the smallest on.
fn together(a: Vec<Summary>, b: Vec<Summary>) -> Vec<Summary> {
    let mut waiting: Vec<Summary> = a.into_iter().chain(b).collect();
    let mut made: Vec<Summary> = Vec::new();
    waiting.sort_by_key(|summary| std::cmp::Reverse(summary.weight));
    while let Some(next) = waiting.pop() {
        match made.last() {
            Some(last) if last.weight == next.weight => {
                let joined = last.joined(&next);
                made.pop();
                let place = waiting.partition_point(|summary| summary.weight > joined.weight);
                waiting.insert(place, joined);
            }
            _ => made.push(next),
        }
        // What was joined may be as heavy as what was made before it.
    }
    made
}

impl Gathered {
    /// Nothing, from a sample on.
    pub fn begin(from: u64) -> Gathered {
        Gathered { from, to: from, nodes: Vec::new(), failures: Vec::new() }
    }

    /// Takes in the samples that follow: the numbers of each, or why there are none. The first answer decides how many
    /// numbers there are; answers of another length are failures.
    pub fn extend(
        &mut self,
        sampled: &dyn Fn(u64) -> Vec<f64>,
        answers: impl IntoIterator<Item = Result<Vec<f64>, String>>,
    ) {
        let mut size = self.nodes.iter().find(|node| node.count > 0).map(|node| node.mean.len());
        // Neighbours that all have answers become a node at once.
        let mut answered: Vec<Vec<f64>> = Vec::new();
        for answer in answers {
            let judged = answer.and_then(|values| match size {
                Some(size) if size != values.len() => {
                    Err(format!("the answer has {} numbers where others have {size}", values.len()))
                }
                _ => match values.iter().position(|value| !value.is_finite()) {
                    Some(place) => Err(format!("number {place} of the answer is {}", values[place])),
                    None => Ok(values),
                },
            });
            match judged {
                Ok(values) => {
                    size = Some(values.len());
                    answered.push(values);
                }
                Err(reason) => {
                    self.add_answered(&std::mem::take(&mut answered));
                    let sample = self.to;
                    self.failures.push(Failure { sample, values: sampled(sample), reason });
                    self.to = sample + 1;
                    self.add(Node::empty(sample, size.unwrap_or(0)));
                }
            }
        }
        self.add_answered(&answered);
    }

    /// Adds samples that all have answers, in the largest nodes of the tree over them whose values are all held.
    fn add_answered(&mut self, mut answers: &[Vec<f64>]) {
        while !answers.is_empty() {
            let most = HELD_VALUES.min(answers.len()).ilog2();
            let level = self.to.trailing_zeros().min(most);
            let (block, rest) = answers.split_at(1 << level);
            let place = self.to >> level;
            self.to += block.len() as u64;
            self.add(Node::block(level, place, block));
            answers = rest;
        }
    }

    /// Adds the node that follows, and joins halves.
    fn add(&mut self, mut node: Node) {
        while let Some(last) = self.nodes.last() {
            let halves = last.level == node.level && last.place % 2 == 0 && last.place + 1 == node.place;
            if !halves {
                break;
            }
            let Some(mut first) = self.nodes.pop() else { break };
            // A node without answers does not know how many numbers there are.
            for empty in [&mut first, &mut node] {
                if empty.count == 0 {
                    let (level, place) = (empty.level, empty.place);
                    let size = empty.mean.len();
                    *empty = Node { level, ..Node::empty(place, size) };
                }
            }
            let size = first.mean.len().max(node.mean.len());
            for unsized_node in [&mut first, &mut node] {
                if unsized_node.mean.len() < size {
                    let (level, place) = (unsized_node.level, unsized_node.place);
                    *unsized_node = Node { level, ..Node::empty(place, size) };
                }
            }
            node = first.parent(node);
        }
        self.nodes.push(node);
    }

    /// Joins what was gathered of the range that follows.
    pub fn join(&mut self, other: Gathered) -> Result<(), MergeError> {
        if other.from != self.to {
            return Err(MergeError::Gap(self.to, other.from));
        }
        let size = |gathered: &Gathered| gathered.nodes.iter().map(|node| node.mean.len()).max().unwrap_or(0);
        let (own, others) = (size(self), size(&other));
        if own != others && own > 0 && others > 0 {
            return Err(MergeError::Unlike);
        }
        other.nodes.into_iter().for_each(|node| self.add(node));
        self.failures.extend(other.failures);
        self.to = other.to;
        Ok(())
    }

    /// What all samples tell together.
    pub fn spread(&self) -> Spread {
        let size = self.nodes.iter().map(|node| node.mean.len()).max().unwrap_or(0);
        let whole = |node: &Node| if node.count == 0 { Node::empty(node.place, size) } else { node.clone() };
        // From the last on, as the tree would join them if the samples went on.
        let all = self.nodes.iter().rev().map(whole).reduce(|later, earlier| earlier.moments(&later));
        let all = all.unwrap_or_else(|| Node::empty(0, size));
        let divisor = all.count as f64 - 1.0;
        Spread {
            count: all.count,
            mean: all.mean,
            variance: all.squares.iter().map(|sum| sum / divisor).collect(),
            least: all.least,
            most: all.most,
            nodes: self.nodes.iter().filter(|node| node.count > 0).cloned().collect(),
        }
    }

    /// Whether the range is one of the tree's own from its begin on.
    pub fn ends(&self) -> u64 {
        self.nodes.last().map_or(self.from, Node::end)
    }
}

impl Spread {
    fn parts(&self, number: usize) -> Vec<&Summary> {
        self.nodes.iter().flat_map(|node| &node.summaries[number]).collect()
    }

    /// The values of a number below which these shares of the samples lie.
    pub fn quantiles(&self, number: usize, shares: &[f64]) -> Vec<f64> {
        quantiles(&self.parts(number), shares)
    }

    /// The share of samples in which a number lies between limits.
    pub fn share(&self, number: usize, low: f64, high: f64) -> f64 {
        let (mut inside, mut all) = (0u64, 0u64);
        for part in self.parts(number) {
            let within = part.values.iter().filter(|value| (low..=high).contains(*value)).count() as u64;
            inside += within * part.weight;
            all += part.values.len() as u64 * part.weight;
        }
        inside as f64 / all as f64
    }

    /// The histogram of a number: edges, and how many samples lie between neighbours.
    pub fn histogram(&self, number: usize, bins: usize) -> (Vec<f64>, Vec<u64>) {
        let (low, high) = (self.least[number], self.most[number]);
        let width = (high - low) / bins as f64;
        let edges = (0..=bins).map(|k| if k == bins { high } else { low + k as f64 * width }).collect();
        let mut counts = vec![0; bins];
        for part in self.parts(number) {
            for value in &part.values {
                let place = if width > 0.0 { ((value - low) / width) as usize } else { 0 };
                counts[place.min(bins - 1)] += part.weight;
            }
        }
        (edges, counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter_base::random::Random;

    fn answer(sample: u64) -> Result<Vec<f64>, String> {
        if sample % 97 == 13 {
            return Err("no answer".to_owned());
        }
        let mut random = Random::sample(3, sample);
        Ok(vec![1e6 + random.unit(), random.symmetric(), sample as f64])
    }

    fn gathered(from: u64, to: u64) -> Gathered {
        let mut made = Gathered::begin(from);
        made.extend(&|s| vec![s as f64], (from..to).map(answer));
        made
    }

    #[test]
    fn any_split_gives_the_same_digits() {
        const COUNT: u64 = 5000;
        let whole = gathered(0, COUNT);
        let mut random = Random::new(8);
        for _ in 0..10 {
            let mut cuts: Vec<u64> = (0..9).map(|_| random.bits() % (COUNT + 1)).collect();
            cuts.extend([0, COUNT]);
            cuts.sort_unstable();
            let mut joined = Gathered::begin(0);
            for pair in cuts.windows(2) {
                joined.join(gathered(pair[0], pair[1])).unwrap();
            }
            assert_eq!(joined, whole, "{cuts:?}");
            let mut extended = Gathered::begin(0);
            for pair in cuts.windows(2) {
                extended.extend(&|s| vec![s as f64], (pair[0]..pair[1]).map(answer));
            }
            assert_eq!(extended, whole, "{cuts:?}");
        }
        let mut single = Gathered::begin(0);
        (0..COUNT).for_each(|sample| single.extend(&|s| vec![s as f64], [answer(sample)]));
        assert_eq!(single, whole);
        assert_eq!(gathered(0, 10).join(gathered(11, 12)), Err(MergeError::Gap(10, 11)));
    }

    #[test]
    fn statistics_are_those_of_all_values() {
        const COUNT: u64 = 3000;
        let made = gathered(0, COUNT);
        let spread = made.spread();
        let all: Vec<Vec<f64>> = (0..COUNT).filter_map(|sample| answer(sample).ok()).collect();
        assert_eq!((spread.count as usize, made.failures.len()), (all.len(), COUNT as usize - all.len()));
        assert_eq!(made.failures[0].values, [13.0]);
        for number in 0..3 {
            let mut column: Vec<f64> = all.iter().map(|row| row[number]).collect();
            column.sort_by(f64::total_cmp);
            let mean = column.iter().sum::<f64>() / column.len() as f64;
            let variance = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (column.len() - 1) as f64;
            assert!((spread.mean[number] / mean - 1.0).abs() < 1e-9 || number == 1);
            assert!((spread.variance[number] / variance - 1.0).abs() < 1e-6);
            assert_eq!((spread.least[number], spread.most[number]), (column[0], column[column.len() - 1]));
            let rank = |value: f64| column.partition_point(|x| *x < value) as f64 / column.len() as f64;
            for share in [0.05, 0.5, 0.95] {
                let found = spread.quantiles(number, &[share])[0];
                assert!((rank(found) - share).abs() < 3e-3, "{number} {share}");
            }
            let (edges, counts) = spread.histogram(number, 20);
            assert_eq!((edges.len(), counts.len()), (21, 20));
            let total: u64 = counts.iter().sum();
            assert!((total as f64 / spread.count as f64 - 1.0).abs() < 0.01);
        }
    }
}
