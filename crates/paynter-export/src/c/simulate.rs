//! A simulator in C: Euler's method and that of Runge and Kutta, with the
//! forward sensitivities of states and outputs to all parameters.
//!
//! S' = fx S + fu u_p + fz z_p + fp, where S(0) is the derivative of the
//! initial states and z_p follows from the implicit equations.

use super::Writer;
use crate::plan::{Place, Plan};
use paynter_algebra::{Expr, Pool, Symbol, Target};

/// One block of derivatives: its name, its shape, and where its entries stand.
pub(super) struct Block {
    name: &'static str,
    rows: usize,
    columns: usize,
    entries: Vec<(usize, usize, Expr)>,
}

impl Block {
    /// Its entries.
    pub fn expressions(&self) -> impl Iterator<Item = Expr> {
        self.entries.iter().map(|(_, _, e)| *e)
    }
}

/// Derivatives of expressions by one kind of argument.
fn block(
    pool: &mut Pool,
    plan: &Plan,
    name: &'static str,
    roots: &[Expr],
    columns: usize,
    column: fn(Place) -> Option<usize>,
) -> Block {
    let mut entries = Vec::new();
    for (i, root) in roots.iter().enumerate() {
        let places = |symbol: Symbol| Some((symbol, plan.place(symbol).and_then(column)?));
        let (symbols, columns): (Vec<Symbol>, Vec<usize>) =
            pool.symbols(*root).into_iter().filter_map(places).unzip();
        let derivatives = pool.derivatives(*root, &symbols);
        let zero = pool.zero();
        let found = columns.into_iter().zip(derivatives).filter(|(_, derivative)| *derivative != zero);
        entries.extend(found.map(|(j, derivative)| (i, j, derivative)));
    }
    entries.sort_by_key(|(i, j, _)| (*i, *j));
    Block { name, rows: roots.len(), columns, entries }
}

/// All derivatives that sensitivities need.
pub(super) fn blocks(pool: &mut Pool, plan: &Plan) -> Vec<Block> {
    let state = |place| if let Place::State(i) = place { Some(i) } else { None };
    let input = |place| if let Place::Input(i) = place { Some(i) } else { None };
    let unknown = |place| if let Place::Unknown(i) = place { Some(i) } else { None };
    let parameter = |place| if let Place::Parameter(i) = place { Some(i) } else { None };
    type Column = fn(Place) -> Option<usize>;
    let kinds: [(Column, usize); 4] = [
        (state, plan.states.len()),
        (input, plan.inputs.len()),
        (unknown, plan.unknowns.len()),
        (parameter, plan.parameters.len()),
    ];
    let mut all = Vec::new();
    for (names, roots) in [
        (["fx", "fu", "fz", "fp"], &plan.rates),
        (["gx", "gu", "gz", "gp"], &plan.values),
        (["rx", "ru", "rz", "rp"], &plan.residuals),
    ] {
        for (name, (column, columns)) in names.into_iter().zip(kinds) {
            all.push(block(pool, plan, name, roots, columns, column));
        }
    }
    // A table may stand where no formula does; it depends on no parameter.
    let zero = pool.zero();
    let signals: Vec<Expr> = plan.signals.iter().map(|signal| signal.unwrap_or(zero)).collect();
    all.push(block(pool, plan, "up", &signals, plan.parameters.len(), parameter));
    all.push(block(pool, plan, "xp", &plan.initial, plan.parameters.len(), parameter));
    all
}

impl Writer<'_> {
    /// Derivatives, steps and a `main` that prints a table.
    pub(super) fn simulator(&mut self) {
        let blocks = std::mem::take(&mut self.blocks);
        let (prefix, upper) = (self.prefix.clone(), self.prefix.to_uppercase());
        self.out.space(1);
        self.out
            .add(0, "/* Derivatives, row by row: fx of the rates by the states, gp of the outputs by the");
        self.out.add(
            0,
            " * parameters, and so on; up of the inputs and xp of the initial states by the parameters. */",
        );
        self.out.add(0, "typedef struct {");
        for block in &blocks {
            self.out.add(1, &format!("double {}[{}];", block.name, (block.rows * block.columns).max(1)));
        }
        self.out.add(0, &format!("}} {prefix}_partials;"));
        let roots: Vec<Expr> = blocks.iter().flat_map(Block::expressions).collect();
        let body = self.plan.body(self.pool, &self.names, Target::C, &roots);
        let head = format!(
            "void {prefix}_differentiate(double t, const double x[], const double u[], const double p[], \
             const double z[], {prefix}_partials *partial)"
        );
        self.begin("Fills in all derivatives at a point.", &head, &body);
        self.out.add(1, &format!("static const {prefix}_partials nothing;"));
        self.out.add(1, "*partial = nothing;");
        let mut texts = body.results.iter();
        for block in &blocks {
            for ((i, j, _), text) in block.entries.iter().zip(texts.by_ref()) {
                self.out.add(1, &format!("partial->{}[{}] = {text};", block.name, i * block.columns + j));
            }
        }
        self.unused(&head, &body, true);
        self.end(&head);
        let implicit = self.plan.has_unknowns();
        let mut text = SIMULATOR.to_owned();
        for (mark, keep) in [("IMPLICIT ", implicit), ("EXPLICIT ", !implicit)] {
            let lines = text.lines().filter(|line| keep || !line.starts_with(mark));
            text = lines.map(|line| line.strip_prefix(mark).unwrap_or(line)).collect::<Vec<_>>().join("\n");
        }
        let at_least_one = |n: usize| n.max(1).to_string();
        for (mark, value) in [
            ("SIZE_X", at_least_one(self.plan.states.len())),
            ("SIZE_U", at_least_one(self.plan.inputs.len())),
            ("SIZE_Z", at_least_one(self.plan.unknowns.len())),
            ("SIZE_Y", at_least_one(self.plan.outputs.len())),
            ("SIZE_P", at_least_one(self.plan.parameters.len())),
            ("SIZE_S", at_least_one(self.plan.states.len() * self.plan.parameters.len())),
            ("SIZE_T", at_least_one(self.plan.outputs.len() * self.plan.parameters.len())),
            ("UPPER", upper),
            ("PREFIX", prefix),
        ] {
            text = text.replace(mark, &value);
        }
        self.out.space(1);
        self.out.block(&text);
    }
}

/// Lines marked IMPLICIT belong to models with unknowns, lines marked EXPLICIT to the others.
const SIMULATOR: &str = r#"
/* All derivatives. Infinite ones (a root at zero) are taken a little further along the solution; those
 * that are infinite there as well count nothing. */
static void PREFIX_derivative_along(double t, const double x[], const double u[], const double p[],
                                const double z[], PREFIX_partials *partial)
{
    enum { NX = UPPER_STATES, N = sizeof(PREFIX_partials) / sizeof(double) };
    double *all = (double *)partial;
    for (int turn = 0; turn < 2; turn++) {
        double at[SIZE_X], rates[SIZE_X] = {0.0}, ahead_u[SIZE_U], ahead_z[SIZE_Z] = {0.0};
        double size = 1e-6, speed = 0.0, ahead = 0.0;
        if (turn == 0) {
            PREFIX_differentiate(t, x, u, p, z, partial);
        } else {
IMPLICIT             for (int i = 0; i < UPPER_UNKNOWNS; i++) ahead_z[i] = z[i];
IMPLICIT             PREFIX_f(t, x, u, p, ahead_z, rates);
EXPLICIT             PREFIX_f(t, x, u, p, rates);
            for (int i = 0; i < NX; i++) size = fmax(size, fabs(x[i]));
            for (int i = 0; i < NX; i++) speed = fmax(speed, fabs(rates[i]));
            if (speed > 0.0) ahead = 1e-9 * size / speed;
            for (int i = 0; i < NX; i++) at[i] = x[i] + ahead * rates[i];
            PREFIX_inputs(t + ahead, p, ahead_u);
IMPLICIT             if (PREFIX_unknowns(t + ahead, at, ahead_u, p, ahead_z)) break;
            PREFIX_differentiate(t + ahead, at, ahead_u, p, ahead_z, partial);
        }
        int finite = 1;
        for (int i = 0; i < N; i++) finite = finite && isfinite(all[i]);
        if (finite) return;
    }
    for (int i = 0; i < N; i++) if (!isfinite(all[i])) all[i] = 0.0;
}

/* Rates of the states x and of s, the derivatives of x by the parameters (states by parameters, row
 * by row); outputs y and their derivatives ys. Whatever is null is left out; z is the guess of the
 * unknowns and becomes their value. Returns 0, or 1 where the unknowns are not found. */
int PREFIX_sensitivities(double t, const double x[], const double s[], const double p[], double z[],
                         double dx[], double ds[], double y[], double ys[])
{
    enum { NX = UPPER_STATES, NU = UPPER_INPUTS, NZ = UPPER_UNKNOWNS, NY = UPPER_OUTPUTS, NP = UPPER_PARAMETERS };
    double u[SIZE_U];
    PREFIX_inputs(t, p, u);
IMPLICIT     if (dx && PREFIX_f(t, x, u, p, z, dx)) return 1;
IMPLICIT     if (y && PREFIX_g(t, x, u, p, z, y)) return 1;
EXPLICIT     if (dx) PREFIX_f(t, x, u, p, dx);
EXPLICIT     if (y) PREFIX_g(t, x, u, p, y);
    if (!s) return 0;
    static PREFIX_partials d;
    PREFIX_derivative_along(t, x, u, p, z, &d);
    for (int k = 0; k < NP; k++) {
        double zk[SIZE_Z] = {0.0};
IMPLICIT         double right[SIZE_Z], matrix[SIZE_Z * SIZE_Z];
IMPLICIT         for (int i = 0; i < NZ; i++) {
IMPLICIT             right[i] = d.rp[i * NP + k];
IMPLICIT             for (int j = 0; j < NX; j++) right[i] += d.rx[i * NX + j] * s[j * NP + k];
IMPLICIT             for (int j = 0; j < NU; j++) right[i] += d.ru[i * NU + j] * d.up[j * NP + k];
IMPLICIT         }
IMPLICIT         for (int i = 0; i < NZ * NZ; i++) matrix[i] = d.rz[i];
IMPLICIT         if (PREFIX_step(matrix, right, zk)) return 1;
        for (int i = 0; ds && i < NX; i++) {
            double sum = d.fp[i * NP + k];
            for (int j = 0; j < NX; j++) sum += d.fx[i * NX + j] * s[j * NP + k];
            for (int j = 0; j < NU; j++) sum += d.fu[i * NU + j] * d.up[j * NP + k];
            for (int j = 0; j < NZ; j++) sum += d.fz[i * NZ + j] * zk[j];
            ds[i * NP + k] = sum;
        }
        for (int i = 0; ys && i < NY; i++) {
            double sum = d.gp[i * NP + k];
            for (int j = 0; j < NX; j++) sum += d.gx[i * NX + j] * s[j * NP + k];
            for (int j = 0; j < NU; j++) sum += d.gu[i * NU + j] * d.up[j * NP + k];
            for (int j = 0; j < NZ; j++) sum += d.gz[i * NZ + j] * zk[j];
            ys[i * NP + k] = sum;
        }
    }
    return 0;
}

/* The states at time zero and, where s is not null, their derivatives by the parameters. */
void PREFIX_start(const double p[], double x[], double s[])
{
    PREFIX_initial(p, x);
    if (s) {
        static PREFIX_partials d;
        double u[SIZE_U];
        const double z[SIZE_Z] = {0.0};
        PREFIX_inputs(0.0, p, u);
        PREFIX_differentiate(0.0, x, u, p, z, &d);
        for (int i = 0; i < UPPER_STATES * UPPER_PARAMETERS; i++) s[i] = d.xp[i];
    }
}

/* One step of length h from time t, of x and, where s is not null, of s: by Euler's method (order 1)
 * or that of Runge and Kutta (order 4). Returns 0, or 1 where the unknowns are not found. */
int PREFIX_advance(int order, double t, double h, const double p[], double z[], double x[], double s[])
{
    enum { NX = UPPER_STATES, NS = UPPER_STATES * UPPER_PARAMETERS };
    static const double nodes[] = {0.0, 0.5, 0.5, 1.0}, weights[] = {1.0, 2.0, 2.0, 1.0};
    double dx[SIZE_X] = {0.0}, at[SIZE_X], sum[SIZE_X] = {0.0};
    static double ds[SIZE_S], at_s[SIZE_S], sum_s[SIZE_S];
    const int stages = order == 1 ? 1 : 4;
    for (int i = 0; i < NS; i++) sum_s[i] = ds[i] = 0.0;
    for (int k = 0; k < stages; k++) {
        const double c = nodes[k], w = stages == 1 ? 1.0 : weights[k] / 6.0;
        for (int i = 0; i < NX; i++) at[i] = x[i] + c * h * dx[i];
        for (int i = 0; s && i < NS; i++) at_s[i] = s[i] + c * h * ds[i];
        if (PREFIX_sensitivities(t + c * h, at, s ? at_s : 0, p, z, dx, s ? ds : 0, 0, 0)) return 1;
        for (int i = 0; i < NX; i++) sum[i] += w * dx[i];
        for (int i = 0; s && i < NS; i++) sum_s[i] += w * ds[i];
    }
    for (int i = 0; i < NX; i++) x[i] += h * sum[i];
    for (int i = 0; s && i < NS; i++) s[i] += h * sum_s[i];
    return 0;
}

#ifdef UPPER_MAIN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints t, the outputs and their derivatives by the parameters: ./a.out [END [STEP [euler]]] */
int main(int count, char *words[])
{
    const double end = count > 1 ? atof(words[1]) : 1.0;
    const double step = count > 2 ? atof(words[2]) : end / 1000.0;
    const int order = count > 3 && strcmp(words[3], "euler") == 0 ? 1 : 4;
    const long steps = step > 0.0 ? (long)ceil(end / step - 1e-9) : 0;
    const double h = steps > 0 ? end / (double)steps : 0.0, *p = PREFIX_nominal;
    static double x[SIZE_X], s[SIZE_S], y[SIZE_Y], ys[SIZE_T], z[SIZE_Z];
    printf("t");
    for (int i = 0; i < UPPER_OUTPUTS; i++) printf(",%s", PREFIX_output_names[i]);
    for (int i = 0; i < UPPER_OUTPUTS; i++)
        for (int k = 0; k < UPPER_PARAMETERS; k++)
            printf(",d(%s)/d(%s)", PREFIX_output_names[i], PREFIX_parameter_names[k]);
    printf("\n");
    PREFIX_start(p, x, s);
    for (long k = 0; k <= steps; k++) {
        const double t = (double)k * h;
        if (PREFIX_sensitivities(t, x, s, p, z, 0, 0, y, ys)) {
            fprintf(stderr, "the implicit equations have no solution at t = %g\n", t);
            return 1;
        }
        printf("%.17g", t);
        for (int i = 0; i < UPPER_OUTPUTS; i++) printf(",%.17g", y[i]);
        for (int i = 0; i < UPPER_OUTPUTS * UPPER_PARAMETERS; i++) printf(",%.17g", ys[i]);
        printf("\n");
        if (k < steps && PREFIX_advance(order, t, h, p, z, x, s)) {
            fprintf(stderr, "the implicit equations have no solution after t = %g\n", t);
            return 1;
        }
    }
    return 0;
}
#endif
"#;
