//! Layers of a block diagram: loops are cut, every block gets a column, wires
//! that pass or return through a column get a place in it, crossings are few.

use super::{BlockDiagram, BlockKind};
use std::collections::BTreeMap;

/// What stands in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// A block.
    Block(usize),
    /// The wires of a block on their way to the right.
    Passing(usize),
    /// The wires of a block on their way back.
    Returning(usize),
}

/// The layers with the heights of everything in them.
#[derive(Debug, Clone, Default)]
pub struct Layering {
    /// The column of each block.
    pub layer: Vec<usize>,
    /// What stands in each column, from top to bottom, with its middle.
    pub columns: Vec<Vec<(Stop, f64)>>,
    /// The place of everything in its column.
    places: BTreeMap<(usize, Stop), usize>,
}

impl Layering {
    /// The middle of something in a column.
    pub fn middle(&self, column: usize, stop: Stop) -> Option<f64> {
        self.places.get(&(column, stop)).map(|&at| self.columns[column][at].1)
    }
}

/// Free height between neighbours in a column.
const BLOCK_GAP: f64 = 16.0;
/// Height of a wire that passes a column.
const LANE: f64 = 8.0;
const LAYER_SWEEPS: usize = 12;

/// Arranges a block diagram in layers.
pub fn layers(diagram: &BlockDiagram, sizes: &[(f64, f64)]) -> Layering {
    let layer = assign(diagram);
    let columns = layer.iter().copied().max().map_or(0, |last| last + 1);
    let mut content: Vec<Vec<Stop>> = vec![Vec::new(); columns];
    for (block, &column) in layer.iter().enumerate() {
        content[column].push(Stop::Block(block));
    }
    let mut targets_of: Vec<Vec<usize>> = vec![Vec::new(); diagram.blocks.len()];
    for wire in &diagram.wires {
        targets_of[wire.from].push(layer[wire.to]);
    }
    for (block, targets) in targets_of.into_iter().enumerate() {
        let (mut last, mut first) = (layer[block], usize::MAX);
        for target in targets {
            last = last.max(target);
            if target <= layer[block] {
                first = first.min(target);
            }
        }
        for column in content.iter_mut().take(last).skip(layer[block] + 1) {
            column.push(Stop::Passing(block));
        }
        if first != usize::MAX {
            for column in &mut content[first..=layer[block]] {
                column.push(Stop::Returning(block));
            }
        }
    }
    let near = neighbours(&content, &links(diagram, &layer, &content));
    let height: Vec<Vec<f64>> = content
        .iter()
        .map(|stops| {
            let of = |stop: &Stop| if let Stop::Block(block) = stop { sizes[*block].1 } else { LANE };
            stops.iter().map(of).collect()
        })
        .collect();
    let sorted = order(&near);
    let chain: Vec<Vec<Option<usize>>> = content
        .iter()
        .map(|stops| {
            let of = |stop: &Stop| match *stop {
                Stop::Block(_) => None,
                Stop::Passing(block) => Some(2 * block),
                Stop::Returning(block) => Some(2 * block + 1),
            };
            stops.iter().map(of).collect()
        })
        .collect();
    let middle = heights(&sorted, &near, &height, &chain);
    let columns: Vec<Vec<(Stop, f64)>> = (0..content.len())
        .map(|column| {
            sorted[column].iter().map(|&item| (content[column][item], middle[column][item])).collect()
        })
        .collect();
    let mut places = BTreeMap::new();
    for (column, items) in columns.iter().enumerate() {
        places.extend(items.iter().enumerate().map(|(at, &(stop, _))| ((column, stop), at)));
    }
    let mut layering = Layering { layer, columns, places };
    level(diagram, &mut layering, sizes);
    straighten(diagram.blocks.len(), &mut layering, sizes);
    layering
}

/// The column of every block: longest paths after loops have been cut.
fn assign(diagram: &BlockDiagram) -> Vec<usize> {
    let count = diagram.blocks.len();
    let mut next = vec![Vec::new(); count];
    for (index, wire) in diagram.wires.iter().enumerate() {
        if wire.from != wire.to {
            next[wire.from].push((index, wire.to));
        }
    }
    // Depth-first from the inputs: a wire to a block still open closes a loop.
    let mut state = vec![0_u8; count];
    let mut back = vec![false; diagram.wires.len()];
    let mut finished = Vec::with_capacity(count);
    let inputs = (0..count).filter(|&block| diagram.blocks[block].kind == BlockKind::Input);
    for start in inputs.chain(0..count) {
        if state[start] != 0 {
            continue;
        }
        state[start] = 1;
        let mut stack = vec![(start, 0)];
        while let Some((block, at)) = stack.last_mut() {
            if let Some(&(wire, other)) = next[*block].get(*at) {
                *at += 1;
                match state[other] {
                    0 => {
                        state[other] = 1;
                        stack.push((other, 0));
                    }
                    1 => back[wire] = true,
                    _ => {}
                }
            } else {
                state[*block] = 2;
                finished.push(*block);
                stack.pop();
            }
        }
    }
    let mut layer = vec![0_usize; count];
    for &block in finished.iter().rev() {
        for &(wire, other) in &next[block] {
            if !back[wire] {
                layer[other] = layer[other].max(layer[block] + 1);
            }
        }
    }
    // Inputs stand right before what they feed.
    for block in 0..count {
        if diagram.blocks[block].kind == BlockKind::Input
            && let Some(first) = next[block].iter().map(|&(_, other)| layer[other]).min()
        {
            layer[block] = first.saturating_sub(1);
        }
    }
    layer
}

/// Pairs of places in neighbouring columns, or in one, that a wire joins.
type Link = ((usize, usize), (usize, usize));

fn links(diagram: &BlockDiagram, layer: &[usize], content: &[Vec<Stop>]) -> Vec<Link> {
    let mut place = BTreeMap::new();
    for (column, stops) in content.iter().enumerate() {
        for (at, &stop) in stops.iter().enumerate() {
            place.insert((column, stop), (column, at));
        }
    }
    let mut links = Vec::new();
    let mut link = |a: (usize, Stop), b: (usize, Stop)| {
        if let (Some(&a), Some(&b)) = (place.get(&a), place.get(&b)) {
            links.push((a, b));
        }
    };
    for wire in &diagram.wires {
        let (from, to) = (layer[wire.from], layer[wire.to]);
        let source = |column: usize| {
            if column == from { Stop::Block(wire.from) } else { Stop::Passing(wire.from) }
        };
        if to > from {
            for column in from..to {
                let target = if column + 1 == to { Stop::Block(wire.to) } else { Stop::Passing(wire.from) };
                link((column, source(column)), (column + 1, target));
            }
        } else {
            link((from, Stop::Block(wire.from)), (from, Stop::Returning(wire.from)));
            for column in to..from {
                link((column, Stop::Returning(wire.from)), (column + 1, Stop::Returning(wire.from)));
            }
            link((to, Stop::Returning(wire.from)), (to, Stop::Block(wire.to)));
        }
    }
    links.sort_unstable();
    links.dedup();
    links
}

/// Neighbours of every place, by column and item.
fn neighbours(content: &[Vec<Stop>], links: &[Link]) -> Vec<Vec<Vec<(usize, usize)>>> {
    let mut result: Vec<Vec<Vec<(usize, usize)>>> =
        content.iter().map(|stops| vec![Vec::new(); stops.len()]).collect();
    for &(a, b) in links {
        result[a.0][a.1].push(b);
        result[b.0][b.1].push(a);
    }
    result
}

/// Orders every column by the mean places of its neighbours, to and fro;
/// returns the items of each column from top to bottom.
fn order(near: &[Vec<Vec<(usize, usize)>>]) -> Vec<Vec<usize>> {
    let mut sorted: Vec<Vec<usize>> = near.iter().map(|items| (0..items.len()).collect()).collect();
    let mut rank: Vec<Vec<f64>> =
        near.iter().map(|items| (0..items.len()).map(|at| at as f64).collect()).collect();
    for sweep in 0..LAYER_SWEEPS {
        for step in 0..near.len() {
            let column = if sweep % 2 == 0 { step } else { near.len() - 1 - step };
            let keys: Vec<f64> = near[column]
                .iter()
                .zip(&rank[column])
                .map(|(list, &own)| {
                    // What returns stands just below its block.
                    let sum: f64 =
                        list.iter().map(|&(c, item)| rank[c][item] + 0.4 * f64::from(c == column)).sum();
                    if list.is_empty() { own } else { sum / list.len() as f64 }
                })
                .collect();
            sorted[column].sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
            for (place, &item) in sorted[column].iter().enumerate() {
                rank[column][item] = place as f64;
            }
        }
    }
    exchange(near, &mut sorted, &mut rank);
    sorted
}

/// Exchanges neighbours in a column as long as that saves crossings.
fn exchange(near: &[Vec<Vec<(usize, usize)>>], sorted: &mut [Vec<usize>], rank: &mut [Vec<f64>]) {
    // Crossings between the wires of an item and those of the one below it.
    let crossings = |column: usize, upper: usize, lower: usize, rank: &[Vec<f64>]| {
        let mut count = 0_usize;
        for &(c, a) in near[column][upper].iter().filter(|place| place.0 != column) {
            count += near[column][lower].iter().filter(|&&(d, b)| c == d && rank[d][b] < rank[c][a]).count();
        }
        count
    };
    for _ in 0..LAYER_SWEEPS {
        let mut better = false;
        for column in 0..near.len() {
            for at in 1..sorted[column].len() {
                let (upper, lower) = (sorted[column][at - 1], sorted[column][at]);
                if crossings(column, upper, lower, rank) > crossings(column, lower, upper, rank) {
                    sorted[column].swap(at - 1, at);
                    rank[column][upper] = at as f64;
                    rank[column][lower] = (at - 1) as f64;
                    better = true;
                }
            }
        }
        if !better {
            break;
        }
    }
}

/// The middle of every item: near its neighbours', in order and apart. The
/// places of one wire (`chain`) keep to one height where they can.
fn heights(
    sorted: &[Vec<usize>],
    near: &[Vec<Vec<(usize, usize)>>],
    height: &[Vec<f64>],
    chain: &[Vec<Option<usize>>],
) -> Vec<Vec<f64>> {
    let chains = chain.iter().flatten().flatten().copied().max().map_or(0, |last| last + 1);
    let mut middle: Vec<Vec<f64>> = height.iter().map(|items| vec![0.0; items.len()]).collect();
    for sweep in 0..4 * LAYER_SWEEPS {
        // Where each wire runs on the whole, and how far its ends pull it.
        let mut run = vec![(0.0, 0.0); chains];
        for (column, items) in chain.iter().enumerate() {
            for (item, index) in items.iter().enumerate() {
                let Some(index) = *index else { continue };
                let (sum, count) = &mut run[index];
                *sum += middle[column][item];
                *count += 1.0;
                for &(c, other) in near[column][item].iter().filter(|&&(c, other)| chain[c][other].is_none())
                {
                    *sum += 0.3 * (middle[c][other] + if c == column { 30.0 } else { 0.0 });
                    *count += 0.3;
                }
            }
        }
        for step in 0..sorted.len() {
            let column = if sweep % 2 == 0 { step } else { sorted.len() - 1 - step };
            let wanted: Vec<(f64, f64)> = (0..near[column].len())
                .map(|item| {
                    if let Some(index) = chain[column][item] {
                        return (run[index].0 / run[index].1, 4.0);
                    }
                    let across: Vec<f64> = near[column][item]
                        .iter()
                        .filter(|&&(c, other)| c != column && chain[c][other].is_none())
                        .map(|&(c, other)| middle[c][other])
                        .collect();
                    if across.is_empty() {
                        (middle[column][item], 0.5)
                    } else {
                        (across.iter().sum::<f64>() / across.len() as f64, 1.0)
                    }
                })
                .collect();
            middle[column] = apart(&sorted[column], &wanted, &height[column]);
        }
    }
    middle
}

/// The places nearest to the wanted ones, by weight, that keep the order and
/// the gaps (pool adjacent violators).
fn apart(sorted: &[usize], wanted: &[(f64, f64)], height: &[f64]) -> Vec<f64> {
    let mut offset = Vec::with_capacity(sorted.len());
    let mut bottom = 0.0;
    for &item in sorted {
        offset.push(bottom + height[item] / 2.0);
        bottom += height[item] + BLOCK_GAP;
    }
    // Pools of neighbours that move as one: weighted sum of wishes, weight, number.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (at, &item) in sorted.iter().enumerate() {
        let (place, weight) = wanted[item];
        pools.push(((place - offset[at]) * weight, weight, 1));
        while let [.., (a, v, n), (b, w, m)] = pools[..] {
            if a / v <= b / w {
                break;
            }
            pools.pop();
            if let Some(last) = pools.last_mut() {
                *last = (a + b, v + w, n + m);
            }
        }
    }
    let mut result = vec![0.0; wanted.len()];
    let mut at = 0;
    for (sum, weight, count) in pools {
        for _ in 0..count {
            result[sorted[at]] = sum / weight + offset[at];
            at += 1;
        }
    }
    result
}

/// Moves blocks with one way in, or inputs with one way out, level with what
/// they are joined to, where that is near and free.
fn level(diagram: &BlockDiagram, layering: &mut Layering, sizes: &[(f64, f64)]) {
    let mut arriving: Vec<Vec<usize>> = vec![Vec::new(); diagram.blocks.len()];
    for wire in &diagram.wires {
        arriving[wire.to].push(wire.from);
    }
    for (block, arriving) in arriving.iter().enumerate() {
        let column = layering.layer[block];
        let [from] = arriving[..] else { continue };
        if layering.layer[from] + 1 != column {
            continue;
        }
        let Some(goal) = layering.middle(column - 1, Stop::Block(from)) else { continue };
        let Some(&at) = layering.places.get(&(column, Stop::Block(block))) else { continue };
        let near = (layering.columns[column][at].1 - goal).abs() < 24.0;
        if near && free(&layering.columns[column], at, goal, sizes) {
            layering.columns[column][at].1 = goal;
        }
    }
}

/// Whether an item of a column may stand at a height.
fn free(column: &[(Stop, f64)], at: usize, goal: f64, sizes: &[(f64, f64)]) -> bool {
    let half = |index: usize| match column[index].0 {
        Stop::Block(other) => sizes[other].1 / 2.0,
        _ => LANE / 2.0,
    };
    let above = at
        .checked_sub(1)
        .is_none_or(|index| column[index].1 + half(index) + half(at) + BLOCK_GAP / 2.0 <= goal);
    let below =
        at + 1 >= column.len() || column[at + 1].1 - half(at + 1) - half(at) - BLOCK_GAP / 2.0 >= goal;
    above && below
}

/// Lets wires that pass or return through several columns run level where they can.
fn straighten(blocks: usize, layering: &mut Layering, sizes: &[(f64, f64)]) {
    let mut columns_of: BTreeMap<Stop, Vec<usize>> = BTreeMap::new();
    for &(column, stop) in layering.places.keys() {
        columns_of.entry(stop).or_default().push(column);
    }
    for block in 0..blocks {
        for stop in [Stop::Passing(block), Stop::Returning(block)] {
            let Some(runs) = columns_of.get(&stop) else { continue };
            let places: Vec<(usize, usize)> =
                runs.iter().map(|&column| (column, layering.places[&(column, stop)])).collect();
            let heights: Vec<f64> =
                places.iter().map(|&(column, at)| layering.columns[column][at].1).collect();
            let goal = heights.iter().copied().find(|&goal| {
                places.iter().all(|&(column, at)| free(&layering.columns[column], at, goal, sizes))
            });
            if let Some(goal) = goal {
                for (column, at) in places {
                    layering.columns[column][at].1 = goal;
                }
            }
        }
    }
}
