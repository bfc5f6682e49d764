//! An index of what already stands on the page, for placing labels and
//! leading signals around it.

use super::geometry::{Point, Rect, segments_cross};
use std::collections::BTreeMap;

const CELL: f64 = 96.0;

/// Boxes and lines by the cells of a coarse grid.
#[derive(Debug, Default)]
pub struct Obstacles {
    boxes: Vec<(Rect, usize)>,
    lines: Vec<(Point, Point, usize, usize)>,
    box_cells: BTreeMap<(i64, i64), Vec<usize>>,
    line_cells: BTreeMap<(i64, i64), Vec<usize>>,
}

fn cells(rect: Rect) -> impl Iterator<Item = (i64, i64)> {
    let cell = |value: f64| (value / CELL).floor() as i64;
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
        for cell in cells(rect) {
            self.box_cells.entry(cell).or_default().push(self.boxes.len());
        }
        self.boxes.push((rect, node));
    }

    /// Adds a line between two nodes.
    pub fn add_way(&mut self, way: &[Point], from: usize, to: usize) {
        for pair in way.windows(2) {
            // Only the cells along the line: a long slanted one spans many others.
            let pieces = (pair[0].distance(pair[1]) / CELL).ceil().max(1.0);
            let mut along: Vec<(i64, i64)> = (0..pieces as usize)
                .flat_map(|piece| {
                    let at = |step: usize| pair[0].toward(pair[1], step as f64 / pieces);
                    cells(Rect::spanning(at(piece), at(piece + 1)))
                })
                .collect();
            along.sort_unstable();
            along.dedup();
            for cell in along {
                self.line_cells.entry(cell).or_default().push(self.lines.len());
            }
            self.lines.push((pair[0], pair[1], from, to));
        }
    }

    fn near(cells_of: &BTreeMap<(i64, i64), Vec<usize>>, rect: Rect) -> Vec<usize> {
        let mut found: Vec<usize> =
            cells(rect).filter_map(|cell| cells_of.get(&cell)).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The boxes that meet a rectangle, with their nodes.
    pub fn boxes_in(&self, rect: Rect) -> impl Iterator<Item = (Rect, usize)> {
        Obstacles::near(&self.box_cells, rect)
            .into_iter()
            .map(|index| self.boxes[index])
            .filter(move |(other, _)| other.overlaps(rect))
    }

    /// How bad a place is for a label: boxes and lines in its way.
    pub fn cost(&self, rect: Rect) -> f64 {
        let boxes = self.boxes_in(rect).count();
        let lines = Obstacles::near(&self.line_cells, rect)
            .into_iter()
            .filter(|&index| rect.crossed_by(self.lines[index].0, self.lines[index].1))
            .count();
        (2 * boxes + lines) as f64
    }

    /// How bad a line from one node to another is: boxes it would run over,
    /// lines it would cross, lines it would lie on.
    pub fn line_cost(&self, a: Point, b: Point, from: usize, to: usize) -> f64 {
        let span = Rect::spanning(a, b);
        let boxes = Obstacles::near(&self.box_cells, span.grown(4.0))
            .into_iter()
            .filter(|&index| {
                let (rect, node) = self.boxes[index];
                let rect = if node == from || node == to { rect.grown(-1.0) } else { rect.grown(3.0) };
                rect.crossed_by(a, b)
            })
            .count();
        let mut cost = boxes as f64 * 2_000.0;
        for index in Obstacles::near(&self.line_cells, span.grown(6.0)) {
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
