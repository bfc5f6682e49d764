//! Boxes drawn round the members of a submodel: a rectangle where it holds no
//! stranger, otherwise an outline with right angles that follows the members.

use super::diagram::{Diagram, Group};
use super::font::text_width;
use super::geometry::{Point, Rect};
use super::index::Obstacles;
use super::label::{LINE, SMALL};
use super::scene::{Drawing, DrawnGroup};

/// Air between members and outline.
pub const AIR: f64 = 9.0;

/// The outlines of all groups, outer ones first.
pub fn groups(diagram: &Diagram, drawing: &Drawing, obstacles: &mut Obstacles) -> Vec<DrawnGroup> {
    let heights = heights(diagram, &depths(diagram));
    (0..diagram.groups.len())
        .filter_map(|group| {
            let member: Vec<bool> =
                diagram.nodes.iter().map(|node| within(diagram, node.group, group)).collect();
            let air = AIR * (1.0 + heights[group] as f64 * 0.8);
            let boxes = member_boxes(drawing, &member, air);
            let mut all = boxes.iter().copied().reduce(Rect::union)?;
            // Headroom for the name.
            all.top -= LINE - 4.0;
            let strangers = drawing.nodes.iter().zip(&member).any(|(node, inside)| {
                !inside && (node.main.overlaps(all) || node.aside.is_some_and(|aside| aside.overlaps(all)))
            });
            let outline = if strangers { outline(&boxes) } else { corners(all) };
            let Group { name, model, .. } = &diagram.groups[group];
            let name = if model.is_empty() { name.clone() } else { format!("{name} : {model}") };
            let label = name_place(&name, all, &outline, obstacles);
            obstacles.add_box(label, usize::MAX);
            Some(DrawnGroup { name, outline, label })
        })
        .collect()
}

/// How many groups lie around each.
pub fn depths(diagram: &Diagram) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(diagram.groups.len());
    for group in &diagram.groups {
        depths.push(group.parent.and_then(|parent| depths.get(parent)).map_or(0, |depth| depth + 1));
    }
    depths
}

/// How many levels of groups each holds.
pub fn heights(diagram: &Diagram, depths: &[usize]) -> Vec<usize> {
    let mut heights = vec![0; depths.len()];
    for index in (0..depths.len()).rev() {
        if let Some(parent) = diagram.groups[index].parent {
            heights[parent] = heights[parent].max(heights[index] + 1);
        }
    }
    heights
}

/// Whether a group is another or lies inside it.
pub fn within(diagram: &Diagram, mut group: Option<usize>, outer: usize) -> bool {
    while let Some(index) = group {
        if index == outer {
            return true;
        }
        group = diagram.groups[index].parent;
    }
    false
}

/// The boxes of members and of the bonds between them.
fn member_boxes(drawing: &Drawing, member: &[bool], air: f64) -> Vec<Rect> {
    let mut boxes = Vec::new();
    for (node, &inside) in drawing.nodes.iter().zip(member) {
        if inside {
            boxes.push(node.main.grown(air));
            boxes.extend(node.aside.map(|aside| aside.grown(air)));
        }
    }
    for bond in &drawing.bonds {
        if member[bond.from] && member[bond.to] {
            boxes.extend(bond.way.windows(2).map(|pair| Rect::spanning(pair[0], pair[1]).grown(air)));
            boxes.extend(bond.labels.iter().map(|label| label.1.grown(air)));
        }
    }
    boxes
}

fn corners(rect: Rect) -> Vec<Point> {
    vec![
        Point::new(rect.left, rect.top),
        Point::new(rect.right, rect.top),
        Point::new(rect.right, rect.bottom),
        Point::new(rect.left, rect.bottom),
    ]
}

/// The outline of a union of rectangles: the longest of its contours.
fn outline(boxes: &[Rect]) -> Vec<Point> {
    let lines = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.dedup_by(|a, b| (*a - *b).abs() < 0.5);
    };
    let mut xs: Vec<f64> = boxes.iter().flat_map(|rect| [rect.left, rect.right]).collect();
    let mut ys: Vec<f64> = boxes.iter().flat_map(|rect| [rect.top, rect.bottom]).collect();
    lines(&mut xs);
    lines(&mut ys);
    let (columns, rows) = (xs.len().saturating_sub(1), ys.len().saturating_sub(1));
    let at = |values: &[f64], value: f64| values.partition_point(|&line| line < value - 0.5);
    let mut filled = vec![false; columns * rows];
    for rect in boxes {
        for row in at(&ys, rect.top)..at(&ys, rect.bottom) {
            for column in at(&xs, rect.left)..at(&xs, rect.right) {
                filled[row * columns + column] = true;
            }
        }
    }
    let is_filled = |row: i64, column: i64| {
        (0..rows as i64).contains(&row)
            && (0..columns as i64).contains(&column)
            && filled[row as usize * columns + column as usize]
    };
    // Directed boundary steps, the filled side at the right; follow them round.
    let mut next = std::collections::BTreeMap::new();
    for row in 0..rows as i64 {
        for column in 0..columns as i64 {
            if !is_filled(row, column) {
                continue;
            }
            let steps = [
                (is_filled(row - 1, column), (row, column), (row, column + 1)),
                (is_filled(row, column + 1), (row, column + 1), (row + 1, column + 1)),
                (is_filled(row + 1, column), (row + 1, column + 1), (row + 1, column)),
                (is_filled(row, column - 1), (row + 1, column), (row, column)),
            ];
            for (covered, from, to) in steps {
                if !covered {
                    next.entry(from).or_insert_with(Vec::new).push(to);
                }
            }
        }
    }
    let mut longest: Vec<Point> = Vec::new();
    while let Some((&start, _)) = next.iter().next() {
        let mut contour = Vec::new();
        let mut here = start;
        while let Some(list) = next.get_mut(&here) {
            let Some(to) = list.pop() else { break };
            if list.is_empty() {
                next.remove(&here);
            }
            contour.push(Point::new(xs[here.1 as usize], ys[here.0 as usize]));
            here = to;
        }
        let contour = super::layout::straighten(contour);
        if contour.len() > longest.len() {
            longest = contour;
        }
    }
    longest
}

/// A free place for the name, above or below the outline.
fn name_place(name: &str, all: Rect, outline: &[Point], obstacles: &Obstacles) -> Rect {
    let width = text_width(name, SMALL);
    let height = LINE - 2.0;
    let top = outline.iter().filter(|point| (point.y - all.top).abs() < 0.5);
    let left = top.map(|point| point.x).fold(f64::MAX, f64::min).min(all.right);
    [
        Rect::new(left + 4.0, all.top, left + 4.0 + width, all.top + height),
        Rect::new(left, all.top - height, left + width, all.top),
        Rect::new(all.right - width, all.top - height, all.right, all.top),
        Rect::new(all.left, all.bottom, all.left + width, all.bottom + height),
        Rect::new(all.right - width, all.bottom, all.right, all.bottom + height),
        Rect::new(left, all.top - 2.0 * height, left + width, all.top - height),
    ]
    .into_iter()
    .map(|rect| (obstacles.cost(rect), rect))
    .reduce(|best, next| if next.0 < best.0 { next } else { best })
    .map_or(all, |best| best.1)
}
