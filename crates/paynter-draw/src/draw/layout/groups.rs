//! Room for the boxes round submodels: strangers stay outside where the order
//! of rows and columns allows it.

use super::super::diagram::Diagram;
use super::super::hull::{AIR, depths, heights, within};
use super::super::label::{LINE, Label};
use super::compact::{Item, Metric, Spacing};
use super::sketch::{Part, Sketch};

/// Adds a rectangle round the members of every group.
pub fn add_groups(metric: &mut Metric, diagram: &Diagram, part: &Part, sketch: &Sketch, labels: &[Label]) {
    let heights = heights(diagram, &depths(diagram));
    // Room between rows and columns for the lines of nested boxes.
    let scale = 4 * (heights.iter().copied().max().unwrap_or(0) as i64 + 2);
    for (x, y) in &mut metric.rough {
        (*x, *y) = (*x * scale, *y * scale);
    }
    for (group, &height) in heights.iter().enumerate() {
        let members: Vec<usize> = (0..part.nodes.len())
            .filter(|&node| within(diagram, diagram.nodes[part.nodes[node]].group, group))
            .collect();
        if members.len() < 2 {
            continue;
        }
        let inset = height as i64 + 1;
        let air = AIR * (1.0 + height as f64 * 0.8);
        let first = metric.rough.len();
        // Left, right, top, bottom; only one coordinate of each counts.
        for (index, side) in [(0, -1), (0, 1), (1, -1), (1, 1)].into_iter().enumerate() {
            let (axis, sign) = side;
            let along = |point: usize| if axis == 0 { metric.rough[point].0 } else { metric.rough[point].1 };
            let values = members.iter().map(|&point| along(point));
            let edge = if sign < 0 { values.min() } else { values.max() }.unwrap_or(0) + sign * inset;
            let place = if axis == 0 { (edge, 0) } else { (0, edge) };
            metric.rough.push(place);
            metric.snug[axis].push((first + index, sign < 0));
        }
        for &member in &members {
            let label = &labels[member];
            let rect = label.aside.map_or(label.main, |aside| label.main.union(aside));
            let headroom = air + LINE;
            for (axis, low, high, least) in [
                (0, first, member, air - rect.left),
                (0, member, first + 1, air + rect.right),
                (1, first + 2, member, headroom - rect.top),
                (1, member, first + 3, air + rect.bottom),
            ] {
                metric.spacings[axis].push(Spacing { low, high, least, pull: 0.0 });
            }
        }
        let mut owners = members.clone();
        owners.extend(first..first + 4);
        for (edge, route) in part.edges.iter().zip(&sketch.routes) {
            if members.binary_search(&edge.from).is_ok() && members.binary_search(&edge.to).is_ok() {
                owners.extend(route);
            }
        }
        metric.items.push(Item {
            across: (first, first + 1),
            down: (first + 2, first + 3),
            reach: Default::default(),
            owners,
            fan: None,
            open: false,
        });
    }
}
