//! Models from text, data from their own runs, and estimations on both.

#![allow(dead_code, clippy::unwrap_used, clippy::panic, missing_docs)]

use paynter_base::random::Random;
use paynter_base::{CancellationToken, Diagnostics, QueryError, SourceMap};
use paynter_equations::{Equations, derive};
use paynter_estimate::{
    Asked, EstimateOptions, Estimation, Plan, PlanOptions, Prepared, estimate, plan, prepare,
};
use paynter_numerics::Tables;
use paynter_simulate::data::{Data, Measured};
use paynter_simulate::experiment::{SimulateOptions, Simulation, Subject};
use paynter_testkit::read::{Causal, causal};

pub struct Model {
    pub causal: Causal,
    pub equations: Equations,
    pub findings: Diagnostics,
}

impl Model {
    pub fn new(text: &str) -> Model {
        let mut causal = causal(text).unwrap();
        let Causal { pool, graph, causality } = &mut causal;
        let equations = derive(pool, graph, causality, &CancellationToken::new()).unwrap();
        Model { causal, equations, findings: Diagnostics::new() }
    }

    /// A file of the model's own outputs at some times, each changed as told.
    pub fn measure(
        &mut self,
        times: &[f64],
        solver: &str,
        step: Option<f64>,
        change: &mut dyn FnMut(usize, f64) -> f64,
    ) -> Data {
        let measured = Measured::none(Tables::default());
        let Causal { pool, graph, causality } = &mut self.causal;
        let subject = Subject { graph, causality, equations: &self.equations, measured: &measured };
        let options = SimulateOptions {
            times: times.to_vec(),
            solver: solver.to_owned(),
            step,
            ..SimulateOptions::default()
        };
        let token = CancellationToken::new();
        let simulation =
            Simulation::compile(pool, &subject, (&options, &[]), &mut Diagnostics::new(), &token).unwrap();
        let (response, outcome) = simulation.respond(&simulation.parameters, &token);
        assert_eq!(outcome.failure, None);
        let heads: Vec<&str> = simulation.outputs.iter().map(|output| output.name.as_str()).collect();
        let mut text = format!("t,{}\n", heads.join(","));
        for (k, t) in response.t.iter().enumerate() {
            text.push_str(&format!("{t:?}"));
            for (list, column) in response.outputs.iter().zip(&simulation.outputs) {
                text.push_str(&format!(",{:?}", change(k, list[k] / column.factor)));
            }
            text.push('\n');
        }
        Data { path: "measured.csv".to_owned(), content: text.into_bytes() }
    }

    pub fn estimate(&mut self, options: &EstimateOptions) -> Result<Estimation, QueryError> {
        let measured = Measured::none(Tables::default());
        let Causal { pool, graph, causality } = &mut self.causal;
        let mut findings = Diagnostics::new();
        let mut asked = Asked {
            pool,
            subject: Subject { graph, causality, equations: &self.equations, measured: &measured },
            own: graph,
            sources: &mut SourceMap::new(),
            findings: &mut findings,
        };
        // A parameter that turns its sign is a rejected step, as where a law was inverted for one.
        let found = estimate(&mut asked, options, &|_| false, &CancellationToken::new());
        self.findings = findings;
        found
    }
}

impl Model {
    pub fn plan(
        &mut self,
        options: &EstimateOptions,
        planned: &PlanOptions,
    ) -> Result<Vec<Plan>, QueryError> {
        let measured = Measured::none(Tables::default());
        let Causal { pool, graph, causality } = &mut self.causal;
        let mut asked = Asked {
            pool,
            subject: Subject { graph, causality, equations: &self.equations, measured: &measured },
            own: graph,
            sources: &mut SourceMap::new(),
            findings: &mut Diagnostics::new(),
        };
        plan(&mut asked, options, planned, &|_| true, &CancellationToken::new())
    }
}

impl Model {
    pub fn prepare(&mut self, options: &EstimateOptions) -> Result<Prepared, QueryError> {
        let measured = Measured::none(Tables::default());
        let Causal { pool, graph, causality } = &mut self.causal;
        let mut asked = Asked {
            pool,
            subject: Subject { graph, causality, equations: &self.equations, measured: &measured },
            own: graph,
            sources: &mut SourceMap::new(),
            findings: &mut Diagnostics::new(),
        };
        prepare(&mut asked, options, &CancellationToken::new())
    }

    /// A file of the inputs of another, with what the model makes of them as its one output.
    pub fn respond(&mut self, driven: &Data, change: &mut dyn FnMut(f64) -> f64) -> Data {
        let token = CancellationToken::new();
        let Causal { pool, graph, causality } = &mut self.causal;
        let mut sources = SourceMap::new();
        let file = (driven, paynter_numerics::program::Hold::Linear);
        let measured =
            Measured::read(pool, graph, Tables::default(), file, &mut sources, &mut Diagnostics::new())
                .unwrap();
        let subject = Subject { graph, causality, equations: &self.equations, measured: &measured };
        let text = String::from_utf8(driven.content.clone()).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        let times = lines.iter().map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
        let options = SimulateOptions { times, ..SimulateOptions::default() };
        let simulation =
            Simulation::compile(pool, &subject, (&options, &[]), &mut Diagnostics::new(), &token).unwrap();
        let (response, outcome) = simulation.respond(&simulation.parameters, &token);
        assert_eq!(outcome.failure, None);
        let mut text = format!("t,u,{}\n", simulation.outputs[0].name);
        for (line, y) in lines.iter().zip(&response.outputs[0]) {
            let (inputs, _) = line.rsplit_once(',').unwrap();
            text.push_str(&format!("{inputs},{:?}\n", change(*y)));
        }
        Data { path: "driven.csv".to_owned(), content: text.into_bytes() }
    }
}

/// Normal noise by the method of Box and Muller.
pub fn normal(random: &mut Random) -> f64 {
    let (a, b) = (1.0 - random.unit(), random.unit());
    (-2.0 * a.ln()).sqrt() * (2.0 * std::f64::consts::PI * b).cos()
}

pub fn messages(error: QueryError) -> Vec<String> {
    match error {
        QueryError::Wrong(list) => list.iter().map(|d| d.message.clone()).collect(),
        QueryError::Cancelled => vec!["cancelled".to_owned()],
    }
}
