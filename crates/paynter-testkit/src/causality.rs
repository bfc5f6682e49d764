//! The brute-force oracle of causality: every orientation of every bond, the
//! port constraints of each element, nothing clever.
//!
//! A stroke is written as a Boolean per bond: whether effort goes along the
//! arrow, into the element the arrow points at.

use crate::structure::{Element, Kind, Law, Structure};

/// The most bonds for which all orientations are enumerated.
pub const LIMIT: usize = 20;

/// Which orientations count as allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// The port constraints alone.
    Ports,
    /// Moreover never dividing by a modulus that may vanish.
    NoDivision,
}

/// What the search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strokes {
    /// For each bond whether effort may go against the arrow, and along it.
    pub possible: Vec<[bool; 2]>,
    /// The most storage ports in integral causality at once.
    pub integral: usize,
    /// The most storage ports in derivative causality at once: the rank.
    pub derivative: usize,
    /// The number of storage ports.
    pub storages: usize,
    /// How many orientations are allowed.
    pub count: usize,
    /// How many of them reach the most integral storage ports.
    pub best: usize,
}

/// Searches all orientations. `None` when the structure has more than
/// [`LIMIT`] bonds; no allowed orientation shows as `count == 0`.
pub fn search(structure: &Structure, rules: Rules) -> Option<Strokes> {
    let bonds = structure.bonds.len();
    if bonds > LIMIT {
        return None;
    }
    let storages = structure
        .states()
        .iter()
        .filter(|(_, store)| matches!(store, crate::structure::Store::Port(_)))
        .count();
    let mut found = Strokes {
        possible: vec![[false; 2]; bonds],
        integral: 0,
        derivative: 0,
        storages,
        count: 0,
        best: 0,
    };
    let incidence = structure.incidence();
    let mut strokes = vec![false; bonds];
    for mask in 0u64..1 << bonds {
        for (bond, stroke) in strokes.iter_mut().enumerate() {
            *stroke = mask >> bond & 1 == 1;
        }
        if !holds_with(structure, &incidence, &strokes, rules) {
            continue;
        }
        found.count += 1;
        for (possible, stroke) in found.possible.iter_mut().zip(&strokes) {
            possible[usize::from(*stroke)] = true;
        }
        let integral = count_integral(structure, &incidence, &strokes);
        if integral > found.integral {
            (found.integral, found.best) = (integral, 0);
        }
        found.best += usize::from(integral == found.integral);
        found.derivative = found.derivative.max(storages - integral);
    }
    Some(found)
}

/// Tells whether every port constraint holds.
pub fn holds(structure: &Structure, strokes: &[bool], rules: Rules) -> bool {
    holds_with(structure, &structure.incidence(), strokes, rules)
}

/// Names the first element whose constraint is broken.
pub fn violated<'a>(structure: &'a Structure, strokes: &[bool], rules: Rules) -> Option<&'a str> {
    let broken = |(element, list): (&'a Element, Vec<(usize, usize, bool)>)| {
        let into: Vec<bool> = list.iter().map(|&(_, bond, inward)| strokes[bond] == inward).collect();
        (!allows(element, &into, rules)).then_some(element.name.as_str())
    };
    structure.elements.iter().zip(structure.incidence()).find_map(broken)
}

/// Counts the storage ports in integral causality.
pub fn integral_ports(structure: &Structure, strokes: &[bool]) -> usize {
    count_integral(structure, &structure.incidence(), strokes)
}

type Incidence = [Vec<(usize, usize, bool)>];

fn holds_with(structure: &Structure, incidence: &Incidence, strokes: &[bool], rules: Rules) -> bool {
    let mut into = Vec::new();
    structure.elements.iter().zip(incidence).all(|(element, list)| {
        into.clear();
        into.extend(list.iter().map(|&(_, bond, inward)| strokes[bond] == inward));
        allows(element, &into, rules)
    })
}

/// The port constraints: `into` tells for each port whether effort enters there.
fn allows(element: &Element, into: &[bool], rules: Rules) -> bool {
    let entering = into.iter().filter(|enters| **enters).count();
    let careful = rules == Rules::NoDivision && element.may_vanish;
    match element.kind {
        // An effort source gives effort; a flow detector is one of value zero.
        Kind::Se | Kind::Df => entering == 0,
        Kind::Sf | Kind::De => entering == 1,
        Kind::Zero => entering == 1,
        Kind::One => entering + 1 == into.len(),
        // e1 = m e2 and f2 = m f1 divide by nothing when effort enters at port 2.
        Kind::Tf => entering == 1 && (!careful || into[1]),
        // e1 = r f2 and e2 = r f1 divide by nothing when both flows enter.
        Kind::Gy => entering == 0 && careful || entering != 1 && !careful,
        Kind::Rs => into[1],
        Kind::Sw => into[0] || matches!(&element.law, Law::Switch { off: Some(_), .. }),
        Kind::R | Kind::C | Kind::I => true,
    }
}

fn count_integral(structure: &Structure, incidence: &Incidence, strokes: &[bool]) -> usize {
    let ports = |(element, list): (&Element, &Vec<(usize, usize, bool)>)| {
        let integral = |&(_, bond, inward): &(usize, usize, bool)| match element.kind {
            Kind::C => strokes[bond] != inward,
            Kind::I => strokes[bond] == inward,
            _ => false,
        };
        list.iter().filter(|entry| integral(entry)).count()
    };
    structure.elements.iter().zip(incidence).map(ports).sum()
}

/// Looks for one allowed orientation by propagation and backtracking, at any
/// size, with some strokes given. `None` also when `budget` steps did not
/// suffice.
pub fn complete(structure: &Structure, given: &[Option<bool>], budget: usize) -> Option<Vec<bool>> {
    let incidence = structure.incidence();
    let mut search = Search { structure, incidence: &incidence, strokes: given.to_vec(), trail: Vec::new() };
    if !search.propagate((0..structure.elements.len()).collect()) {
        return None;
    }
    // Every decision: the bond, the trail's length before it, whether the other way was tried.
    let mut decisions: Vec<(usize, usize, bool, bool)> = Vec::new();
    for _ in 0..budget {
        let Some(bond) = search.strokes.iter().position(Option::is_none) else {
            return search.strokes.into_iter().collect();
        };
        let mark = search.trail.len();
        let mut ok = search.decide(bond, true);
        decisions.push((bond, mark, true, false));
        while !ok {
            let (bond, mark, value, tried) = decisions.pop()?;
            search.undo(mark);
            if !tried {
                ok = search.decide(bond, !value);
                decisions.push((bond, mark, !value, true));
            }
        }
    }
    None
}

/// The strokes of integral causality at every storage port, the others open.
pub fn all_integral(structure: &Structure) -> Vec<Option<bool>> {
    let mut given = vec![None; structure.bonds.len()];
    for (bond, stroke) in structure.bonds.iter().zip(&mut given) {
        // Effort enters an I and leaves a C.
        for (end, inward) in [(bond.from, false), (bond.to, true)] {
            match structure.elements[end.element].kind {
                Kind::I => *stroke = Some(inward),
                Kind::C => *stroke = Some(!inward),
                _ => {}
            }
        }
    }
    given
}

/// Lists the strokes that follow from the given ones by propagation alone;
/// `None` on a conflict.
pub fn propagate(structure: &Structure, given: &[Option<bool>]) -> Option<Vec<Option<bool>>> {
    let incidence = structure.incidence();
    let mut search = Search { structure, incidence: &incidence, strokes: given.to_vec(), trail: Vec::new() };
    search.propagate((0..structure.elements.len()).collect()).then_some(search.strokes)
}

struct Search<'a> {
    structure: &'a Structure,
    incidence: &'a Incidence,
    strokes: Vec<Option<bool>>,
    trail: Vec<usize>,
}

impl Search<'_> {
    fn decide(&mut self, bond: usize, value: bool) -> bool {
        self.strokes[bond] = Some(value);
        self.trail.push(bond);
        let ends = &self.structure.bonds[bond];
        self.propagate(vec![ends.from.element, ends.to.element])
    }

    fn undo(&mut self, mark: usize) {
        for bond in self.trail.drain(mark..) {
            self.strokes[bond] = None;
        }
    }

    fn propagate(&mut self, mut queue: Vec<usize>) -> bool {
        while let Some(index) = queue.pop() {
            let element = &self.structure.elements[index];
            let list = &self.incidence[index];
            let into = |entry: &(usize, usize, bool)| self.strokes[entry.1].map(|along| along == entry.2);
            let known: Vec<Option<bool>> = list.iter().map(into).collect();
            let Some(forced) = forced(element, &known) else { return false };
            for (slot, enters) in forced {
                let (_, bond, inward) = list[slot];
                let value = enters == inward;
                match self.strokes[bond] {
                    Some(old) if old != value => return false,
                    Some(_) => {}
                    None => {
                        self.strokes[bond] = Some(value);
                        self.trail.push(bond);
                        let ends = &self.structure.bonds[bond];
                        queue.extend([ends.from.element, ends.to.element]);
                    }
                }
            }
        }
        true
    }
}

/// The ports whose stroke an element forces, given the known ones; `None` on a conflict.
fn forced(element: &Element, known: &[Option<bool>]) -> Option<Vec<(usize, bool)>> {
    let all = |enters: bool| known.iter().map(|_| enters).enumerate().collect::<Vec<_>>();
    let one_of = |special: bool| {
        // Exactly one port has `special`.
        let having = known.iter().filter(|port| **port == Some(special)).count();
        let open: Vec<usize> = (0..known.len()).filter(|slot| known[*slot].is_none()).collect();
        match (having, open.len()) {
            (0, 0) => None,
            (0, 1) => Some(vec![(open[0], special)]),
            (0, _) => Some(Vec::new()),
            (1, _) => Some(open.into_iter().map(|slot| (slot, !special)).collect()),
            _ => None,
        }
    };
    match element.kind {
        Kind::Se | Kind::Df => Some(all(false)),
        Kind::Sf | Kind::De => Some(all(true)),
        Kind::Zero => one_of(true),
        Kind::One => one_of(false),
        Kind::Tf | Kind::Gy => {
            let flips = element.kind == Kind::Tf;
            match (known[0], known[1]) {
                (Some(first), _) => Some(vec![(1, first != flips)]),
                (None, Some(second)) => Some(vec![(0, second != flips)]),
                (None, None) => Some(Vec::new()),
            }
        }
        Kind::Rs => Some(vec![(1, true)]),
        Kind::Sw => {
            let free = matches!(&element.law, Law::Switch { off: Some(_), .. });
            Some(if free { Vec::new() } else { vec![(0, true)] })
        }
        Kind::R | Kind::C | Kind::I => Some(Vec::new()),
    }
}
