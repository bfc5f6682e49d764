//! Two small tools on numbered things: an order in which each comes after
//! what it needs, and sets that are joined.

/// Orders things so that each comes after those it needs. Each cycle is reported
/// to `cycle` once, as the things on it in order.
pub(super) fn after_needs(needs: &[Vec<usize>], mut cycle: impl FnMut(&[usize])) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; needs.len()];
    let mut order = Vec::with_capacity(needs.len());
    let mut path: Vec<usize> = Vec::new();
    let mut next: Vec<usize> = Vec::new();
    for start in 0..needs.len() {
        if state[start] != State::New {
            continue;
        }
        state[start] = State::Open;
        path.push(start);
        next.push(0);
        while let (Some(&here), Some(k)) = (path.last(), next.last_mut()) {
            let Some(&need) = needs[here].get(*k) else {
                state[here] = State::Done;
                order.push(here);
                path.pop();
                next.pop();
                continue;
            };
            *k += 1;
            match state[need] {
                State::New => {
                    state[need] = State::Open;
                    path.push(need);
                    next.push(0);
                }
                State::Open => {
                    let from = path.iter().position(|&other| other == need).unwrap_or(0);
                    cycle(&path[from..]);
                }
                State::Done => {}
            }
        }
    }
    order
}

/// Joins the names on a cycle by arrows, the first again at the end.
pub(super) fn describe_cycle<'n>(cycle: &[usize], name: impl Fn(usize) -> &'n str) -> String {
    let names: Vec<&str> = cycle.iter().chain(cycle.first()).map(|&i| name(i)).collect();
    names.join(" → ")
}

/// Disjoint sets; the smallest member stands for its set, so that sets come in text order.
pub(super) struct Sets {
    parent: Vec<usize>,
}

impl Sets {
    /// Makes `n` sets of one member each.
    pub fn new(n: usize) -> Sets {
        Sets { parent: (0..n).collect() }
    }

    /// The member that stands for a set.
    pub fn find(&mut self, mut i: usize) -> usize {
        while self.parent[i] != i {
            self.parent[i] = self.parent[self.parent[i]];
            i = self.parent[i];
        }
        i
    }

    /// Joins two sets.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }
}
