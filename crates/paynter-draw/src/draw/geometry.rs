//! Points, boxes and segments of a drawing; y points down, as in SVG.

use crate::tolerance::{AXIS_COMPONENT, COINCIDENT_POINTS, FLAT_AREA, STANDING_COMPONENT, TOUCHING_PART};

/// A point of the plane.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
}

impl Point {
    /// Makes a point.
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    /// The point at a fraction of the way to another.
    pub fn toward(self, other: Point, fraction: f64) -> Point {
        Point::new(self.x + (other.x - self.x) * fraction, self.y + (other.y - self.y) * fraction)
    }

    /// The distance to another point.
    pub fn distance(self, other: Point) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }

    /// The unit vector to another point; to the right where they coincide.
    pub fn direction(self, other: Point) -> Point {
        let length = self.distance(other);
        if length < COINCIDENT_POINTS {
            Point::new(1.0, 0.0)
        } else {
            Point::new((other.x - self.x) / length, (other.y - self.y) / length)
        }
    }

    /// The point moved along a vector.
    pub fn along(self, direction: Point, length: f64) -> Point {
        Point::new(self.x + direction.x * length, self.y + direction.y * length)
    }
}

/// An upright rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rect {
    /// The left edge.
    pub left: f64,
    /// The upper edge.
    pub top: f64,
    /// The right edge.
    pub right: f64,
    /// The lower edge.
    pub bottom: f64,
}

impl Rect {
    /// Makes a rectangle from its edges.
    pub fn new(left: f64, top: f64, right: f64, bottom: f64) -> Rect {
        Rect { left, top, right, bottom }
    }

    /// Makes a rectangle around a centre.
    pub fn centred(centre: Point, width: f64, height: f64) -> Rect {
        Rect::new(
            centre.x - width / 2.0,
            centre.y - height / 2.0,
            centre.x + width / 2.0,
            centre.y + height / 2.0,
        )
    }

    /// The smallest rectangle around two points.
    pub fn spanning(a: Point, b: Point) -> Rect {
        Rect::new(a.x.min(b.x), a.y.min(b.y), a.x.max(b.x), a.y.max(b.y))
    }

    /// The width.
    pub fn width(self) -> f64 {
        self.right - self.left
    }

    /// The height.
    pub fn height(self) -> f64 {
        self.bottom - self.top
    }

    /// The centre.
    pub fn centre(self) -> Point {
        Point::new((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0)
    }

    /// The rectangle grown by a margin on every side.
    pub fn grown(self, margin: f64) -> Rect {
        Rect::new(self.left - margin, self.top - margin, self.right + margin, self.bottom + margin)
    }

    /// The rectangle moved by a vector.
    pub fn moved(self, by: Point) -> Rect {
        Rect::new(self.left + by.x, self.top + by.y, self.right + by.x, self.bottom + by.y)
    }

    /// The smallest rectangle around both.
    pub fn union(self, other: Rect) -> Rect {
        Rect::new(
            self.left.min(other.left),
            self.top.min(other.top),
            self.right.max(other.right),
            self.bottom.max(other.bottom),
        )
    }

    /// Whether the interiors meet.
    pub fn overlaps(self, other: Rect) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether a segment passes through the interior.
    pub fn crossed_by(self, a: Point, b: Point) -> bool {
        // Liang and Barsky: the interval of the segment's parameter that lies inside.
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        let (dx, dy) = (b.x - a.x, b.y - a.y);
        for (slope, room) in
            [(-dx, a.x - self.left), (dx, self.right - a.x), (-dy, a.y - self.top), (dy, self.bottom - a.y)]
        {
            if slope.abs() < AXIS_COMPONENT {
                if room <= 0.0 {
                    return false;
                }
            } else if slope < 0.0 {
                enter = enter.max(room / slope);
            } else {
                leave = leave.min(room / slope);
            }
        }
        leave - enter > TOUCHING_PART
    }

    /// Where the segment from an inner point to an outer one leaves; the inner
    /// point itself where it does not.
    pub fn exit(self, inner: Point, outer: Point) -> Point {
        let (dx, dy) = (outer.x - inner.x, outer.y - inner.y);
        let mut fraction = 1.0_f64;
        for (slope, room) in [
            (-dx, inner.x - self.left),
            (dx, self.right - inner.x),
            (-dy, inner.y - self.top),
            (dy, self.bottom - inner.y),
        ] {
            if slope > AXIS_COMPONENT {
                fraction = fraction.min((room / slope).max(0.0));
            }
        }
        inner.toward(outer, fraction)
    }

    /// How far a bar across a direction, this long to either side of a point, must move along it until it is clear
    /// of the rectangle.
    pub fn clearance(self, at: Point, along: Point, half: f64) -> f64 {
        // Beyond one of the sides, or beyond all corners as the bar sees them.
        let beside = |room: f64, reach: f64, slope: f64| match (room + half * reach.abs()).max(0.0) {
            0.0 => 0.0,
            missing if slope > STANDING_COMPONENT => missing / slope,
            _ => f64::INFINITY,
        };
        let corners =
            [self.left, self.right].into_iter().flat_map(|x| [self.top, self.bottom].map(|y| (x, y)));
        let beyond = corners.map(|(x, y)| (x - at.x) * along.x + (y - at.y) * along.y).fold(0.0, f64::max);
        [
            beside(at.y - self.top, along.x, -along.y),
            beside(self.bottom - at.y, along.x, along.y),
            beside(at.x - self.left, along.y, -along.x),
            beside(self.right - at.x, along.y, along.x),
        ]
        .into_iter()
        .fold(beyond, f64::min)
    }
}

/// Whether two segments cross or touch away from their ends.
pub fn segments_cross(a: Point, b: Point, c: Point, d: Point) -> bool {
    let side = |p: Point, q: Point, r: Point| {
        let area = (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
        if area.abs() < FLAT_AREA { 0.0 } else { area.signum() }
    };
    let (abc, abd, cda, cdb) = (side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b));
    if abc == 0.0 && abd == 0.0 {
        // On one line: they overlap where their intervals do.
        let along = |p: Point| (p.x - a.x) * (b.x - a.x) + (p.y - a.y) * (b.y - a.y);
        let (low, high) = (along(c).min(along(d)), along(c).max(along(d)));
        let length = along(b);
        return low < length - FLAT_AREA && high > FLAT_AREA;
    }
    abc * abd < 0.0 && cda * cdb < 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_and_boxes_meet_where_they_should() {
        let square = Rect::new(0.0, 0.0, 10.0, 10.0);
        assert!(square.crossed_by(Point::new(-5.0, 5.0), Point::new(15.0, 5.0)));
        assert!(!square.crossed_by(Point::new(-5.0, 10.0), Point::new(15.0, 10.0)));
        assert!(!square.crossed_by(Point::new(-5.0, 0.0), Point::new(0.0, -5.0)));
        assert_eq!(square.exit(Point::new(5.0, 5.0), Point::new(25.0, 5.0)), Point::new(10.0, 5.0));
        let p = Point::new;
        let slant = p(0.6, -0.8);
        for (at, along) in
            [(p(5.0, 0.0), p(0.0, -1.0)), (p(5.0, 0.0), slant), (p(9.0, 0.0), slant), (p(10.0, 0.0), slant)]
        {
            let off = square.clearance(at, along, 3.0);
            let bar = |off: f64| {
                let middle = at.along(along, off);
                [-3.0, 3.0].map(|half| middle.along(p(-along.y, along.x), half))
            };
            let [a, b] = bar(off);
            assert!(!square.crossed_by(a, b), "{at:?}");
            let [a, b] = bar(off - 0.1);
            assert!(off < 1e-9 || square.crossed_by(a, b), "{at:?}: {off} is too much");
        }
        assert!(segments_cross(p(0.0, 0.0), p(4.0, 4.0), p(0.0, 4.0), p(4.0, 0.0)));
        assert!(!segments_cross(p(0.0, 0.0), p(4.0, 0.0), p(4.0, 0.0), p(4.0, 4.0)));
        assert!(segments_cross(p(0.0, 0.0), p(4.0, 0.0), p(2.0, 0.0), p(6.0, 0.0)));
    }
}
