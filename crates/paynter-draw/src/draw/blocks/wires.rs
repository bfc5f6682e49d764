//! Wires of a block diagram: in the channel between two columns every signal
//! has one upright track, from which its branches leave.

use super::layers::{Layering, Stop};
use super::{BlockDiagram, BlockDrawing, BlockKind};
use crate::draw::geometry::{Point, Rect};

/// Between tracks.
const TRACK: f64 = 9.0;
/// Before the first track and after the last one.
const APRON: f64 = 18.0;

/// One signal in one channel: where it comes and goes, at the left and at the right.
#[derive(Debug, Clone, Default)]
struct Net {
    left: Vec<f64>,
    right: Vec<f64>,
    /// The places at the right that are inputs of blocks, with their sign.
    inputs: Vec<(f64, bool)>,
    track: usize,
}

impl Net {
    fn heights(&self) -> impl Iterator<Item = f64> + '_ {
        self.left.iter().chain(&self.right).chain(self.inputs.iter().map(|input| &input.0)).copied()
    }

    fn span(&self) -> (f64, f64) {
        self.heights().fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)))
    }
}

/// Draws blocks and wires of a layered diagram.
pub fn draw(diagram: &BlockDiagram, sizes: &[(f64, f64)], layering: &Layering) -> BlockDrawing {
    let columns = layering.columns.len();
    let doors = doors(diagram, sizes, layering);
    let mut entering: Vec<Vec<usize>> = vec![Vec::new(); diagram.blocks.len()];
    let mut ending: Vec<Vec<usize>> = vec![Vec::new(); columns + 1];
    let mut gives = vec![false; diagram.blocks.len()];
    for (index, wire) in diagram.wires.iter().enumerate() {
        entering[wire.to].push(index);
        ending[layering.layer[wire.to]].push(index);
        gives[wire.from] = true;
    }
    // Channel 0 lies before the first column, channel k before column k.
    let mut channels: Vec<Vec<Net>> = (0..=columns)
        .map(|channel| nets(diagram, layering, &doors, &gives, &ending[channel], channel))
        .collect();
    for nets in &mut channels {
        assign_tracks(nets);
    }
    let mut drawing = BlockDrawing { title: diagram.title.clone(), ..BlockDrawing::default() };
    drawing.blocks = diagram.blocks.iter().map(|block| (block.clone(), Rect::default())).collect();
    let mut x = 0.0;
    for (channel, nets) in channels.iter().enumerate() {
        let tracks = nets.iter().map(|net| net.track + 1).max().unwrap_or(0);
        let width = 2.0 * APRON + tracks as f64 * TRACK;
        for net in nets {
            wire(net, x, width, &mut drawing);
        }
        x += width;
        let Some(column) = layering.columns.get(channel) else { break };
        let widest = column.iter().map(|&(stop, _)| block_size(stop, sizes).0).fold(0.0, f64::max);
        for &(stop, y) in column {
            let (width, height) = block_size(stop, sizes);
            match stop {
                Stop::Block(block) => {
                    let rect = Rect::centred(Point::new(x + widest / 2.0, y), width, height);
                    drawing.blocks[block].1 = rect;
                    let right = if gives[block] { x + widest } else { rect.right };
                    let inputs =
                        entering[block].iter().map(|&wire| (doors[wire], diagram.wires[wire].negative));
                    extend(diagram, block, (x, right), rect, inputs, &mut drawing);
                }
                Stop::Passing(_) | Stop::Returning(_) => {
                    drawing.lines.push((Point::new(x, y), Point::new(x + widest, y)));
                }
            }
        }
        x += widest;
    }
    drawing
}

fn block_size(stop: Stop, sizes: &[(f64, f64)]) -> (f64, f64) {
    match stop {
        Stop::Block(block) => sizes[block],
        _ => (0.0, 0.0),
    }
}

/// The height at which each wire enters its block, in the order of where the wires come from.
fn doors(diagram: &BlockDiagram, sizes: &[(f64, f64)], layering: &Layering) -> Vec<f64> {
    let mut entering: Vec<Vec<usize>> = vec![Vec::new(); diagram.blocks.len()];
    for (index, wire) in diagram.wires.iter().enumerate() {
        entering[wire.to].push(index);
    }
    let mut doors = vec![0.0; diagram.wires.len()];
    for (block, wires) in entering.iter_mut().enumerate() {
        let column = layering.layer[block];
        let Some(middle) = layering.middle(column, Stop::Block(block)) else { continue };
        let origin = |wire: usize| {
            let from = diagram.wires[wire].from;
            let found = if layering.layer[from] >= column {
                layering.middle(column, Stop::Returning(from))
            } else if layering.layer[from] + 1 == column {
                layering.middle(column - 1, Stop::Block(from))
            } else {
                layering.middle(column - 1, Stop::Passing(from))
            };
            found.unwrap_or(middle)
        };
        wires.sort_by(|&a, &b| origin(a).total_cmp(&origin(b)).then(a.cmp(&b)));
        if wires.is_empty() {
            continue;
        }
        // The wire that comes nearly level enters in the middle, the others above and below.
        let level = wires
            .iter()
            .position(|&wire| (origin(wire) - middle).abs() < 8.0)
            .map_or((wires.len() - 1) as f64 / 2.0, |at| at as f64);
        let most = level.max((wires.len() - 1) as f64 - level).max(0.5);
        let step = (sizes[block].1 / 2.0 - 3.0) / most;
        let step = step.min(16.0);
        for (at, &wire) in wires.iter().enumerate() {
            doors[wire] = middle + (at as f64 - level) * step;
        }
    }
    doors
}

/// The signals that pass or turn in the channel before a column.
fn nets(
    diagram: &BlockDiagram,
    layering: &Layering,
    doors: &[f64],
    gives: &[bool],
    ending: &[usize],
    channel: usize,
) -> Vec<Net> {
    let mut nets: std::collections::BTreeMap<usize, Net> = std::collections::BTreeMap::new();
    let before = channel.checked_sub(1).and_then(|column| layering.columns.get(column));
    for &(stop, y) in before.into_iter().flatten() {
        match stop {
            Stop::Block(block) => {
                if gives[block] {
                    nets.entry(block).or_default().left.push(y);
                }
            }
            Stop::Passing(block) | Stop::Returning(block) => {
                nets.entry(block).or_default().left.push(y);
            }
        }
    }
    for &(stop, y) in layering.columns.get(channel).into_iter().flatten() {
        if let Stop::Passing(block) | Stop::Returning(block) = stop {
            nets.entry(block).or_default().right.push(y);
        }
    }
    for &index in ending {
        let wire = diagram.wires[index];
        nets.entry(wire.from).or_default().inputs.push((doors[index], wire.negative));
    }
    // A signal that only starts here, or only ends, needs no net of its own.
    nets.into_values().filter(|net| net.heights().count() > 1).collect()
}

/// Gives upright pieces that overlap tracks of their own. A signal that leaves
/// the left at a height where another reaches the right goes first.
fn assign_tracks(nets: &mut [Net]) {
    let near = |a: f64, b: f64| (a - b).abs() < 3.0;
    let mut order: Vec<usize> = (0..nets.len()).collect();
    order.sort_by(|&a, &b| nets[a].span().0.total_cmp(&nets[b].span().0).then(a.cmp(&b)));
    let must_precede = |a: &Net, b: &Net| {
        let right = |net: &Net| {
            net.right.iter().copied().chain(net.inputs.iter().map(|input| input.0)).collect::<Vec<_>>()
        };
        a.left.iter().any(|&y| right(b).iter().any(|&other| near(y, other)))
    };
    let mut done: Vec<usize> = Vec::new();
    while !order.is_empty() {
        // The first that nothing else must precede; any where they wait for each other.
        let at = (0..order.len())
            .find(|&at| {
                order.iter().all(|&other| other == order[at] || !must_precede(&nets[other], &nets[order[at]]))
            })
            .unwrap_or(0);
        let net = order.remove(at);
        let (low, high) = nets[net].span();
        let mut track = 0;
        for &other in &done {
            let (other_low, other_high) = nets[other].span();
            let overlap = low < other_high + 4.0 && other_low < high + 4.0;
            if (overlap && nets[other].track >= track && high - low > 0.5)
                || must_precede(&nets[other], &nets[net])
            {
                track = track.max(nets[other].track + 1);
            }
        }
        nets[net].track = track;
        done.push(net);
    }
}

/// Draws one signal in its channel.
fn wire(net: &Net, x: f64, width: f64, drawing: &mut BlockDrawing) {
    let (low, high) = net.span();
    let track = x + APRON + (net.track as f64 + 0.5) * TRACK;
    if high - low > 0.5 {
        drawing.lines.push((Point::new(track, low), Point::new(track, high)));
    }
    for &y in &net.left {
        drawing.lines.push((Point::new(x, y), Point::new(track, y)));
    }
    let ends = net.right.iter().copied().chain(net.inputs.iter().map(|input| input.0));
    for y in ends.clone() {
        drawing.lines.push((Point::new(track, y), Point::new(x + width, y)));
    }
    // A dot wherever three pieces meet.
    let mut heights: Vec<f64> = net.heights().collect();
    heights.sort_by(f64::total_cmp);
    heights.dedup_by(|a, b| (*a - *b).abs() < 0.5);
    for y in heights {
        let meets = |other: f64| (other - y).abs() < 0.5;
        let pieces = usize::from(net.left.iter().copied().any(meets))
            + usize::from(ends.clone().any(meets))
            + usize::from(y > low + 0.5)
            + usize::from(y < high - 0.5);
        if pieces > 2 {
            drawing.dots.push(Point::new(track, y));
        }
    }
}

/// Leads the wires of a block narrower than its column up to its box.
fn extend(
    diagram: &BlockDiagram,
    block: usize,
    (left, right): (f64, f64),
    rect: Rect,
    doors: impl Iterator<Item = (f64, bool)>,
    drawing: &mut BlockDrawing,
) {
    for (y, negative) in doors {
        // A sum is round: its edge lies deeper off the middle.
        let deep = if diagram.blocks[block].kind == BlockKind::Sum {
            let (a, b) = (rect.width() / 2.0, rect.height() / 2.0);
            a * (1.0 - (1.0 - ((y - rect.centre().y) / b).powi(2)).max(0.0).sqrt())
        } else {
            0.0
        };
        let tip = Point::new(rect.left + deep, y);
        drawing.lines.push((Point::new(left, y), tip));
        drawing.heads.push((tip, negative));
    }
    if right > rect.right {
        let y = rect.centre().y;
        drawing.lines.push((Point::new(rect.right, y), Point::new(right, y)));
    }
}
