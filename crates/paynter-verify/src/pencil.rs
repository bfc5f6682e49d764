//! The acausal equations for small changes about a point: (M₀ + s·M₁)·z = N·u.

use crate::acausal::{Acausal, Meaning, Place, Point};
use crate::factors::{Condensed, Entries};
use crate::tolerance::{AGREEING_SIDES, KINK_WIDTH};
use num_complex::Complex64;
use paynter_algebra::{Expr, Node, Pool, Symbol};
use paynter_base::random::Random;
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// The equations of small changes about a point.
#[derive(Debug, Clone)]
pub struct Pencil<'a> {
    pub(crate) system: &'a Acausal<'a>,
    pub(crate) point: &'a Point,
    /// By row: the columns of variables with their entries.
    pub(crate) entries: Vec<Vec<(usize, f64)>>,
    /// By row: the inputs with their entries, on the other side.
    pub(crate) inputs: Vec<Vec<(usize, f64)>>,
    /// The rows that read each parameter.
    pub(crate) readers: FxHashMap<usize, Vec<usize>>,
    /// By output: what it reads of the variables, and of the inputs.
    pub(crate) outputs: Vec<Mixed>,
    /// Whether no entry changes with the point.
    pub(crate) linear: bool,
    /// Parameters, by how much they are less and more, and the equations of small changes about the points to which
    /// that leads.
    pub(crate) sides: Vec<(usize, f64, [Pencil<'a>; 2])>,
    /// The matrix, once it is condensed.
    condensed: OnceCell<Rc<Condensed>>,
    /// By parameter: what it changes in the equations, once that is asked.
    moved: RefCell<FxHashMap<usize, Rc<Moved>>>,
}

/// Variables and inputs with their factors: a sum of small changes.
pub(crate) type Mixed = [Vec<(usize, f64)>; 2];

/// What a parameter changes in linear equations: what stands in rows, and in outputs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moved {
    pub rows: Vec<(usize, Mixed)>,
    pub outputs: Vec<Mixed>,
}

/// The derivatives of an expression by variables and by inputs, and whether none of them changes with the point.
struct Gradient {
    variables: Vec<(usize, f64)>,
    inputs: Vec<(usize, f64)>,
    /// The parameters that it reads.
    parameters: Vec<usize>,
    linear: bool,
}

impl<'a> Pencil<'a> {
    /// Linearises the equations about a point; nothing where a law has no derivative there.
    pub fn new(pool: &mut Pool, system: &'a Acausal<'a>, point: &'a Point) -> Option<Pencil<'a>> {
        let mut pencil = Pencil {
            system,
            point,
            entries: Vec::new(),
            inputs: Vec::new(),
            readers: FxHashMap::default(),
            outputs: Vec::new(),
            linear: true,
            sides: Vec::new(),
            condensed: OnceCell::new(),
            moved: RefCell::default(),
        };
        for (place, row) in system.rows.iter().enumerate() {
            let mut entries = row.terms.clone();
            let mut inputs = Vec::new();
            if let Some(value) = row.value {
                let found = pencil.gradient(pool, row.place, value)?;
                pencil.linear &= found.linear;
                entries.extend(found.variables.into_iter().map(|(at, c)| (at, -c)));
                inputs = found.inputs;
                for parameter in found.parameters {
                    pencil.readers.entry(parameter).or_default().push(place);
                }
            }
            pencil.entries.push(entries);
            pencil.inputs.push(inputs);
        }
        for output in system.graph.outputs.iter() {
            let found = pencil.gradient(pool, Place::Nowhere, output.value)?;
            pencil.linear &= found.linear;
            pencil.outputs.push([found.variables, found.inputs]);
        }
        Some(pencil)
    }

    /// The number of variables.
    pub fn width(&self) -> usize {
        self.system.width
    }

    /// Whether no entry changes with the point.
    pub fn is_linear(&self) -> bool {
        self.linear
    }

    fn gradient(&self, pool: &mut Pool, place: Place, value: Expr) -> Option<Gradient> {
        let (system, point) = (self.system, self.point);
        if let Some(found) = self.coefficients(pool, place, value) {
            return Some(found);
        }
        let mut found =
            Gradient { variables: Vec::new(), inputs: Vec::new(), parameters: Vec::new(), linear: true };
        for symbol in pool.symbols(value) {
            let meaning = system.meaning(place, symbol)?;
            if let Meaning::Parameter(k) = meaning {
                found.parameters.push(k);
            }
            let (Meaning::Variable(..) | Meaning::Input(_)) = meaning else { continue };
            let derivative = pool.diff(value, symbol);
            let fixed = |s| matches!(system.meaning(place, s), Some(Meaning::Parameter(_)));
            found.linear &= pool.symbols(derivative).into_iter().all(fixed);
            let at = |s| system.value_at(place, s, point);
            let derivative = match !found.linear && system.switches_at(pool, place, value, point, KINK_WIDTH)
            {
                true => self.derivative_beside(pool, (place, value), symbol)?,
                false => pool.eval(derivative, &at).ok()?,
            };
            match meaning {
                Meaning::Variable(at, sign) => found.variables.push((at, sign * derivative)),
                Meaning::Input(k) => found.inputs.push((k, derivative)),
                _ => {}
            }
        }
        Some(found)
    }

    /// The derivatives of a sum of variables and inputs with factors that only parameters are in: what most laws are.
    fn coefficients(&self, pool: &Pool, place: Place, value: Expr) -> Option<Gradient> {
        let terms = match pool.node(value) {
            Node::Sum(terms) => terms,
            _ => std::slice::from_ref(&value),
        };
        let mut found =
            Gradient { variables: Vec::new(), inputs: Vec::new(), parameters: Vec::new(), linear: true };
        for term in terms {
            let factors = match pool.node(*term) {
                Node::Product(factors) => factors,
                _ => std::slice::from_ref(term),
            };
            let (mut of, mut coefficient) = (None, 1.0);
            for factor in factors {
                let meaning = match pool.as_symbol(*factor) {
                    Some(symbol) => self.system.meaning(place, symbol)?,
                    None => {
                        for symbol in pool.symbols(*factor) {
                            let Meaning::Parameter(k) = self.system.meaning(place, symbol)? else {
                                return None;
                            };
                            found.parameters.push(k);
                        }
                        let at = |symbol| self.system.value_at(place, symbol, self.point);
                        coefficient *= pool.eval(*factor, &at).ok()?;
                        continue;
                    }
                };
                match meaning {
                    Meaning::Parameter(k) => {
                        found.parameters.push(k);
                        coefficient *= *self.point.parameters.get(k)?;
                    }
                    Meaning::Variable(..) | Meaning::Input(_) if of.is_none() => of = Some(meaning),
                    _ => return None,
                }
            }
            match of {
                Some(Meaning::Variable(at, sign)) => found.variables.push((at, sign * coefficient)),
                Some(Meaning::Input(k)) => found.inputs.push((k, coefficient)),
                _ => {}
            }
        }
        found.parameters.sort_unstable();
        found.parameters.dedup();
        Some(found)
    }

    /// The derivative of an expression whose choices stand on their borders; nothing where its sides differ.
    fn derivative_beside(
        &self,
        pool: &mut Pool,
        (place, value): (Place, Expr),
        symbol: Symbol,
    ) -> Option<f64> {
        let (system, point) = (self.system, self.point);
        let at = |s| system.value_at(place, s, point);
        let [above, below] = [1.0, -1.0].map(|side| {
            let beside = |s| match system.meaning(place, s) {
                Some(Meaning::Variable(variable, _)) => {
                    let size = point.variables[variable].abs().max(point.scales[variable]);
                    at(s).map(|x| x + side * (KINK_WIDTH * size + f64::MIN_POSITIVE.sqrt()))
                }
                _ => at(s),
            };
            pool.decide_choices(&[value], &beside)[0]
        });
        let mut derivative = |branch: Expr| {
            let derivative = pool.diff(branch, symbol);
            pool.eval(derivative, &at).ok()
        };
        let (up, down) = (derivative(above)?, derivative(below)?);
        let alike = |a: f64, b: f64| (a - b).abs() <= AGREEING_SIDES * a.abs().max(b.abs());
        if alike(up, down) {
            return Some(up);
        }
        // At a kink the answer is about one side; where a law jumps there is none.
        let [a, b] = [above, below].map(|branch| pool.eval(branch, &at).ok());
        if point.beside.is_empty() || !alike(a?, b?) {
            return None;
        }
        let taken = |s| match system.meaning(place, s) {
            Some(Meaning::Variable(variable, sign)) => Some(sign * point.beside[variable]),
            _ => at(s),
        };
        let branch = pool.decide_choices(&[value], &taken)[0];
        let derivative = pool.diff(branch, symbol);
        pool.eval(derivative, &at).ok()
    }

    /// What a parameter changes in linear equations.
    pub(crate) fn moved(&self, pool: &mut Pool, parameter: usize) -> Rc<Moved> {
        if let Some(known) = self.moved.borrow().get(&parameter) {
            return known.clone();
        }
        let graph = self.system.graph;
        let rows = self.readers.get(&parameter).into_iter().flatten().filter_map(|place| {
            let row = &self.system.rows[*place];
            Some((*place, self.mixed(pool, row.place, row.value?, parameter)))
        });
        let rows = rows.collect();
        let outputs = graph.outputs.iter();
        let outputs =
            outputs.map(|output| self.mixed(pool, Place::Nowhere, output.value, parameter)).collect();
        let moved = Rc::new(Moved { rows, outputs });
        self.moved.borrow_mut().insert(parameter, moved.clone());
        moved
    }

    /// The derivative by a parameter of what a linear expression makes of small changes.
    fn mixed(&self, pool: &mut Pool, place: Place, value: Expr, parameter: usize) -> Mixed {
        let symbol = self.system.graph.parameters[parameter].declaration.symbol;
        let mut found = Mixed::default();
        if !pool.depends_on(value, symbol) {
            return found;
        }
        for other in pool.symbols(value) {
            let meaning = self.system.meaning(place, other);
            let Some(Meaning::Variable(..) | Meaning::Input(_)) = meaning else { continue };
            let derivative = pool.diff(value, other);
            let derivative = pool.diff(derivative, symbol);
            let at = |s| self.system.value_at(place, s, self.point);
            let derivative = pool.eval(derivative, &at).unwrap_or(f64::NAN);
            match meaning {
                Some(Meaning::Variable(at, sign)) => found[0].push((at, sign * derivative)),
                Some(Meaning::Input(k)) => found[1].push((k, derivative)),
                _ => {}
            }
        }
        found
    }

    /// M₀ + s·M₁, condensed; entries are changed at random by a small part where a seed is given.
    pub(crate) fn condensed(&self, change: Option<(u64, f64)>) -> Rc<Condensed> {
        match change {
            None => self.condensed.get_or_init(|| Rc::new(self.condense(None))).clone(),
            change => Rc::new(self.condense(change)),
        }
    }

    fn condense(&self, change: Option<(u64, f64)>) -> Condensed {
        let mut rows: Vec<Entries> = vec![Vec::new(); self.system.width];
        let mut draw = change.map(|(seed, size)| (Random::new(seed), size));
        for (row, entries) in rows.iter_mut().zip(&self.entries) {
            for (j, value) in entries {
                let factor =
                    draw.as_mut().map_or(1.0, |(random, size)| 1.0 + *size * (2.0 * random.unit() - 1.0));
                row.push((*j, Complex64::from(factor * value)));
            }
        }
        let equalities =
            self.system.rows.iter().enumerate().filter_map(|(i, row)| Some((i, row.equality()?)));
        Condensed::new(&rows, &self.rates().collect::<Vec<_>>(), &equalities.collect::<Vec<_>>())
    }

    /// N·u for a unit of one input.
    pub(crate) fn driven_by(&self, input: usize) -> Vec<Complex64> {
        let of =
            |row: &Vec<(usize, f64)>| row.iter().filter(|(k, _)| *k == input).map(|(_, c)| c).sum::<f64>();
        self.inputs.iter().map(|row| Complex64::from(of(row))).collect()
    }

    /// Where M₁ has its ones: rows with the columns of their states.
    pub(crate) fn rates(&self) -> impl Iterator<Item = (usize, usize)> {
        self.system.rows.iter().enumerate().filter_map(|(i, row)| Some((i, row.rate?)))
    }
}
