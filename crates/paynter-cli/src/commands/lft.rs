//! `paynter lft`: the standard interconnection model.

use super::equations::grid;
use crate::answer::{Answer, Exit, output, read, too_long};
use crate::args::{Global, LftArgs, ProcedureName};
use crate::input;
use crate::picture::{unknown_format, write};
use crate::spelling::CommandLine;
use crate::table::columns;
use paynter::draw::{BlockDiagram, DrawOptions, SvgStyle, blocks_svg, draw, draw_blocks, svg};
use paynter::json::{Lft, Matrix, NumericMatrix, WellPosed};
use paynter::number::significant;
use paynter::{Diagnostic, LftOptions, Procedure};

/// Shows the standard interconnection model of a model.
pub fn run(arguments: &LftArgs, global: &Global) -> Answer {
    let pictures = [&arguments.draw, &arguments.blocks].into_iter().flatten();
    if let Some(diagnostic) = pictures.filter_map(|file| unknown_format(file)).next() {
        return Answer::refusal(global, diagnostic, Exit::Usage);
    }
    let model = match input::load(&arguments.file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let options = LftOptions {
        procedure: match arguments.procedure {
            ProcedureName::New => Procedure::New,
            ProcedureName::Existing => Procedure::Existing,
        },
        normalized: arguments.normalized,
        only: arguments.only.clone(),
        ..LftOptions::default()
    };
    let mut answer = match model.lft(&options, global.token()) {
        Ok(answer) => read(global, answer),
        Err(reason) => return Answer::unanswered(global, model.sources(), reason),
    };
    let mut document = answer.document(&CommandLine);
    if arguments.graph || arguments.draw.is_some() || arguments.blocks.is_some() {
        let derived = match model.uncertain_graph(&options, global.token()) {
            Ok(derived) => derived,
            Err(reason) => return Answer::unanswered(global, model.sources(), reason),
        };
        let blocks = match arguments.blocks {
            Some(_) => model.uncertain_blocks(&options, global.token()),
            None => Ok(None),
        };
        let blocks = match blocks {
            Ok(blocks) => blocks,
            Err(reason) => return Answer::unanswered(global, model.sources(), reason),
        };
        if let Err(diagnostic) = draw_all(arguments, &derived, blocks) {
            answer.findings.push(*diagnostic);
        }
        document.graph = Some(derived.text.clone());
    }
    document.written = arguments.form.notation().map(|notation| answer.written(notation));
    let values = arguments.values;
    let readable = |lft: &Lft| {
        let symbols = text(lft, values.numeric);
        match too_long(&symbols).filter(|_| !values.symbolic && !values.numeric) {
            Some(why) => text(lft, true) + &why,
            None => symbols,
        }
    };
    let graph = |lft: &Lft| lft.graph.clone().filter(|_| arguments.graph);
    let output = output(global, document, |lft| {
        graph(lft).or_else(|| lft.written.clone()).unwrap_or_else(|| readable(lft))
    });
    Answer::told(output, answer.findings, answer.sources)
}

/// Draws the uncertain bond graph and its block diagram where that is asked for.
fn draw_all(
    arguments: &LftArgs,
    derived: &paynter::DerivedModel,
    blocks: Option<BlockDiagram>,
) -> Result<(), Box<Diagnostic>> {
    if let (Some(file), Some(diagram)) = (&arguments.draw, &derived.diagram) {
        write(&svg(&draw(diagram, &DrawOptions::default()), &SvgStyle::default()), file, "write SVG")?;
    }
    if let (Some(file), Some(diagram)) = (&arguments.blocks, blocks) {
        write(&blocks_svg(&draw_blocks(&diagram), &SvgStyle::default()), file, "write SVG")?;
    }
    Ok(())
}

/// The model as the paper writes it: the equations, the vectors, Δ, the matrices.
fn text(lft: &Lft, numeric: bool) -> String {
    let mut text = format!("{}: standard interconnection model, {} procedure\n", lft.model, lft.procedure);
    text.push_str(
        "\n  x' = A x + B1 w + B2 u\n  z  = C1 x + D11 w + D12 u\n  y  = C2 x + D21 w + D22 u\n  w  = Δ z\n",
    );
    text.push_str("\nVectors\n");
    for (name, list) in
        [("x", &lft.states), ("u", &lft.inputs), ("y", &lft.outputs), ("w", &lft.w), ("z", &lft.z)]
    {
        let list = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
        text.push_str(&format!("  {name} = {list}\n"));
    }
    uncertainties(&mut text, lft);
    conditions(&mut text, lft);
    if !numeric && !lft.definitions.is_empty() {
        text.push_str("\nWith\n");
        for definition in &lft.definitions {
            text.push_str(&format!("  {} = {}\n", definition.name, definition.value));
        }
    }
    let sizes = [lft.states.len(), lft.w.len(), lft.inputs.len(), lft.outputs.len()];
    for (name, symbols, numbers, height, width) in matrices(lft) {
        let (rows, columns) = (sizes[height], sizes[width]);
        if rows == 0 || columns == 0 {
            continue;
        }
        let entries = if numeric { numeric_entries(numbers) } else { symbolic_entries(symbols) };
        if entries.is_empty() {
            text.push_str(&format!("\n{name} = 0\n"));
        } else if rows * columns <= MOST_ENTRIES {
            let mut dense = vec![vec!["0".to_owned(); columns]; rows];
            entries.into_iter().for_each(|(i, j, entry)| dense[i][j] = entry);
            text.push_str(&format!("\n{name}\n{}", grid(&dense)));
        } else {
            text.push_str(&format!("\n{name}, {rows} by {columns}, where it is not zero\n"));
            for (i, j, entry) in entries {
                text.push_str(&format!("  ({}, {}) = {entry}\n", i + 1, j + 1));
            }
        }
    }
    text
}

/// Larger matrices are listed entry by entry.
const MOST_ENTRIES: usize = 400;

/// The matrices with what their rows and columns are: 0 states, 1 channels, 2 inputs, 3 outputs.
fn matrices(lft: &Lft) -> [(&'static str, &Matrix, &NumericMatrix, usize, usize); 9] {
    let n = &lft.numeric;
    [
        ("A", &lft.a, &n.a, 0, 0),
        ("B1", &lft.b1, &n.b1, 0, 1),
        ("B2", &lft.b2, &n.b2, 0, 2),
        ("C1", &lft.c1, &n.c1, 1, 0),
        ("D11", &lft.d11, &n.d11, 1, 1),
        ("D12", &lft.d12, &n.d12, 1, 2),
        ("C2", &lft.c2, &n.c2, 3, 0),
        ("D21", &lft.d21, &n.d21, 3, 1),
        ("D22", &lft.d22, &n.d22, 3, 2),
    ]
}

type Entries = Vec<(usize, usize, String)>;

fn symbolic_entries(matrix: &Matrix) -> Entries {
    match matrix {
        Matrix::Sparse(list) => list.clone(),
        Matrix::Dense(rows) => {
            let row = |(i, row): (usize, &Vec<String>)| {
                row.iter().enumerate().map(|(j, e)| (i, j, e.clone())).collect::<Vec<_>>()
            };
            rows.iter().enumerate().flat_map(row).filter(|(_, _, e)| e != "0").collect()
        }
    }
}

fn numeric_entries(matrix: &NumericMatrix) -> Entries {
    let list: Vec<(usize, usize, f64)> = match matrix {
        NumericMatrix::Sparse(list) => list.clone(),
        NumericMatrix::Dense(rows) => {
            let row = |(i, row): (usize, &Vec<f64>)| {
                row.iter().enumerate().map(|(j, x)| (i, j, *x)).collect::<Vec<_>>()
            };
            rows.iter().enumerate().flat_map(row).collect()
        }
    };
    list.into_iter().filter(|(_, _, x)| *x != 0.0).map(|(i, j, x)| (i, j, significant(x))).collect()
}

/// The blocks of Δ, with the bound on their channels.
fn uncertainties(text: &mut String, lft: &Lft) {
    let blocks: Vec<String> = (lft.delta.iter())
        .map(|block| match block.block.len() {
            1 => format!("δ_{}", block.parameter),
            n => format!("δ_{} I{n}", block.parameter),
        })
        .collect();
    text.push_str(&format!("\nUncertainties\n  Δ = diag({})\n\n", blocks.join(", ")));
    let rows: Vec<[String; 5]> = (lft.delta.iter())
        .map(|block| {
            let bounds = block.bounds.map_or_else(String::new, |[low, high]| {
                format!("{} to {}", significant(low), significant(high))
            });
            [
                format!("δ_{}", block.parameter),
                block.block.len().to_string(),
                block.degree.to_string(),
                block.expression.clone(),
                bounds,
            ]
        })
        .collect();
    let last = if lft.normalized { "VALUES" } else { "" };
    text.push_str(&columns(["", "CHANNELS", "AT LEAST", "IS", last], &rows));
    text.push_str(match lft.minimal {
        true => "\n  As few channels as possible: each parameter has as many as its McMillan degree.\n",
        false => "\n  The McMillan degrees leave room for fewer channels.\n",
    });
}

/// What is asked of the nominal model before.
fn conditions(text: &mut String, lft: &Lft) {
    let c = &lft.conditions;
    let word = |holds: Option<bool>| match holds {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not judged",
    };
    let reach = |all: bool, word: &str, states: &[String]| match all {
        true => format!("{word} for almost all values"),
        false if states.is_empty() => format!("not {word}"),
        false => format!("not {word}: {}", states.join(", ")),
    };
    text.push_str("\nConditions\n");
    let mut rows = vec![
        ["proper".to_owned(), "yes".to_owned(), String::new()],
        [
            "stabilisable".to_owned(),
            word(c.stabilisable).to_owned(),
            reach(c.controllable, "controllable", &c.unmoved),
        ],
        [
            "detectable".to_owned(),
            word(c.detectable).to_owned(),
            reach(c.observable, "observable", &c.unseen),
        ],
    ];
    if let Some(posed) = lft.well_posed {
        let word = match posed {
            WellPosed::Proven => "yes",
            WellPosed::Undecided => "not refuted",
        };
        rows.push([
            "well posed".to_owned(),
            word.to_owned(),
            "for all values within the tolerances".to_owned(),
        ]);
    }
    text.push_str(&columns(["", "", ""], &rows));
}
