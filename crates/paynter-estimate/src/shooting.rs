//! Multiple shooting: a record is simulated in pieces, each from states of its own, and the ends of pieces are joined
//! more and more firmly. Where one run over the whole record diverges from a poor start, pieces do not.

use crate::problem::{Evaluation, Problem, Rejection};
use crate::search::{Cost, Limits, Method, search};
use crate::tolerance::{JOINTS, SHOT_ITERATIONS};
use crate::unknown::Quantity;
use paynter_base::CancellationToken;
use paynter_numerics::linalg::Triangle;
use paynter_simulate::Options;
use paynter_simulate::experiment::Simulation;

/// What pieces after the first are simulated with: the initial values of all states are its parameters.
pub(crate) struct Pieces {
    /// The compiled model.
    pub simulation: Simulation,
    /// For each unknown its lane; none for initial states, which act on the first piece alone.
    pub lanes: Vec<Option<usize>>,
    /// The places and lanes of the initial values of all states.
    pub states: Vec<(usize, usize)>,
}

/// A piece of a record.
struct Piece {
    experiment: usize,
    /// Its first sample, and the first of the next piece.
    from: usize,
    to: usize,
    options: Options,
    /// Where its states stand among the variables; none for the first of a record.
    start: Option<usize>,
    /// Where those of the next piece stand.
    next: Option<usize>,
}

/// The cost of all pieces and of the joints between them.
struct Joined<'a, 'b> {
    problem: &'a Problem<'b>,
    pieces: &'a Pieces,
    list: Vec<Piece>,
    /// The size of each state.
    sizes: Vec<f64>,
    count: usize,
    /// How much a joint counts beside data of the size of one.
    joint: f64,
    /// By what data are divided.
    data: f64,
}

/// The end of a piece: states, and their derivatives by the variables.
struct End {
    states: Vec<f64>,
    sensitivities: Vec<Vec<f64>>,
}

impl Joined<'_, '_> {
    /// The model of a piece and the values of its parameters and initial states.
    fn start_of<'s>(&'s self, piece: &Piece, z: &[f64]) -> (&'s Simulation, Vec<f64>) {
        let problem = self.problem;
        let values = problem.values(&z[..problem.unknowns.len()]);
        let Some(start) = piece.start else {
            return (problem.simulation, problem.parameters(piece.experiment, &values));
        };
        let mut parameters = self.pieces.simulation.parameters.clone();
        for ((unknown, value), lane) in problem.unknowns.iter().zip(&values).zip(&self.pieces.lanes) {
            if let (Quantity::Simulated { place, .. }, Some(_)) = (unknown.quantity, lane)
                && problem.belongs(unknown, piece.experiment)
            {
                parameters[place] = *value;
            }
        }
        for (i, (place, _)) in self.pieces.states.iter().enumerate() {
            parameters[*place] = z[start + i] * self.sizes[i];
        }
        (&self.pieces.simulation, parameters)
    }

    /// Fills a line with derivatives by each variable, from those by the lanes of a piece.
    fn turn(&self, piece: &Piece, chain: &[f64], derivatives: &[f64], gain: f64, line: &mut [f64]) {
        line.fill(0.0);
        for (j, unknown) in self.problem.unknowns.iter().enumerate() {
            if let Quantity::Simulated { lane, .. } = unknown.quantity {
                let lane = if piece.start.is_none() { Some(lane) } else { self.pieces.lanes[j] };
                line[j] = lane.map_or(0.0, |lane| gain * derivatives[lane] * chain[j]);
            }
        }
        if let Some(start) = piece.start {
            for (i, (_, lane)) in self.pieces.states.iter().enumerate() {
                line[start + i] = gain * derivatives[*lane] * self.sizes[i];
            }
        }
    }

    /// Simulates a piece from given variables; `each` gets the row of every measured sample.
    fn simulate(
        &self,
        piece: &Piece,
        z: &[f64],
        token: &CancellationToken,
        each: &mut dyn FnMut(&[f64], f64),
    ) -> Result<End, Rejection> {
        let problem = self.problem;
        let record = &problem.experiments[piece.experiment];
        let own = &z[..problem.unknowns.len()];
        let values = problem.values(own);
        let chain = problem.chain(piece.experiment, own);
        if !problem.is_derived(&problem.parameters(piece.experiment, &values)) {
            return Err(Rejection::Underived);
        }
        let (simulation, parameters) = self.start_of(piece, z);
        let (lanes, outputs) = (simulation.wanted.len(), simulation.outputs.len());
        let states = self.sizes.len();
        let mut end = End { states: vec![0.0; states], sensitivities: vec![vec![0.0; self.count]; states] };
        let mut number = piece.from;
        let mut line = vec![0.0; self.count];
        let outcome = simulation.trial(&parameters, &record.tables, &piece.options, token, &mut |sample| {
            let at = number;
            number += 1;
            if at == piece.to || piece.next.is_none() && at + 1 == piece.to {
                for i in 0..states {
                    end.states[i] = sample.outputs[outputs + i];
                    let derivatives = &sample.sensitivities[(outputs + i) * lanes..];
                    self.turn(piece, &chain, derivatives, 1.0, &mut end.sensitivities[i]);
                }
            }
            if at == piece.to {
                return;
            }
            for (output, fitted) in problem.outputs.iter().enumerate() {
                let data = record.measured[output][at];
                if data.is_nan() {
                    continue;
                }
                let bare = sample.outputs[fitted.place];
                let (gain, offset) = problem.sensor(piece.experiment, output, &values);
                self.turn(piece, &chain, &sample.sensitivities[fitted.place * lanes..], gain, &mut line);
                for (j, unknown) in problem.unknowns.iter().enumerate() {
                    match unknown.quantity {
                        Quantity::Offset(own) if own == output => line[j] = chain[j],
                        Quantity::Gain(own) if own == output => line[j] = bare * chain[j],
                        _ => {}
                    }
                }
                let model = gain * bare + offset;
                let weight = record.weights[output].at(at) / self.data;
                line.iter_mut().for_each(|entry| *entry *= weight);
                each(&line, weight * (model - data));
            }
        });
        match outcome.failure {
            None => Ok(end),
            Some(paynter_simulate::Failure::Cancelled) => Err(Rejection::Cancelled),
            Some(_) => Err(Rejection::Failed {
                experiment: piece.experiment,
                outcome: Box::new(outcome),
                parameters,
            }),
        }
    }
}

impl Cost for Joined<'_, '_> {
    fn evaluate(&self, z: &[f64], token: &CancellationToken) -> Result<Evaluation, Rejection> {
        let n = self.count;
        let mut triangle = Triangle::new(n + 1);
        let mut cost = 0.0;
        let mut whole = vec![0.0; n + 1];
        for piece in &self.list {
            let end = self.simulate(piece, z, token, &mut |line, residual| {
                cost += 0.5 * residual * residual;
                whole[..n].copy_from_slice(line);
                whole[n] = residual;
                triangle.push(&whole);
            })?;
            let Some(next) = piece.next else { continue };
            for (i, size) in self.sizes.iter().enumerate() {
                for (entry, derivative) in whole.iter_mut().zip(&end.sensitivities[i]) {
                    *entry = self.joint * derivative / size;
                }
                whole[next + i] -= self.joint;
                whole[n] = self.joint * (end.states[i] / size - z[next + i]);
                cost += 0.5 * whole[n] * whole[n];
                triangle.push(&whole);
            }
        }
        let rows = triangle.rows().to_vec();
        if !cost.is_finite() || rows.iter().any(|entry| !entry.is_finite()) {
            return Err(Rejection::NotFinite { experiment: 0, output: 0, t: 0.0, unknown: None });
        }
        Ok(Evaluation { z: z.to_vec(), cost, triangle: rows, residuals: triangle.taken() })
    }

    fn ranges(&self) -> Vec<(f64, f64)> {
        let mut ranges = self.problem.ranges();
        ranges.resize(self.count, (f64::NEG_INFINITY, f64::INFINITY));
        ranges
    }

    fn values(&self, z: &[f64]) -> Vec<f64> {
        self.problem.values(&z[..self.problem.unknowns.len()])
    }

    fn turned(&self, from: &[f64], to: &[f64]) -> Vec<usize> {
        let own = self.problem.unknowns.len();
        self.problem.turned(&from[..own], &to[..own])
    }

    fn runs(&self) -> usize {
        self.list.len()
    }

    fn size(&self) -> f64 {
        self.problem.size() / (self.data * self.data)
    }
}

/// Divides the fitted samples of every record into pieces.
fn pieces(problem: &Problem<'_>, shots: usize, states: usize) -> (Vec<Piece>, usize) {
    let mut list: Vec<Piece> = Vec::new();
    let mut count = problem.unknowns.len();
    for (experiment, record) in problem.experiments.iter().enumerate().filter(|(_, record)| !record.validates)
    {
        let shots = shots.min(record.fitted / 2).max(1);
        let place = |k: usize| k * record.fitted / shots;
        for k in 0..shots {
            let (from, to) = (place(k), place(k + 1));
            let last = k + 1 == shots;
            let times: Vec<f64> = record.part.times[from..if last { to } else { to + 1 }].to_vec();
            let t_start = if k == 0 { record.part.t_start } else { times[0] };
            let t_end = times.last().copied().unwrap_or(t_start);
            let start = (k > 0).then(|| count - states);
            let next = (!last).then_some(count);
            count += if last { 0 } else { states };
            let options = Options { t_start, t_end, times, ..record.part.clone() };
            list.push(Piece { experiment, from, to, options, start, next });
        }
    }
    (list, count)
}

/// How a search by pieces of records went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shooting {
    /// The number of pieces of all records.
    pub pieces: usize,
    /// The iterations that joined them.
    pub iterations: usize,
    /// The simulations of pieces, each counted as one.
    pub simulations: usize,
}

/// Estimates by pieces; returns the variables of the unknowns, from which one run over the whole goes on.
pub(crate) fn shoot(
    problem: &Problem<'_>,
    pieces_of: &Pieces,
    shots: usize,
    rank: f64,
    token: &CancellationToken,
) -> Result<(Vec<f64>, Shooting), Rejection> {
    let states = pieces_of.states.len();
    let (list, count) = pieces(problem, shots, states);
    let residuals = problem.experiments.iter().map(crate::Experiment::count).sum::<usize>().max(1);
    let data = (2.0 * problem.size() / residuals as f64).sqrt();
    let mut joined = Joined {
        problem,
        pieces: pieces_of,
        list,
        sizes: vec![1.0; states],
        count,
        joint: JOINTS[0],
        data: if data > 0.0 { data } else { 1.0 },
    };
    let own = problem.unknowns.len();
    let mut z = problem.start();
    z.resize(count, 0.0);
    // Each piece begins where the one before it ends, or where that began if it does not get there.
    let mut known: Vec<f64> = vec![0.0; states];
    let mut sizes = vec![0.0_f64; states];
    for place in 0..joined.list.len() {
        let piece = &joined.list[place];
        match joined.simulate(piece, &z, token, &mut |_, _| {}) {
            Ok(end) if end.states.iter().all(|x| x.is_finite()) => known = end.states,
            Err(Rejection::Cancelled) => return Err(Rejection::Cancelled),
            _ => {}
        }
        for (size, x) in sizes.iter_mut().zip(&known) {
            *size = size.max(x.abs());
        }
        if let Some(next) = piece.next {
            z[next..next + states].copy_from_slice(&known);
        }
    }
    joined.sizes = sizes.into_iter().map(|size| if size > 0.0 { size } else { 1.0 }).collect();
    for k in own..count {
        z[k] /= joined.sizes[(k - own) % states];
    }
    let pieces = joined.list.len();
    let mut told = Shooting { pieces, iterations: 0, simulations: pieces };
    for joint in JOINTS {
        joined.joint = joint;
        let limits = Limits { iterations: SHOT_ITERATIONS, rank };
        let found = search(&joined, (Method::LevenbergMarquardt, limits), &z, token)?;
        told.iterations += found.history.len() - 1;
        told.simulations += found.simulations;
        z = found.evaluation.z;
    }
    z.truncate(own);
    Ok((z, told))
}
