//! Estimates written into the text of a model: values replaced where they stand, comments kept, standard errors
//! beside them.

use crate::distribution::student_quantile;
use crate::estimation::{Estimate, Estimation};
use paynter_base::number::{estimated, plain};
use paynter_base::{Diagnostic, Diagnostics, FileId, Remedy, Severity, Span, code};
use paynter_graph::{BondGraph, flat_name};
use paynter_language::ast::{self, Body, Law, Param, Statement};

/// What a comment about an estimate begins with; an older one in its place is replaced.
const COMMENT: &str = "// estimated:";

/// How far statements are indented within a model.
const INDENT: &str = "    ";

/// A change of the text.
struct Edit {
    from: usize,
    to: usize,
    text: String,
}

/// Writes estimates into the text of the file that a graph was made of. With a level of confidence, half the widths
/// of the intervals become tolerances. What has no place in the text is told, and so are values that were set
/// in place of those in the text.
pub fn write(
    (text, file): (&str, FileId),
    graph: &BondGraph,
    found: &Estimation,
    tolerance: Option<f64>,
    set: &[(String, String)],
) -> (String, Diagnostics) {
    let (syntax, _) = paynter_language::parse_syntax(text, file);
    let mut edits: Vec<Edit> = Vec::new();
    let mut left_out = Diagnostics::new();
    for estimate in &found.estimates {
        // What differs from experiment to experiment is written as it was in the first.
        let (name, experiment) = match estimate.name.split_once('@') {
            Some((name, number)) => (name, number),
            None => (estimate.name.as_str(), "1"),
        };
        if experiment != "1" {
            let message = format!(
                "`{}` = {} is not written: the text has the value of the first experiment",
                estimate.name,
                estimated(estimate.value / estimate.factor)
            );
            left_out.push(unwritten(name, message));
            continue;
        }
        let half = tolerance.and_then(|level| {
            let quantile = student_quantile(0.5 + 0.5 * level, estimate.freedom);
            estimate.standard_error.map(|error| quantile * error / estimate.factor)
        });
        let changes = match name.strip_prefix("init(").and_then(|rest| rest.strip_suffix(')')) {
            Some(state) => initial(text, &syntax, &graph.name, state, estimate),
            None => parameter(&syntax, graph, name, estimate, half),
        };
        let argument = graph.parameters.iter().any(|own| flat_name(&own.name) == name && own.given.is_some());
        if let (Some(_), Some(half), true) = (&changes, half, argument) {
            let message = format!(
                "the tolerance ±{} of `{name}` is not written: an argument of a submodel has none",
                estimated(half)
            );
            let help = "declare a parameter with that value and tolerance, and give it as the argument";
            left_out.push(Diagnostic::new(code::UNWRITTEN, message).help(help));
        }
        let Some((at, changes)) = changes else {
            let message = format!(
                "`{}` = {} is not written: it has no place of its own in the text of the model",
                estimate.name,
                estimated(estimate.value / estimate.factor)
            );
            left_out.push(unwritten(name, message));
            continue;
        };
        // Of edits at one place the first stands first.
        let opened = edits.iter().any(|edit| (edit.from, edit.to) == (at, at));
        edits.push(comment(text, (at, opened), found, estimate));
        edits.extend(changes);
    }
    for (name, value) in set {
        let name = flat_name(name);
        let estimated = found.estimates.iter().any(|estimate| estimate.name == name);
        let measured = found.inputs.iter().any(|(input, measured)| *measured && *input == name);
        if !estimated && !measured {
            let message =
                format!("`{name}` was {value} in the fit, and has its old value in what is written");
            let help = "write it there by hand: the estimates belong to it";
            left_out.push(Diagnostic::new(code::UNWRITTEN, message).help(help));
        }
    }
    if let Some(lost) = tolerance.and_then(|level| forgotten(found, level)) {
        left_out.push(lost);
    }
    // From the end on, so that places stay what they are.
    edits.sort_by_key(|edit| (edit.from, edit.to));
    let mut written = text.to_owned();
    for edit in edits.iter().rev() {
        written.replace_range(edit.from..edit.to, &edit.text);
    }
    (written, left_out)
}

/// Says what tolerances lose of what is known about estimates: how these are correlated.
fn forgotten(found: &Estimation, level: f64) -> Option<Diagnostic> {
    let known = found.estimates.iter().filter(|estimate| estimate.standard_error.is_some()).count();
    let pairs = (0..found.estimates.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
    let correlated = pairs.filter_map(|(j, i)| Some((j, i, found.confidence.correlation[j][i]?)));
    let (j, i, most) = correlated.max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()))?;
    let message = format!(
        "how estimates are correlated is not written, `{}` and `{}` by {}: tolerances make a box of {} % intervals, \
         whose corners may be far from what the data allow, and which holds all {known} values at once less often",
        found.estimates[j].name,
        found.estimates[i].name,
        plain(most, 3),
        plain(100.0 * level, 4)
    );
    let diagnostic = Diagnostic::new(code::UNWRITTEN, message)
        .help("keep the matrix of correlations beside the model where corners of the box matter");
    Some(Diagnostic { severity: Severity::Note, ..diagnostic })
}

/// Tells of an estimate that is not written. Initial states and sensors are no values that a model is set to.
fn unwritten(name: &str, message: String) -> Diagnostic {
    let diagnostic = Diagnostic::new(code::UNWRITTEN, message);
    let plain = name.split('@').next().unwrap_or_default();
    if plain.starts_with("init(") {
        diagnostic.help(Remedy::marked("simulate with {option sweep}, which takes initial states too"))
    } else if plain.starts_with("offset(") || plain.starts_with("gain(") {
        diagnostic.help(
            "correct what the sensor measures by it, or write it into the expression of the output, as in \
             `output z = 1.02*c.e + 0.1`",
        )
    } else if plain != name {
        let help =
            Remedy::marked("set it with {option set} where that experiment is meant, without its number");
        diagnostic.help(help)
    } else {
        diagnostic
    }
}

fn range(span: Span) -> (usize, usize) {
    (span.start as usize, span.end as usize)
}

/// The parameters of a file.
fn parameters(file: &ast::File) -> impl Iterator<Item = &Param> {
    file.models.iter().flat_map(|model| {
        let body = model.statements.iter().filter_map(|statement| match statement {
            Statement::Param(param) => Some(param),
            _ => None,
        });
        model.header.iter().chain(body)
    })
}

/// The arguments of all submodels that a list of statements uses, with the statements that they stand in.
fn arguments<'a>(statements: &'a [Statement], found: &mut Vec<(&'a ast::Use, &'a ast::Argument)>) {
    for statement in statements {
        match statement {
            Statement::Use(instance) => {
                found.extend(instance.arguments.iter().map(|argument| (instance, argument)));
            }
            Statement::For(repeated) => arguments(&repeated.statements, found),
            _ => {}
        }
    }
}

/// The change at the argument of a submodel that gives a parameter its value.
fn argument(file: &ast::File, given: Span, estimate: &Estimate) -> Option<(usize, Vec<Edit>)> {
    let mut all = Vec::new();
    file.models.iter().for_each(|model| arguments(&model.statements, &mut all));
    let (instance, argument) = all.into_iter().find(|(_, argument)| argument.value.span == given)?;
    let (from, to) = range(argument.value.span);
    let text = estimated(estimate.value / estimate.factor);
    Some((range(instance.span).0, vec![Edit { from, to, text }]))
}

/// The changes at the declaration of a parameter, or at the argument that gives it its value, unless several instances of
/// a submodel share it.
fn parameter(
    file: &ast::File,
    graph: &BondGraph,
    name: &str,
    estimate: &Estimate,
    half: Option<f64>,
) -> Option<(usize, Vec<Edit>)> {
    let own = graph.parameters.iter().find(|parameter| flat_name(&parameter.name) == name)?;
    let same = |other: &&paynter_graph::Parameter| (other.span, other.given) == (own.span, own.given);
    if graph.parameters.iter().filter(same).count() > 1 {
        return None;
    }
    if let Some(given) = own.given {
        return argument(file, given, estimate);
    }
    let inside = |param: &&Param| {
        param.span.file == own.span.file
            && param.span.start <= own.span.start
            && own.span.end <= param.span.end
    };
    let param = parameters(file).find(inside)?;
    let value = range(param.value.as_ref()?.span);
    let mut edits =
        vec![Edit { from: value.0, to: value.1, text: estimated(estimate.value / estimate.factor) }];
    if let Some(half) = half {
        let text = format!("±{}", estimated(half));
        match &param.tolerance {
            Some(known) => {
                let (from, to) = range(known.span);
                edits.push(Edit { from, to, text });
            }
            None => {
                let at = param.unit.as_ref().map_or(value.1, |unit| range(unit.span).1);
                edits.push(Edit { from: at, to: at, text: format!(" {text}") });
            }
        }
    }
    Some((range(param.span).0, edits))
}

/// The changes at the initial value of a state of the model itself, or a new statement for it.
fn initial(
    text: &str,
    file: &ast::File,
    model: &str,
    state: &str,
    estimate: &Estimate,
) -> Option<(usize, Vec<Edit>)> {
    let model = file.models.iter().find(|known| known.name.text == model)?;
    let value = estimated(estimate.value / estimate.factor);
    let replace = |span: Span, whole: Span| {
        let (from, to) = range(span);
        Some((range(whole).0, vec![Edit { from, to, text: value.clone() }]))
    };
    for statement in &model.statements {
        match statement {
            Statement::Init(init) => {
                let (from, to) = range(init.target.span);
                if flat_name(text.get(from..to)?.trim()) == state {
                    return replace(init.value.span, init.span);
                }
            }
            Statement::Element(element) => {
                let Body::Laws(laws, _) = &element.body else { continue };
                for law in laws {
                    if let Law::Init { state: own, value, span } = law
                        && format!("{}.{}", element.name.text, own.text) == state
                    {
                        return replace(value.span, *span);
                    }
                }
            }
            _ => {}
        }
    }
    // A state of a submodel has its place there.
    if state.matches('.').count() > 1 {
        return None;
    }
    let end = range(model.span).1.checked_sub(1)?;
    let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
    // Where other statements stand on the line of the brace, it begins a new one.
    let at = if text[line..end].trim().is_empty() { line } else { end };
    Some((at, vec![Edit { from: at, to: at, text: format!("{INDENT}init {state} = {value}\n") }]))
}

/// Whether a line begins there.
fn is_line_start(text: &str, at: usize) -> bool {
    at == 0 || text[..at].ends_with('\n')
}

/// A line above a statement that tells the standard error, in place of an older one; `opened` where another new line
/// stands there already.
fn comment(text: &str, (at, opened): (usize, bool), found: &Estimation, estimate: &Estimate) -> Edit {
    // A new statement stands before the brace that ends the model.
    if text[at..].trim_start_matches([' ', '\t']).starts_with('}') {
        let start = if opened || is_line_start(text, at) { "" } else { "\n" };
        return Edit {
            from: at,
            to: at,
            text: format!("{start}{INDENT}{COMMENT} {}, {}\n", estimate.name, words(found, estimate)),
        };
    }
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let indent: String = text[line..].chars().take_while(|sign| *sign == ' ' || *sign == '\t').collect();
    let start = format!("{indent}{COMMENT} {}, ", estimate.name);
    // Several estimates may stand in one statement, with a comment each.
    let any = format!("{indent}{COMMENT} ");
    let (mut from, mut to, mut above) = (line, line, line);
    while above > 0 {
        let before = text[..above - 1].rfind('\n').map_or(0, |end| end + 1);
        if !text[before..above].starts_with(&any) {
            break;
        }
        if text[before..above].starts_with(&start) {
            (from, to) = (before, above);
            break;
        }
        above = before;
    }
    Edit { from, to, text: format!("{start}{}\n", words(found, estimate)) }
}

/// How well an estimate is known.
fn words(found: &Estimation, estimate: &Estimate) -> String {
    let unit = estimate.unit.as_deref().map(|unit| format!(" {unit}")).unwrap_or_default();
    let shown = |value: f64| plain(value / estimate.factor, 4);
    match (estimate.standard_error, estimate.interval) {
        (Some(error), Some((low, high))) => format!(
            "standard error {}{unit}, {} % interval {} to {}{unit}",
            shown(error),
            plain(100.0 * found.level, 4),
            shown(low),
            shown(high)
        ),
        _ if estimate.at_bound => "at its bound".to_owned(),
        _ => "not determined by the data".to_owned(),
    }
}
