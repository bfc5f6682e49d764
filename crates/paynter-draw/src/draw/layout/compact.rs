//! From rows and columns to lengths: the order of things is kept, and they
//! move together until labels and bonds just leave each other free.
//!
//! Each axis is solved in turn. Two things that share a stretch of the other
//! axis keep their order on this one; what is joined by an upright bond shares
//! its column, by a level bond its row.

use super::super::geometry::{Point, Rect};
use super::orthogonal::find;
use rustc_hash::FxHashMap;

/// A rectangle between four lines, each tied to a point.
#[derive(Debug, Clone)]
pub struct Item {
    /// The points at its left and right ends.
    pub across: (usize, usize),
    /// The points at its upper and lower ends.
    pub down: (usize, usize),
    /// What it reaches beyond those points.
    pub reach: Rect,
    /// Items with a common owner may touch.
    pub owners: Vec<usize>,
    /// The fan it belongs to: the slanted bonds of a fan may come near everything in it.
    pub fan: Option<usize>,
    /// Whether the ends themselves belong to it (a slanted bond's box is open).
    pub open: bool,
}

/// A wish on the distance of two points along one axis.
#[derive(Debug, Clone, Copy)]
pub struct Spacing {
    /// The point at the smaller coordinate.
    pub low: usize,
    /// The point at the larger coordinate.
    pub high: usize,
    /// The least distance.
    pub least: f64,
    /// How strongly the two attract each other; 0 for none.
    pub pull: f64,
}

/// A slanted bond, whose length along its main axis follows from the other one.
#[derive(Debug, Clone, Copy)]
pub struct Slant {
    /// The point it starts from.
    pub from: usize,
    /// The point it reaches.
    pub to: usize,
    /// Whether its main axis is upright.
    pub upright: bool,
}

/// Everything the metric has to respect.
#[derive(Debug, Default)]
pub struct Metric {
    /// Rough places, in columns and rows.
    pub rough: Vec<(i64, i64)>,
    /// Points that share a column, or a row.
    pub aligned: [Vec<(usize, usize)>; 2],
    /// Distances along x, and along y.
    pub spacings: [Vec<Spacing>; 2],
    /// Obstacles.
    pub items: Vec<Item>,
    /// Slanted bonds.
    pub slants: Vec<Slant>,
    /// Points that only follow others along an axis: as far on (true) or as far back as they may.
    pub snug: [Vec<(usize, bool)>; 2],
}

/// Free space between labels.
const GAP: f64 = 9.0;
/// A slanted bond rises at least this much for each unit it goes sideways.
const RISE: f64 = 0.6;
/// A slanted bond of a level fan goes at least this far for each unit it rises.
const REACH: f64 = 0.9;
/// How many neighbours of an item are looked at in one band.
const SIGHT: usize = 48;
/// How many items before an item are looked at in one band at most: those on bonds of one junction never hide each
/// other, and there may be thousands.
const LOOKED: usize = 256;
/// Most sweeps in which lines find their middle.
const SWEEPS: usize = 200;

impl Metric {
    /// Computes the places of all points.
    pub fn solve(&self) -> Vec<Point> {
        let mut place = [self.doubled(0), self.doubled(1)];
        let mut measured = [false, false];
        for axis in [0, 1, 0, 1] {
            place[axis] = self.solve_axis(axis, &place, measured[1 - axis]);
            measured[axis] = true;
        }
        let [x, y] = place;
        x.into_iter().zip(y).map(|(x, y)| Point::new(x, y)).collect()
    }

    fn coordinate(&self, axis: usize, point: usize) -> i64 {
        if axis == 0 { self.rough[point].0 } else { self.rough[point].1 }
    }

    fn doubled(&self, axis: usize) -> Vec<f64> {
        (0..self.rough.len()).map(|point| 2.0 * self.coordinate(axis, point) as f64).collect()
    }

    fn ends(item: &Item, axis: usize) -> (usize, usize, f64, f64) {
        if axis == 0 {
            (item.across.0, item.across.1, item.reach.left, item.reach.right)
        } else {
            (item.down.0, item.down.1, item.reach.top, item.reach.bottom)
        }
    }

    /// The rough interval of an item along an axis, in half columns.
    fn rough_interval(&self, item: &Item, axis: usize) -> (f64, f64) {
        let (low, high, ..) = Metric::ends(item, axis);
        let inset = if item.open { 1.0 } else { 0.0 };
        (2.0 * self.coordinate(axis, low) as f64 + inset, 2.0 * self.coordinate(axis, high) as f64 - inset)
    }

    fn solve_axis(&self, axis: usize, place: &[Vec<f64>; 2], measured: bool) -> Vec<f64> {
        let count = self.rough.len();
        let mut class: Vec<usize> = (0..count).collect();
        for &(a, b) in &self.aligned[axis] {
            let (a, b) = (find(&mut class, a), find(&mut class, b));
            class[a.max(b)] = a.min(b);
        }
        let class: Vec<usize> = (0..count).map(|point| find(&mut class, point)).collect();
        let mut lines = Lines::new(count);
        for spacing in &self.spacings[axis] {
            lines.keep(class[spacing.low], class[spacing.high], spacing.least);
            lines.pull(class[spacing.low], class[spacing.high], spacing.pull);
        }
        for &(point, on) in &self.snug[axis] {
            if on {
                lines.pull_on[class[point]] += 1.0;
            } else {
                lines.pull_back[class[point]] += 1.0;
            }
        }
        if measured {
            for slant in self.slants.iter().filter(|slant| slant.upright == (axis == 1)) {
                let sideways = (place[1 - axis][slant.from] - place[1 - axis][slant.to]).abs();
                let (low, high) = if self.coordinate(axis, slant.from) < self.coordinate(axis, slant.to) {
                    (slant.from, slant.to)
                } else {
                    (slant.to, slant.from)
                };
                lines.keep(class[low], class[high], if slant.upright { RISE } else { REACH } * sideways);
            }
        }
        // What shares a rough row can only be told apart along it, whatever the lengths are now.
        self.keep_order(axis, place, false, &class, &mut lines);
        if measured {
            self.keep_order(axis, place, true, &class, &mut lines);
        }
        let mut order: Vec<usize> = (0..count).filter(|&point| class[point] == point).collect();
        order.sort_by_key(|&point| (self.coordinate(axis, point), point));
        let solved = lines.solve(&order);
        (0..count).map(|point| solved[class[point]]).collect()
    }

    /// Adds a distance for every two items that see each other along the axis.
    fn keep_order(
        &self,
        axis: usize,
        place: &[Vec<f64>; 2],
        measured: bool,
        class: &[usize],
        lines: &mut Lines,
    ) {
        if self.items.is_empty() {
            return;
        }
        // The stretch each item covers on the other axis.
        let margin = if measured { GAP - 0.5 } else { 0.0 };
        let cover = self.items.iter().map(|item| {
            if measured {
                let (low, high, below, above) = Metric::ends(item, 1 - axis);
                let (low, high) = (place[1 - axis][low], place[1 - axis][high]);
                (low.min(high) + below, low.max(high) + above + margin)
            } else {
                self.rough_interval(item, 1 - axis)
            }
        });
        let cover: Vec<(f64, f64)> = cover.collect();
        let along: Vec<(f64, f64)> = self.items.iter().map(|item| self.rough_interval(item, axis)).collect();
        let order = Order { items: &self.items, axis, measured, cover, along };
        let (bands, least, height) = order.bands();
        for (index, members) in bands.iter().enumerate() {
            let floor = least + index as f64 * height;
            order.keep_band(members, (floor, floor + height), class, lines);
        }
    }
}

/// The items in the order that a rough drawing gives them along an axis.
struct Order<'a> {
    items: &'a [Item],
    axis: usize,
    /// Whether lengths on the other axis are known.
    measured: bool,
    /// The stretch each item covers on the other axis.
    cover: Vec<(f64, f64)>,
    /// Its interval along the axis in the rough drawing.
    along: Vec<(f64, f64)>,
}

impl Order<'_> {
    /// The items by bands along the axis, in their order, the least coordinate and the height of bands: they keep the
    /// number of comparisons near the number of neighbours.
    fn bands(&self) -> (Vec<Vec<usize>>, f64, f64) {
        let Order { cover, along, .. } = self;
        let least = cover.iter().map(|c| c.0).fold(f64::MAX, f64::min);
        let most = cover.iter().map(|c| c.1).fold(f64::MIN, f64::max);
        let height =
            ((most - least) / (self.items.len() as f64).sqrt()).max(if self.measured { 40.0 } else { 2.0 });
        let band = |value: f64| ((value - least) / height) as usize;
        let mut bands: Vec<Vec<usize>> = vec![Vec::new(); band(most) + 1];
        let mut sorted: Vec<usize> = (0..self.items.len()).collect();
        // By their far ends, so that a wide item is met before what lies within its width.
        sorted.sort_by(|&a, &b| {
            along[a].1.total_cmp(&along[b].1).then(along[a].0.total_cmp(&along[b].0)).then(a.cmp(&b))
        });
        for item in sorted {
            for members in &mut bands[band(cover[item].0)..=band(cover[item].1)] {
                members.push(item);
            }
        }
        (bands, least, height)
    }

    /// Adds the distances of items in one band.
    fn keep_band(&self, members: &[usize], (floor, ceiling): (f64, f64), class: &[usize], lines: &mut Lines) {
        let Order { items, cover, along, .. } = self;
        // Where the neighbours of one fan begin that each item is among.
        let mut run_start: Vec<usize> = Vec::with_capacity(members.len());
        for (at, &item) in members.iter().enumerate() {
            let continues = at > 0 && items[members[at - 1]].fan == items[item].fan;
            run_start.push(if continues { run_start[at - 1] } else { at });
        }
        for (at, &second) in members.iter().enumerate() {
            let mut seen = 0;
            let mut before = at;
            for _ in 0..LOOKED {
                // The slanted bonds of a fan pass over all of it at once.
                if before > 0 && items[second].open && items[second].fan.is_some() {
                    let last = members[before - 1];
                    if items[last].fan == items[second].fan {
                        before = run_start[before - 1];
                    }
                }
                let Some(&first) = before.checked_sub(1).map(|last| &members[last]) else { break };
                before -= 1;
                if !self.meet(first, second) || along[first].1 >= along[second].0 {
                    continue;
                }
                let (one, two) = (&items[first], &items[second]);
                let fellows = (one.open || two.open) && one.fan.is_some() && one.fan == two.fan;
                if fellows || one.owners.iter().any(|owner| two.owners.contains(owner)) {
                    continue;
                }
                let (_, low, _, above) = Metric::ends(one, self.axis);
                let (high, _, below, _) = Metric::ends(two, self.axis);
                if class[low] != class[high] {
                    lines.keep(class[low], class[high], above - below + GAP);
                }
                // What hides everything behind it in this band ends the search, and so do very many.
                seen += 1;
                let stretch = (cover[second].0.max(floor), cover[second].1.min(ceiling));
                let hides = cover[first].0 <= stretch.0 && cover[first].1 >= stretch.1;
                if (hides && one.owners.len() == 1) || seen >= SIGHT {
                    break;
                }
            }
        }
    }

    /// Whether two items cover a common stretch of the other axis; in a rough drawing touching counts.
    fn meet(&self, first: usize, second: usize) -> bool {
        let (one, two) = (self.cover[first], self.cover[second]);
        match self.measured {
            true => one.0 < two.1 && two.0 < one.1,
            false => one.0 <= two.1 && two.0 <= one.1,
        }
    }
}

/// Lines along one axis with least distances and attractions.
struct Lines {
    /// A line, a later one and the least distance between them, once for every two lines.
    distances: Vec<(usize, usize, f64)>,
    /// Which of the distances is that of two lines.
    known: FxHashMap<(usize, usize), usize>,
    pull_back: Vec<f64>,
    pull_on: Vec<f64>,
}

impl Lines {
    fn new(count: usize) -> Lines {
        Lines {
            distances: Vec::new(),
            known: FxHashMap::default(),
            pull_back: vec![0.0; count],
            pull_on: vec![0.0; count],
        }
    }

    fn keep(&mut self, low: usize, high: usize, least: f64) {
        if low == high {
            return;
        }
        let next = self.distances.len();
        match *self.known.entry((low, high)).or_insert(next) {
            new if new == next => self.distances.push((low, high, least)),
            known => self.distances[known].2 = self.distances[known].2.max(least),
        }
    }

    fn pull(&mut self, low: usize, high: usize, strength: f64) {
        if low != high {
            self.pull_on[low] += strength;
            self.pull_back[high] += strength;
        }
    }

    /// Packs the lines, then lets each go where its attractions pull.
    fn solve(&self, order: &[usize]) -> Vec<f64> {
        let count = self.pull_on.len();
        let before =
            Neighbours::new(count, self.distances.iter().map(|&(low, high, least)| (high, low, least)));
        let after = Neighbours::new(count, self.distances.iter().copied());
        let lowest = |line: usize, place: &[f64]| {
            before.of(line).iter().map(|&(other, least)| place[other] + least).reduce(f64::max)
        };
        let highest = |line: usize, place: &[f64]| {
            after.of(line).iter().map(|&(other, least)| place[other] - least).reduce(f64::min)
        };
        let mut place = vec![0.0; count];
        for &line in order {
            place[line] = lowest(line, &place).unwrap_or(0.0);
        }
        for _ in 0..2 {
            for &line in order.iter().rev() {
                if self.pull_on[line] >= self.pull_back[line]
                    && self.pull_on[line] > 0.0
                    && let Some(highest) = highest(line, &place)
                {
                    place[line] = highest;
                }
            }
            for &line in order {
                if self.pull_back[line] > self.pull_on[line]
                    && let Some(lowest) = lowest(line, &place)
                {
                    place[line] = lowest;
                }
            }
        }
        // What is pulled equally to both sides stands in the middle.
        for sweep in 0..SWEEPS {
            let mut moved = 0.0_f64;
            let mut centre = |line: usize| {
                if self.pull_back[line] == self.pull_on[line]
                    && let (Some(low), Some(high)) = (lowest(line, &place), highest(line, &place))
                {
                    let middle = (low + high) / 2.0;
                    moved = moved.max((place[line] - middle).abs());
                    place[line] = middle;
                }
            };
            if sweep % 2 == 0 {
                order.iter().for_each(|&line| centre(line));
            } else {
                order.iter().rev().for_each(|&line| centre(line));
            }
            if moved < 0.2 {
                break;
            }
        }
        place
    }
}

/// The lines beside each line with their distances, one list for all.
struct Neighbours {
    starts: Vec<usize>,
    list: Vec<(usize, f64)>,
}

impl Neighbours {
    fn new(count: usize, distances: impl Iterator<Item = (usize, usize, f64)> + Clone) -> Neighbours {
        let mut starts = vec![0; count + 1];
        for (line, ..) in distances.clone() {
            starts[line + 1] += 1;
        }
        for line in 0..count {
            starts[line + 1] += starts[line];
        }
        let mut list = vec![(0, 0.0); starts[count]];
        let mut next = starts.clone();
        for (line, other, least) in distances {
            list[next[line]] = (other, least);
            next[line] += 1;
        }
        Neighbours { starts, list }
    }

    fn of(&self, line: usize) -> &[(usize, f64)] {
        &self.list[self.starts[line]..self.starts[line + 1]]
    }
}
