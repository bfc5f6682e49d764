//! Branches: where the trees that hang on the backbone or on the core go.
//!
//! Every node sends its children into the four directions. A lone child goes
//! straight; where there are more children than free directions they fan out
//! at a slant. All distances are counts of rows and columns; the metric comes
//! later, when labels are known.

use super::super::label::Side;

/// Where a child stands as seen from its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The direction of the bond, and of the child's own growth.
    pub side: Side,
    /// 0 straight ahead; negative to the left or above, positive to the right or below.
    pub lane: i32,
}

/// Room a subtree takes around its root, in rows and columns, by [`Side`].
pub type Extent = [i64; 4];

/// A rooted forest whose roots are the nodes of the core.
#[derive(Debug, Default)]
pub struct Forest {
    /// Children in the order of the text.
    pub children: Vec<Vec<usize>>,
    /// Where each child stands; set for all but the roots.
    pub slot: Vec<Option<Slot>>,
    /// Room around each node.
    pub extent: Vec<Extent>,
    /// Place of each child relative to its parent.
    pub offset: Vec<(i64, i64)>,
    /// Where the bond from the parent bends, relative to the parent.
    pub bend: Vec<Option<(i64, i64)>>,
}

impl Forest {
    /// Makes a forest from parents' lists of children.
    pub fn new(children: Vec<Vec<usize>>) -> Forest {
        let count = children.len();
        Forest {
            children,
            slot: vec![None; count],
            extent: vec![[0; 4]; count],
            offset: vec![(0, 0); count],
            bend: vec![None; count],
        }
    }

    /// The nodes below the roots, each after its parent.
    pub fn descend(&self, roots: &[usize]) -> Vec<usize> {
        let mut order = Vec::new();
        let mut open: Vec<usize> = roots.iter().rev().copied().collect();
        while let Some(node) = open.pop() {
            order.push(node);
            open.extend(self.children[node].iter().rev());
        }
        order
    }

    /// Number of nodes in every subtree.
    pub fn weights(&self, order: &[usize]) -> Vec<usize> {
        let mut weight = vec![1; self.children.len()];
        for &node in order.iter().rev() {
            weight[node] = 1 + self.children[node].iter().map(|&child| weight[child]).sum::<usize>();
        }
        weight
    }

    /// Gives the children of a node inside a branch their slots; the node grows towards `side`.
    pub fn spread(&mut self, node: usize, side: Side, weight: &[usize], to_the_left: impl Fn(usize) -> bool) {
        let mut children = self.children[node].clone();
        // Heavy branches straight on; among leaves the text's order decides.
        children.sort_by_key(|&child| std::cmp::Reverse(weight[child]));
        let (left, right) = match side {
            Side::North | Side::South => (Side::West, Side::East),
            Side::East | Side::West => (Side::North, Side::South),
        };
        let straight = |side| Slot { side, lane: 0 };
        match children[..] {
            [] => {}
            [only] => self.slot[only] = Some(straight(side)),
            [one, two] => {
                self.slot[one] = Some(straight(side));
                let lone_side = if side.is_vertical() && !to_the_left(two) { right } else { left };
                self.slot[two] = Some(straight(lone_side));
            }
            _ => {
                // Ahead the heaviest, then the two sides in turn.
                let mut groups: [Vec<usize>; 3] = Default::default();
                groups[0].push(children[0]);
                for (index, &child) in children[1..].iter().enumerate() {
                    groups[1 + index % 2].push(child);
                }
                for (group, side) in groups.iter().zip([side, left, right]) {
                    self.fan(group, side);
                }
            }
        }
    }

    /// Fans children out on one side, symmetrically.
    pub fn fan(&mut self, group: &[usize], side: Side) {
        let half = (group.len() / 2) as i32;
        for (index, &child) in (0_i32..).zip(group) {
            let mut lane = index - half;
            if group.len().is_multiple_of(2) && lane >= 0 {
                lane += 1;
            }
            self.slot[child] = Some(Slot { side, lane });
        }
    }

    /// Computes the room of every node, leaves first, and its children's places.
    pub fn measure(&mut self, order: &[usize]) {
        for &node in order.iter().rev() {
            self.arrange(node);
        }
    }

    fn arrange(&mut self, node: usize) {
        let children = self.children[node].clone();
        if children.is_empty() {
            return;
        }
        let mut reach = [[0_i64; 4]; 4];
        let mut groups: [Vec<usize>; 4] = Default::default();
        for child in children {
            if let Some(slot) = self.slot[child] {
                groups[slot.side as usize].push(child);
            }
        }
        let fanned: [bool; 4] = std::array::from_fn(|side| {
            groups[side].iter().any(|&child| self.slot[child].is_some_and(|slot| slot.lane != 0))
        });
        for side in Side::ALL {
            let group = &mut groups[side as usize];
            group.sort_by_key(|&child| self.slot[child].map_or(0, |slot| slot.lane));
            let lateral = self.laterals(group, side);
            let slanted = lateral.iter().any(|&lateral| lateral != 0);
            for (&child, lateral) in group.iter().zip(lateral) {
                // Only leaves end a slanted bond; branches start behind a bend, clear of the fan.
                let push = i64::from(slanted && !self.children[child].is_empty());
                self.put(child, side, lateral, push);
                grow(&mut reach[side as usize], self.offset[child], self.extent[child]);
            }
        }
        // Two groups may claim the same quadrant: one of them moves outwards.
        for side in [Side::North, Side::South] {
            for across in [Side::East, Side::West] {
                let (one, two) = (reach[side as usize], reach[across as usize]);
                // What stands across from a fan begins beyond it: slanted bonds need the corner.
                let corner =
                    two[side as usize] > 0 || (fanned[side as usize] && !groups[across as usize].is_empty());
                if one[across as usize] == 0 || !corner {
                    continue;
                }
                let (mover, by) = if fanned[side as usize] {
                    (across, one[across as usize])
                } else {
                    (side, two[side as usize])
                };
                let mut moved = [0; 4];
                for &child in &groups[mover as usize] {
                    let (x, y) = self.offset[child];
                    let (dx, dy) = mover.step();
                    self.offset[child] = (x + dx * by, y + dy * by);
                    grow(&mut moved, self.offset[child], self.extent[child]);
                }
                reach[mover as usize] = moved;
            }
        }
        self.extent[node] = std::array::from_fn(|side| reach.iter().map(|r| r[side]).max().unwrap_or(0));
    }

    /// Sideways places of a fan's children, in the order of their lanes.
    fn laterals(&self, group: &[usize], side: Side) -> Vec<i64> {
        let (low, high) =
            if side.is_vertical() { (Side::West, Side::East) } else { (Side::North, Side::South) };
        let lane = |child: usize| self.slot[child].map_or(0, |slot| slot.lane);
        let mut result = vec![0; group.len()];
        let middle = group.iter().position(|&child| lane(child) == 0);
        let split = group.partition_point(|&child| lane(child) < 0);
        let mut edge = middle.map_or(0, |at| self.extent[group[at]][high as usize]);
        for at in split..group.len() {
            if lane(group[at]) > 0 {
                let extent = self.extent[group[at]];
                result[at] = edge + 1 + extent[low as usize];
                edge = result[at] + extent[high as usize];
            }
        }
        let mut edge = middle.map_or(0, |at| self.extent[group[at]][low as usize]);
        for at in (0..split).rev() {
            let extent = self.extent[group[at]];
            result[at] = -(edge + 1 + extent[high as usize]);
            edge = -result[at] + extent[low as usize];
        }
        result
    }

    fn put(&mut self, child: usize, side: Side, lateral: i64, push: i64) {
        let back = self.extent[child][side.opposite() as usize];
        let (dx, dy) = side.step();
        let place = |ahead: i64| {
            if side.is_vertical() { (lateral, dy * ahead) } else { (dx * ahead, lateral) }
        };
        self.offset[child] = place(1 + back + push);
        self.bend[child] = (lateral != 0 && back + push > 0).then(|| place(1));
    }
}

/// Extends a reach by a child's room at its place.
fn grow(reach: &mut Extent, (x, y): (i64, i64), extent: Extent) {
    let at = [-y, x, y, -x];
    for side in 0..4 {
        reach[side] = reach[side].max(at[side] + extent[side]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_node_fans_its_children_without_sharing_a_place() {
        let mut forest = Forest::new(vec![(1..10).collect(); 1].into_iter().chain(vec![vec![]; 9]).collect());
        let order = forest.descend(&[0]);
        let weight = forest.weights(&order);
        forest.spread(0, Side::North, &weight, |_| false);
        forest.measure(&order);
        let mut places: Vec<_> = (1..10).map(|node| forest.offset[node]).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 9);
        assert!(!places.contains(&(0, 0)));
    }
}
