//! Writes a draft as model text, with the freedom of layout that people take:
//! chains, lists of bonds, statements on one line, ports named or implied.

use crate::expr::Expr;
use crate::generate::draft::Draft;
use crate::rng::Rng;
use crate::structure::{Element, Kind, Law, Meaning, Structure};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How a two-port's ports are told apart in the text.
#[derive(Clone, Copy, PartialEq)]
enum Spelling {
    /// By the arrows.
    Implied,
    /// Both named.
    Both,
    /// One named; the other follows.
    Only(usize),
}

/// Writes a whole file: the submodels, then the model.
pub(crate) fn file(draft: &Draft, rng: &mut Rng) -> String {
    let mut text = String::new();
    for template in &draft.templates {
        text.push_str(template);
        text.push('\n');
    }
    let _ = write!(text, "model random");
    if rng.chance(0.3) {
        let _ = write!(text, " \"A random bond graph\"");
    }
    text.push_str(" {\n");
    text.push_str(&body(draft, rng));
    text.push_str("}\n");
    text
}

/// Writes the statements of a model, one a line, four spaces in.
pub(crate) fn body(draft: &Draft, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = Vec::new();
    params(draft, rng, &mut lines);
    for (name, default) in &draft.structure.inputs {
        lines.push(if default.is_empty() {
            format!("input {name}")
        } else {
            format!("input {name} = {default}")
        });
    }
    lines.extend(draft.statements.iter().cloned());
    let mut elements: Vec<String> = Vec::new();
    let mut initial: Vec<String> = Vec::new();
    let names = draft.structure.names();
    for (index, element) in draft.structure.elements.iter().enumerate() {
        if !draft.hidden_elements.contains(&index) {
            elements.push(statement(element, &names, rng, &mut initial));
        }
    }
    if rng.chance(0.2) {
        // Order of declaration means nothing, so that bonds may come first.
        rng.shuffle(&mut elements);
    }
    let bonds = bonds(draft, rng);
    if rng.chance(0.15) {
        lines.extend(bonds);
        lines.extend(elements);
    } else {
        lines.extend(elements);
        lines.extend(bonds);
    }
    lines.extend(initial);
    for signal in &draft.structure.signals {
        lines.push(match &signal.integral {
            Some(initial) => format!("signal {} = integral({}, {initial})", signal.name, signal.value),
            None => format!("signal {} = {}", signal.name, signal.value),
        });
    }
    for (name, value) in &draft.structure.outputs {
        lines.push(format!("output {name} = {value}"));
    }
    let mut text = String::new();
    let mut join = false;
    for line in lines {
        let short = line.len() < 16 && !line.contains(['{', '"']);
        if join && short {
            text.push_str("; ");
        } else {
            if !text.is_empty() {
                text.push('\n');
            }
            if rng.chance(0.03) {
                text.push_str("\n    // the next part\n");
            }
            text.push_str("    ");
        }
        text.push_str(&line);
        join = short && rng.chance(0.2);
    }
    text.push('\n');
    text
}

fn params(draft: &Draft, rng: &mut Rng, lines: &mut Vec<String>) {
    let free = draft.structure.independent();
    for (index, param) in draft.structure.params.iter().enumerate() {
        if draft.hidden_params.contains(&index) {
            continue;
        }
        let mut line = format!("param {} = {}", param.name, param.value);
        if free.contains(&index) && rng.chance(0.25) {
            line.push_str([" ±10%", " ±0.05", " +-5%"][rng.below(3)]);
        }
        if rng.chance(0.1) {
            line.push_str(" \"a parameter\"");
        }
        lines.push(line);
    }
}

/// Writes one element; initial states that do not stand in its braces go to `initial`.
fn statement(
    element: &Element,
    names: &BTreeMap<String, Meaning>,
    rng: &mut Rng,
    initial: &mut Vec<String>,
) -> String {
    let Element { kind, name, ports, law, .. } = element;
    let modulated = |value: &Expr| {
        let mut any = false;
        value.names(&mut |name| {
            any |= !matches!(names.get(name), Some(Meaning::Param(_) | Meaning::Input(_)))
        });
        any
    };
    let mut word = kind.word().to_owned();
    if let (Kind::Se | Kind::Sf | Kind::Tf | Kind::Gy, Law::Value(value)) = (kind, law)
        && modulated(value)
        && rng.chance(0.7)
    {
        word.insert(0, 'M');
    }
    let size = if *ports > 1 && !kind.is_two_port() { format!("[{ports}]") } else { String::new() };
    let mut text = format!("{word} {name}{size}");
    let state = |port: usize| {
        let letter = if *kind == Kind::C { "q" } else { "p" };
        if *ports > 1 { format!("{letter}{port}") } else { letter.to_owned() }
    };
    let mut inside = String::new();
    for (port, value) in &element.initial {
        if matches!(law, Law::Laws(_)) && rng.chance(0.5) {
            let _ = write!(inside, "; init {} = {value}", state(*port));
        } else {
            initial.push(format!("init {name}.{} = {value}", state(*port)));
        }
    }
    match law {
        Law::None => {}
        Law::Value(value) => {
            let _ = write!(text, " = {value}");
        }
        Law::Matrix(rows) => {
            let row = |entries: &Vec<Expr>| {
                let entries: Vec<String> = entries.iter().map(Expr::to_string).collect();
                format!("[{}]", entries.join(", "))
            };
            let rows: Vec<String> = rows.iter().map(row).collect();
            let _ = write!(text, " = [{}]", rows.join(", "));
        }
        Law::Laws(laws) => {
            let laws: Vec<String> = laws.iter().map(|(left, right)| format!("{left} = {right}")).collect();
            let _ = write!(text, " {{ {}{inside} }}", laws.join("; "));
        }
        Law::Switch { left, right, on, off } => {
            let _ = write!(text, " when ({left} > {right}) {{ Ron = {on}");
            if let Some(off) = off {
                let _ = write!(text, "; Goff = {off}");
            }
            text.push_str(" }");
        }
    }
    text
}

/// Decides for every element how its ports are told apart.
fn spellings(structure: &Structure, rng: &mut Rng) -> Vec<Spelling> {
    let choose = |(element, list): (&Element, Vec<(usize, usize, bool)>)| {
        if !element.kind.is_two_port() {
            return if element.ports > 1 { Spelling::Both } else { Spelling::Implied };
        }
        // Implied: power comes in at port 1 and goes out at port 2.
        let implied = list.iter().all(|&(port, _, inward)| inward == (port == 1));
        match rng.weighted(&[if implied { 6.0 } else { 0.0 }, 1.0, 1.0, 1.0]) {
            0 => Spelling::Implied,
            1 => Spelling::Both,
            2 => Spelling::Only(1),
            _ => Spelling::Only(2),
        }
    };
    structure.elements.iter().zip(structure.incidence()).map(choose).collect()
}

fn bonds(draft: &Draft, rng: &mut Rng) -> Vec<String> {
    let structure = &draft.structure;
    let spellings = spellings(structure, rng);
    let end = |bond: usize, is_to: bool| {
        if let Some(text) = draft.spelled.get(&(bond, is_to)) {
            return text.clone();
        }
        let end = if is_to { structure.bonds[bond].to } else { structure.bonds[bond].from };
        let name = &structure.elements[end.element].name;
        match spellings[end.element] {
            Spelling::Both => format!("{name}.{}", end.port),
            Spelling::Only(port) if port == end.port => format!("{name}.{port}"),
            _ => name.clone(),
        }
    };
    let shown: Vec<usize> =
        (0..structure.bonds.len()).filter(|bond| !draft.hidden_bonds.contains(bond)).collect();
    let mut lines: Vec<String> = Vec::new();
    // What the line in work may still take: a list `a -> b, …` or a chain `… -> tf -> …`.
    let mut list: Option<String> = None;
    let mut chain: Option<usize> = None;
    for bond in shown {
        let (from, to) = (end(bond, false), end(bond, true));
        let named = &structure.bonds[bond].name;
        let at = structure.bonds[bond].to.element;
        let passes = structure.elements[at].kind.is_two_port() && spellings[at] == Spelling::Implied;
        match lines.last_mut() {
            Some(line) if named.is_none() && list.as_ref() == Some(&from) && rng.chance(0.7) => {
                let _ = write!(line, ", {to}");
                chain = None;
            }
            Some(line)
                if named.is_none()
                    && chain == Some(structure.bonds[bond].from.element)
                    && !draft.spelled.contains_key(&(bond, false))
                    && rng.chance(0.7) =>
            {
                let _ = write!(line, " -> {to}");
                list = Some(from);
                chain = passes.then_some(at);
            }
            _ => {
                let suffix = named.as_ref().map(|name| format!(" as {name}")).unwrap_or_default();
                lines.push(format!("{from} -> {to}{suffix}"));
                list = named.is_none().then_some(from);
                chain =
                    (named.is_none() && passes && !draft.spelled.contains_key(&(bond, true))).then_some(at);
            }
        }
    }
    lines
}
