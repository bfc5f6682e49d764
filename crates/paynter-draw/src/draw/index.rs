//! An index of what already stands on the page, for placing labels and
//! leading signals around it.

use super::geometry::{Point, Rect, segments_cross};
use rustc_hash::FxHashMap;

/// The sides of cells of the finest grid; those of the next one are four times as long.
const CELL: f64 = 96.0;
/// Nothing lies in more cells along one side than these: what is longer is entered in a coarser grid, so that the
/// bonds of a wide fan take room in proportion to their number.
const MOST_CELLS: f64 = 64.0;

/// Boxes and lines by the cells of coarse grids, each thing in the grid that suits its length.
#[derive(Debug, Default)]
pub struct Obstacles {
    boxes: Vec<(Rect, usize)>,
    lines: Vec<(Point, Point, usize, usize)>,
    box_cells: Cells,
    line_cells: Cells,
}

/// Things by the cells they lie in: one table for each size of cells.
#[derive(Debug, Default)]
struct Cells(Vec<FxHashMap<(i64, i64), Vec<usize>>>);

impl Cells {
    /// The table of a grid.
    fn grid(&mut self, level: usize) -> &mut FxHashMap<(i64, i64), Vec<usize>> {
        if self.0.len() <= level {
            self.0.resize_with(level + 1, FxHashMap::default);
        }
        &mut self.0[level]
    }

    /// Everything that lies in the cells of a rectangle, in the order in which it was entered.
    fn near(&self, rect: Rect) -> Vec<usize> {
        let in_grid = |(level, grid): (usize, &FxHashMap<(i64, i64), Vec<usize>>)| {
            cells(rect, level).filter_map(|cell| grid.get(&cell)).flatten().copied().collect::<Vec<usize>>()
        };
        let mut found: Vec<usize> =
            self.0.iter().enumerate().filter(|(_, grid)| !grid.is_empty()).flat_map(in_grid).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The side of a grid's cells.
fn side(level: usize) -> f64 {
    CELL * 4_f64.powi(level as i32)
}

/// The finest grid in which something of a length lies in few cells.
fn level(length: f64) -> usize {
    (0..16).find(|&level| length <= MOST_CELLS * side(level)).unwrap_or(16)
}

fn cells(rect: Rect, level: usize) -> impl Iterator<Item = (i64, i64)> {
    let cell = move |value: f64| (value / side(level)).floor() as i64;
    let rows = cell(rect.top)..=cell(rect.bottom);
    let columns = cell(rect.left)..=cell(rect.right);
    rows.flat_map(move |row| columns.clone().map(move |column| (row, column)))
}

impl Obstacles {
    /// Makes an empty index.
    pub fn new() -> Obstacles {
        Obstacles::default()
    }

    /// Adds a box that belongs to a node (or to none: `usize::MAX`).
    pub fn add_box(&mut self, rect: Rect, node: usize) {
        let level = level(rect.width().max(rect.height()));
        let grid = self.box_cells.grid(level);
        for cell in cells(rect, level) {
            grid.entry(cell).or_default().push(self.boxes.len());
        }
        self.boxes.push((rect, node));
    }

    /// Adds a line between two nodes.
    pub fn add_way(&mut self, way: &[Point], from: usize, to: usize) {
        for pair in way.windows(2) {
            // Only the cells along the line: a long slanted one spans many others.
            let level = level(pair[0].distance(pair[1]));
            let pieces = (pair[0].distance(pair[1]) / side(level)).ceil().max(1.0);
            let mut along: Vec<(i64, i64)> = (0..pieces as usize)
                .flat_map(|piece| {
                    let at = |step: usize| pair[0].toward(pair[1], step as f64 / pieces);
                    cells(Rect::spanning(at(piece), at(piece + 1)), level)
                })
                .collect();
            along.sort_unstable();
            along.dedup();
            let grid = self.line_cells.grid(level);
            for cell in along {
                grid.entry(cell).or_default().push(self.lines.len());
            }
            self.lines.push((pair[0], pair[1], from, to));
        }
    }

    /// The boxes that meet a rectangle, with their nodes.
    pub fn boxes_in(&self, rect: Rect) -> impl Iterator<Item = (Rect, usize)> {
        self.box_cells
            .near(rect)
            .into_iter()
            .map(|index| self.boxes[index])
            .filter(move |(other, _)| other.overlaps(rect))
    }

    /// How bad a place is for a label: boxes and lines in its way.
    pub fn cost(&self, rect: Rect) -> f64 {
        let boxes = self.boxes_in(rect).count();
        let lines = self
            .line_cells
            .near(rect)
            .into_iter()
            .filter(|&index| rect.crossed_by(self.lines[index].0, self.lines[index].1))
            .count();
        (2 * boxes + lines) as f64
    }

    /// How bad a line from one node to another is: boxes it would run over,
    /// lines it would cross, lines it would lie on.
    pub fn line_cost(&self, a: Point, b: Point, from: usize, to: usize) -> f64 {
        let span = Rect::spanning(a, b);
        let boxes = self
            .box_cells
            .near(span.grown(4.0))
            .into_iter()
            .filter(|&index| {
                let (rect, node) = self.boxes[index];
                let rect = if node == from || node == to { rect.grown(-1.0) } else { rect.grown(3.0) };
                rect.crossed_by(a, b)
            })
            .count();
        let mut cost = boxes as f64 * 2_000.0;
        for index in self.line_cells.near(span.grown(6.0)) {
            let (c, d, ..) = self.lines[index];
            if runs_along(a, b, c, d) {
                cost += 800.0;
            } else if segments_cross(a, b, c, d) {
                cost += 40.0;
            }
        }
        cost
    }
}

/// Whether two level or upright segments lie on each other or nearly so.
fn runs_along(a: Point, b: Point, c: Point, d: Point) -> bool {
    let near = 6.0;
    let overlap = |p: f64, q: f64, r: f64, s: f64| p.min(q) + 1.0 < r.max(s) && r.min(s) + 1.0 < p.max(q);
    let level = |p: Point, q: Point| (p.y - q.y).abs() < 0.5;
    let upright = |p: Point, q: Point| (p.x - q.x).abs() < 0.5;
    (level(a, b) && level(c, d) && (a.y - c.y).abs() < near && overlap(a.x, b.x, c.x, d.x))
        || (upright(a, b) && upright(c, d) && (a.x - c.x).abs() < near && overlap(a.y, b.y, c.y, d.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(cells: &Cells) -> usize {
        cells.0.iter().map(|grid| grid.values().map(Vec::len).sum::<usize>()).sum()
    }

    /// The bonds of a junction with thousands of them: each lies in a bounded number of cells, whatever its length.
    #[test]
    fn long_lines_take_bounded_room() {
        let fan = |count: usize| {
            let mut obstacles = Obstacles::new();
            for leaf in 0..count {
                let x = 40.0 * (leaf as f64 - count as f64 / 2.0);
                let way = [Point::new(0.0, 0.0), Point::new(x, 0.6 * x.abs() + 30.0)];
                obstacles.add_way(&way, 0, leaf + 1);
                obstacles.add_box(Rect::centred(way[1], 30.0, 12.0), leaf + 1);
            }
            obstacles
        };
        for count in [1_000, 4_000] {
            let obstacles = fan(count);
            assert!(entries(&obstacles.line_cells) < 250 * count, "{}", entries(&obstacles.line_cells));
            assert!(entries(&obstacles.box_cells) <= 4 * count);
        }
        // What lies in coarse and fine cells is found alike.
        let obstacles = fan(1_000);
        let near_leaf = Rect::centred(Point::new(-20_000.0, 12_030.0), 40.0, 20.0);
        assert!(obstacles.cost(near_leaf) >= 3.0);
        assert_eq!(obstacles.cost(Rect::centred(Point::new(0.0, 5_000.0), 4.0, 4.0)), 0.0);
    }
}
