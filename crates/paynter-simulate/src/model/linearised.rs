//! Functions of a model with their derivatives by states and parameters.
//!
//! Unknowns z that constraints r(x, z, p, t) = 0 determine are eliminated by
//! the implicit function theorem, separately for each group of unknowns that
//! constraints join: dz = −r_z⁻¹ (r_x dx + r_p dp).

use crate::model::dominators::gradients;
use paynter_algebra::{Expr, Pool, Symbol};
use paynter_numerics::linalg::Pattern;
use paynter_numerics::linalg::PivotedFactors;
use paynter_numerics::program::{CompileError, Program, Tables};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The symbols by which functions are differentiated, and the rest of the arguments.
pub(crate) struct Arguments<'a> {
    pub slow: &'a [Symbol],
    /// Time, states, unknowns.
    pub fast: &'a [Symbol],
    pub states: &'a [Symbol],
    pub unknowns: &'a [Symbol],
    /// The parameter of each lane; initial states have none.
    pub lanes: &'a [Option<Symbol>],
    pub residuals: &'a [Expr],
    /// More functions that are calculated with these, without derivatives.
    pub beside: &'a [Expr],
}

/// Functions, compiled with their derivatives.
#[derive(Debug)]
pub(crate) struct Linearised {
    pub program: Program,
    /// The number of functions; their values come first.
    pub rows: usize,
    /// Where the derivatives by states stand.
    pub pattern: Pattern,
    /// The row and lane of each derivative by a parameter.
    pub forcing: Vec<(usize, usize)>,
    /// Room for all values of a run, and a zero at the end.
    pub length: usize,
    x_start: usize,
    p_start: usize,
    /// The values of the functions beside.
    beside: Range<usize>,
    /// Where unknowns are eliminated: values that are copied, from and to.
    copies: Vec<(usize, usize)>,
    groups: Vec<Group>,
}

type User = (Vec<(usize, usize)>, Vec<usize>);

/// Unknowns that constraints join.
#[derive(Debug)]
struct Group {
    size: usize,
    /// Rows and columns of r_z, and the numbers of the values there.
    places: Vec<(usize, usize)>,
    values: Vec<usize>,
    /// Right-hand sides: rows with the numbers of values.
    columns: Vec<Vec<(usize, usize)>>,
    /// Functions that read the unknowns: (unknown, number of the value), and for each column where it goes.
    users: Vec<User>,
}

/// Differentiates functions by symbols: (row, column, derivative), those that are not zero.
fn derivatives(
    pool: &mut Pool,
    functions: &[Expr],
    symbols: &BTreeMap<Symbol, Vec<usize>>,
) -> Vec<(usize, usize, Expr)> {
    let mut found = Vec::new();
    let gradients = gradients(pool, functions, &|symbol| symbols.contains_key(&symbol));
    for (row, derivatives) in gradients.into_iter().enumerate() {
        for (symbol, derivative) in derivatives {
            found.extend(symbols[&symbol].iter().map(|column| (row, *column, derivative)));
        }
    }
    found.sort_unstable();
    found
}

fn numbered(symbols: impl Iterator<Item = Option<Symbol>>) -> BTreeMap<Symbol, Vec<usize>> {
    let mut map: BTreeMap<Symbol, Vec<usize>> = BTreeMap::new();
    for (i, symbol) in symbols.enumerate() {
        if let Some(symbol) = symbol {
            map.entry(symbol).or_default().push(i);
        }
    }
    map
}

impl Linearised {
    /// Compiles functions with their derivatives.
    pub fn new(
        pool: &mut Pool,
        functions: &[Expr],
        with: &Arguments<'_>,
    ) -> Result<Linearised, CompileError> {
        let states = numbered(with.states.iter().copied().map(Some));
        let unknowns = numbered(with.unknowns.iter().copied().map(Some));
        let lanes = numbered(with.lanes.iter().copied());
        let rows = functions.len();
        let by = |pool: &mut Pool, list: &[Expr]| {
            [&states, &lanes, &unknowns].map(|symbols| derivatives(pool, list, symbols))
        };
        let [fx, fp, fz] = by(pool, functions);
        let [rx, rp, rz] =
            if with.unknowns.is_empty() { Default::default() } else { by(pool, with.residuals) };
        let mut roots = functions.to_vec();
        let mut starts = Vec::new();
        for list in [&fx, &fp, &fz, &rx, &rp, &rz] {
            starts.push(roots.len());
            roots.extend(list.iter().map(|(_, _, e)| *e));
        }
        let beside = roots.len()..roots.len() + with.beside.len();
        roots.extend(with.beside);
        let program = Program::staged(pool, &roots, with.slow, with.fast)?;
        let places =
            |list: &[(usize, usize, Expr)]| list.iter().map(|(r, c, _)| (*r, *c)).collect::<Vec<_>>();
        let raw = [fx, fp, fz, rx, rp, rz].map(|list| places(&list));
        let columns = with.states.len();
        if with.unknowns.is_empty() {
            let [fx, fp, ..] = raw;
            return Ok(Linearised {
                program,
                rows,
                pattern: Pattern::new(rows, columns, &fx),
                forcing: fp,
                length: roots.len() + 1,
                x_start: starts[0],
                p_start: starts[1],
                beside,
                copies: Vec::new(),
                groups: Vec::new(),
            });
        }
        let mut linearised =
            eliminated(program, rows, columns, with.unknowns.len(), &raw, &starts, roots.len());
        linearised.beside = beside;
        Ok(linearised)
    }

    /// Calculates values and derivatives at a point; `values` keeps those that do not change, and
    /// `loops` is what [`Linearised::loops`] made.
    #[inline]
    pub fn run(
        &self,
        fast: &[f64],
        tables: &Tables,
        work: &mut [f64],
        loops: &mut [PivotedFactors],
        values: &mut [f64],
    ) {
        self.program.run_prepared(fast, tables, work, values);
        if !self.groups.is_empty() {
            self.eliminate(loops, values);
        }
    }

    /// The number of groups of unknowns.
    pub fn loops_count(&self) -> usize {
        self.groups.len()
    }

    /// Room for the matrices of a run.
    pub fn loops(&self) -> Vec<PivotedFactors> {
        self.groups.iter().map(|group| PivotedFactors::new(group.size, &group.places)).collect()
    }

    /// The derivatives by states.
    pub fn by_states<'v>(&self, values: &'v [f64]) -> &'v [f64] {
        &values[self.x_start..self.x_start + self.pattern.at.len()]
    }

    /// The largest sum of the sizes of the derivatives of one function by states.
    pub fn norm(&self, values: &[f64]) -> f64 {
        let by_states = self.by_states(values);
        let row = |row: usize| self.pattern.row(row).map(|e| by_states[e].abs()).sum::<f64>();
        (0..self.rows).map(row).fold(0.0, f64::max)
    }

    /// The derivatives by parameters.
    pub fn by_parameters<'v>(&self, values: &'v [f64]) -> &'v [f64] {
        &values[self.p_start..self.p_start + self.forcing.len()]
    }

    /// The derivatives by parameters, and more up to the zero at the end, for those that do not act.
    pub fn by_parameters_and_zero<'v>(&self, values: &'v [f64]) -> &'v [f64] {
        &values[self.p_start..]
    }

    /// The number of the zero among these.
    pub fn zero(&self) -> usize {
        self.length - 1 - self.p_start
    }

    /// The functions and all derivatives, without what is calculated beside.
    pub fn own<'v>(&self, values: &'v [f64]) -> [&'v [f64]; 2] {
        [&values[..self.beside.start], &values[self.beside.end..self.length - 1]]
    }

    /// The functions that are calculated beside these.
    pub fn beside<'v>(&self, values: &'v [f64]) -> &'v [f64] {
        &values[self.beside.clone()]
    }

    fn eliminate(&self, loops: &mut [PivotedFactors], values: &mut [f64]) {
        values[self.x_start..].fill(0.0);
        for (from, to) in &self.copies {
            values[*to] = values[*from];
        }
        let mut b = Vec::new();
        for (group, matrix) in self.groups.iter().zip(loops) {
            matrix.factorise(group.values.iter().map(|value| values[*value]));
            b.resize(group.size, 0.0);
            for (c, column) in group.columns.iter().enumerate() {
                b.fill(0.0);
                for (row, value) in column {
                    b[*row] = -values[*value];
                }
                matrix.solve(&mut b);
                for (through, targets) in &group.users {
                    let change: f64 =
                        through.iter().map(|(unknown, value)| values[*value] * b[*unknown]).sum();
                    values[targets[c]] += change;
                }
            }
        }
    }
}

/// Plans the elimination of unknowns.
fn eliminated(
    program: Program,
    rows: usize,
    columns: usize,
    unknowns: usize,
    raw: &[Vec<(usize, usize)>; 6],
    starts: &[usize],
    count: usize,
) -> Linearised {
    let [fx, fp, fz, rx, rp, rz] = raw;
    let group_of = groups(unknowns, rz);
    let number = group_of.iter().max().map_or(0, |g| g + 1);
    let mut local = vec![0; unknowns];
    let mut sizes = vec![0; number];
    for z in 0..unknowns {
        local[z] = sizes[group_of[z]];
        sizes[group_of[z]] += 1;
    }
    // What each group reads, and which rows read it.
    let mut reads: Vec<BTreeSet<(bool, usize)>> = vec![BTreeSet::new(); number];
    for (list, lane) in [(rx, false), (rp, true)] {
        for (row, column) in list {
            reads[group_of[*row]].insert((lane, *column));
        }
    }
    let mut x_places: BTreeSet<(usize, usize)> = fx.iter().copied().collect();
    let mut p_places: BTreeSet<(usize, usize)> = fp.iter().copied().collect();
    for (row, z) in fz {
        for (lane, column) in &reads[group_of[*z]] {
            if *lane { &mut p_places } else { &mut x_places }.insert((*row, *column));
        }
    }
    let x_places: Vec<(usize, usize)> = x_places.into_iter().collect();
    let p_places: Vec<(usize, usize)> = p_places.into_iter().collect();
    let (x_start, p_start) = (count, count + x_places.len());
    let target = |lane: bool, place: (usize, usize)| {
        let (list, start) = if lane { (&p_places, p_start) } else { (&x_places, x_start) };
        start + list.binary_search(&place).unwrap_or(0)
    };
    let mut copies = Vec::new();
    copies.extend(fx.iter().enumerate().map(|(i, place)| (starts[0] + i, target(false, *place))));
    copies.extend(fp.iter().enumerate().map(|(i, place)| (starts[1] + i, target(true, *place))));
    let planned = (0..number).map(|g| {
        let mut matrix: Vec<((usize, usize), usize)> = rz
            .iter()
            .enumerate()
            .filter(|(_, (row, _))| group_of[*row] == g)
            .map(|(i, (row, z))| ((local[*row], local[*z]), starts[5] + i))
            .collect();
        matrix.sort_unstable();
        let (places, values) = matrix.into_iter().unzip();
        let columns = reads[g].iter().map(|(lane, column)| {
            let (list, start) = if *lane { (rp, starts[4]) } else { (rx, starts[3]) };
            let own = list.iter().enumerate().filter(|(_, (row, c))| group_of[*row] == g && c == column);
            own.map(|(i, (row, _))| (local[*row], start + i)).collect()
        });
        let mut through: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (i, (row, z)) in fz.iter().enumerate().filter(|(_, (_, z))| group_of[*z] == g) {
            through.entry(*row).or_default().push((local[*z], starts[2] + i));
        }
        let users = through.into_iter().map(|(row, through)| {
            (through, reads[g].iter().map(|(lane, column)| target(*lane, (row, *column))).collect())
        });
        Group { size: sizes[g], places, values, columns: columns.collect(), users: users.collect() }
    });
    let groups = planned.collect();
    Linearised {
        program,
        rows,
        pattern: Pattern::new(rows, columns, &x_places),
        length: p_start + p_places.len() + 1,
        forcing: p_places,
        x_start,
        p_start,
        beside: 0..0,
        copies,
        groups,
    }
}

/// The group of each unknown: those that constraints join.
fn groups(unknowns: usize, rz: &[(usize, usize)]) -> Vec<usize> {
    let mut leader: Vec<usize> = (0..unknowns).collect();
    fn find(leader: &mut [usize], mut z: usize) -> usize {
        while leader[z] != z {
            leader[z] = leader[leader[z]];
            z = leader[z];
        }
        z
    }
    for (row, z) in rz {
        let (a, b) = (find(&mut leader, *row), find(&mut leader, *z));
        leader[a.max(b)] = a.min(b);
    }
    let mut number: BTreeMap<usize, usize> = BTreeMap::new();
    (0..unknowns)
        .map(|z| {
            let root = find(&mut leader, z);
            let next = number.len();
            *number.entry(root).or_insert(next)
        })
        .collect()
}
