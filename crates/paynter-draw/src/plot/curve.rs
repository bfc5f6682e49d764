//! Lines and areas on paper: thinned out to what can be seen, and clipped to the frame.

use crate::draw::{Point, Rect};

/// The width of a column in which a line is thinned out.
const COLUMN: f64 = 0.5;

/// The pieces of a line through points, with gaps where a point is no number.
pub fn pieces(points: impl Iterator<Item = Point>, frame: Rect) -> Vec<Vec<Point>> {
    let mut out = Vec::new();
    let mut piece: Vec<Point> = Vec::new();
    for point in points {
        if point.x.is_finite() && point.y.is_finite() {
            piece.push(point);
        } else if !piece.is_empty() {
            clip(&thin(&std::mem::take(&mut piece)), frame, &mut out);
        }
    }
    if !piece.is_empty() {
        clip(&thin(&piece), frame, &mut out);
    }
    out
}

/// Leaves out what cannot be seen: of the points that follow one another in a
/// narrow column, the first, the highest, the lowest and the last stay.
pub fn thin(points: &[Point]) -> Vec<Point> {
    let mut out: Vec<Point> = Vec::new();
    let mut start = 0;
    while start < points.len() {
        let column = (points[start].x / COLUMN).floor();
        let mut end = start + 1;
        while end < points.len() && (points[end].x / COLUMN).floor() == column {
            end += 1;
        }
        let (mut top, mut bottom) = (start, start);
        for index in start..end {
            if points[index].y < points[top].y {
                top = index;
            }
            if points[index].y > points[bottom].y {
                bottom = index;
            }
        }
        let mut kept = [start, top, bottom, end - 1];
        kept.sort_unstable();
        for (place, index) in kept.iter().enumerate() {
            if place == 0 || kept[place - 1] != *index {
                out.push(points[*index]);
            }
        }
        start = end;
    }
    out
}

/// Clips a line to a frame; it may fall into several pieces.
fn clip(points: &[Point], frame: Rect, out: &mut Vec<Vec<Point>>) {
    if let [only] = points {
        // A single value is a dot, as long as a line is wide.
        if inside(*only, frame) {
            out.push(vec![Point::new(only.x - 0.75, only.y), Point::new(only.x + 0.75, only.y)]);
        }
        return;
    }
    let mut piece: Vec<Point> = Vec::new();
    for pair in points.windows(2) {
        let Some((a, b)) = segment(pair[0], pair[1], frame) else {
            if piece.len() > 1 {
                out.push(std::mem::take(&mut piece));
            }
            piece.clear();
            continue;
        };
        if piece.last() != Some(&a) {
            if piece.len() > 1 {
                out.push(std::mem::take(&mut piece));
            }
            piece = vec![a];
        }
        piece.push(b);
    }
    if piece.len() > 1 {
        out.push(piece);
    }
}

fn inside(point: Point, frame: Rect) -> bool {
    (frame.left..=frame.right).contains(&point.x) && (frame.top..=frame.bottom).contains(&point.y)
}

/// The part of a segment inside a frame (Liang and Barsky).
fn segment(a: Point, b: Point, frame: Rect) -> Option<(Point, Point)> {
    if inside(a, frame) && inside(b, frame) {
        return Some((a, b));
    }
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (step, room) in
        [(-dx, a.x - frame.left), (dx, frame.right - a.x), (-dy, a.y - frame.top), (dy, frame.bottom - a.y)]
    {
        if step == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if step < 0.0 {
            enter = enter.max(room / step);
        } else {
            leave = leave.min(room / step);
        }
    }
    if enter > leave {
        return None;
    }
    let at = |t: f64| Point::new(a.x + t * dx, a.y + t * dy);
    Some((if enter == 0.0 { a } else { at(enter) }, if leave == 1.0 { b } else { at(leave) }))
}

/// Clips an area to a frame, one edge of the frame after the other (Sutherland and Hodgman).
pub fn clip_area(area: Vec<Point>, frame: Rect) -> Vec<Point> {
    type Edge = (fn(Point) -> f64, f64, bool);
    let x = |point: Point| point.x;
    let y = |point: Point| point.y;
    let edges: [Edge; 4] =
        [(x, frame.left, false), (x, frame.right, true), (y, frame.top, false), (y, frame.bottom, true)];
    edges.into_iter().fold(area, |area, (of, bound, below)| {
        let within = |point: Point| if below { of(point) <= bound } else { of(point) >= bound };
        let mut out = Vec::with_capacity(area.len());
        for (index, &point) in area.iter().enumerate() {
            let before = area[(index + area.len() - 1) % area.len()];
            if within(point) != within(before) {
                let share = (bound - of(before)) / (of(point) - of(before));
                out.push(before.toward(point, share));
            }
            if within(point) {
                out.push(point);
            }
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Rect = Rect { left: 0.0, top: 0.0, right: 100.0, bottom: 50.0 };

    #[test]
    fn a_million_points_become_what_can_be_seen() {
        let points = (0..1_000_000).map(|i| {
            let x = f64::from(i) / 1e4;
            Point::new(x, 25.0 + 20.0 * (x * 0.07).sin() + if i == 123_456 { 4.0 } else { 0.0 })
        });
        let found = pieces(points, FRAME);
        assert_eq!(found.len(), 1);
        assert!(found[0].len() <= 4 * 201, "{}", found[0].len());
        let ends = (found[0][0], found[0][found[0].len() - 1]);
        assert_eq!((ends.0.x, ends.1.x), (0.0, 99.9999));
        let spike = 25.0 + 20.0 * (12.3456_f64 * 0.07).sin() + 4.0;
        assert!(found[0].iter().any(|p| (p.y - spike).abs() < 1e-9), "a spike of one point was lost");
    }

    #[test]
    fn lines_stay_inside_and_break_at_gaps() {
        let zigzag = (0..50).map(|i| Point::new(f64::from(i) * 2.0, if i % 2 == 0 { -30.0 } else { 80.0 }));
        for piece in pieces(zigzag, FRAME) {
            assert!(piece.iter().all(|p| inside(*p, FRAME.grown(1e-9))), "{piece:?}");
        }
        let gap = [1.0, 2.0, f64::NAN, 4.0, f64::INFINITY, 6.0].map(|x| Point::new(x, 10.0));
        assert_eq!(pieces(gap.into_iter(), FRAME).len(), 3);
        assert!(pieces(std::iter::empty(), FRAME).is_empty());
    }

    #[test]
    fn areas_stay_inside() {
        let area = vec![Point::new(-10.0, -10.0), Point::new(120.0, 20.0), Point::new(50.0, 90.0)];
        let clipped = clip_area(area, FRAME);
        assert!(clipped.len() >= 4 && clipped.iter().all(|p| inside(*p, FRAME.grown(1e-9))), "{clipped:?}");
        assert!(clip_area(vec![Point::new(-5.0, 1.0), Point::new(-1.0, 9.0)], FRAME).is_empty());
        assert!(clip_area(Vec::new(), FRAME).is_empty());
    }
}
