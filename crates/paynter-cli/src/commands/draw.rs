//! `paynter draw`: the picture of a model.

use crate::answer::{Answer, Exit, output};
use crate::args::{DrawArgs, Global};
use crate::picture::{self, unknown_format, unwritable};
use crate::spelling::CommandLine;
use crate::{input, replace};
use paynter::draw::{DrawOptions, Fold, Positions, SvgStyle, blocks_svg, draw_at, draw_blocks, svg};
use paynter::json::{self, Draw};
use paynter::{CancellationToken, Diagnostic, Diagnostics, MAX_FILE_SIZE, Model, QueryError, code};
use std::path::Path;

/// How to make a picture smaller.
const SMALLER: &str = "draw smaller with `--scale 0.5`, fold submodels with `--fold 0`, or write SVG";

/// Draws a model, with errors as far as it is known.
pub fn run(arguments: &DrawArgs, global: &Global) -> Answer {
    let target = arguments.output.as_deref().filter(|file| !picture::is_stdout(file));
    if let Some(diagnostic) = target.and_then(unknown_format) {
        return Answer::refusal(global, diagnostic, Exit::Usage);
    }
    let model = match input::load(&arguments.file, global) {
        Ok(model) => model,
        Err(answer) => return answer,
    };
    let mut said = Diagnostics::new();
    let drawn = drawn(&model, arguments, &mut said, global.token());
    let (drawn, mut findings) = match drawn.and_then(|drawn| Ok((drawn, model.findings(global.token())?))) {
        Ok(found) => found,
        Err(reason) => return Answer::unanswered(global, model.sources(), reason),
    };
    let Some(drawn) = drawn else {
        findings.extend(said);
        return Answer::failure(global, findings, model.sources().clone(), Exit::Wrong);
    };
    if let Some(file) = target
        && let Err(diagnostic) = picture::write(&drawn.svg, file, SMALLER)
    {
        said.push(*diagnostic);
    }
    findings.extend(said);
    let document = Draw {
        ok: !findings.has_errors(),
        model: drawn.title,
        file: target.map(|file| file.display().to_string()),
        svg: target.is_none().then_some(drawn.svg),
        width: drawn.width,
        height: drawn.height,
        diagnostics: json::Diagnostic::list(&findings, model.sources(), &CommandLine),
    };
    let output = output(global, document, |document| document.svg.clone().unwrap_or_default());
    Answer::told(output, findings, model.sources().clone())
}

struct Picture {
    title: String,
    svg: String,
    width: f64,
    height: f64,
}

/// Draws what is asked for; nothing where too little is known.
fn drawn(
    model: &Model,
    arguments: &DrawArgs,
    said: &mut Diagnostics,
    token: &CancellationToken,
) -> Result<Option<Picture>, QueryError> {
    let style = SvgStyle {
        theme: arguments.theme.into(),
        transparent: arguments.transparent,
        embed_font: arguments.embed_font,
        scale: arguments.scale,
    };
    if arguments.sfg {
        let Some(diagram) = model.block_diagram(token)? else { return Ok(None) };
        let drawing = draw_blocks(&diagram);
        return Ok(Some(Picture {
            svg: blocks_svg(&drawing, &style),
            width: drawing.frame.width(),
            height: drawing.frame.height(),
            title: drawing.title,
        }));
    }
    let Some(mut diagram) = model.diagram(token)? else { return Ok(None) };
    if let Some([from, to]) = arguments.path.as_deref()
        && let Err(QueryError::Wrong(reason)) = model.highlight_path(&mut diagram, from, to, token)
    {
        said.extend(reason);
    }
    if arguments.loops {
        model.highlight_loops(&mut diagram, token)?;
    }
    let options = DrawOptions {
        letters: arguments.letters,
        values: !arguments.no_values,
        numbers: arguments.numbers,
        variables: arguments.variables,
        boxes: arguments.boxes,
        fold: match (arguments.fold, arguments.unfold) {
            (_, true) => Fold::Never,
            (Some(depth), _) => Fold::Depth(depth),
            (None, _) => Fold::Automatic,
        },
    };
    let positions = match &arguments.layout {
        Some(file) => read_layout(file).unwrap_or_else(|diagnostic| {
            said.push(*diagnostic);
            None
        }),
        None => None,
    };
    let drawing = draw_at(&diagram, &options, positions.as_ref().unwrap_or(&Positions::default()));
    if let Some(file) = &arguments.layout {
        match positions {
            Some(positions) => {
                let known: Vec<&str> = drawing.nodes.iter().map(|node| node.name.as_str()).collect();
                let shown = file.display();
                for name in positions.unknown(&known) {
                    let message = format!("`{shown}` places `{name}`, which is not in the drawing");
                    said.push(Diagnostic::new(code::UNKNOWN_POSITION, message));
                }
            }
            None if !file.exists() => {
                if let Err(error) = replace::create(file, json::write_layout(&Positions::of(&drawing))) {
                    said.push(unwritable(file, &error.to_string()));
                }
            }
            None => {}
        }
    }
    Ok(Some(Picture {
        svg: svg(&drawing, &style),
        width: drawing.frame.width(),
        height: drawing.frame.height(),
        title: drawing.title,
    }))
}

/// Reads a layout file; none where there is no such file yet.
fn read_layout(file: &Path) -> Result<Option<Positions>, Box<Diagnostic>> {
    let shown = file.display();
    let unreadable = |reason: &str| {
        let message = format!("the layout file `{shown}` cannot be read: {reason}");
        Box::new(Diagnostic::new(code::FILE_UNREADABLE, message))
    };
    match std::fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&error.to_string())),
        Ok(metadata) if !metadata.is_file() => return Err(unreadable("it is no regular file")),
        Ok(metadata) if metadata.len() > MAX_FILE_SIZE => return Err(unreadable("it is too large")),
        Ok(_) => {}
    }
    replace::protect(file);
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(&error.to_string()))?;
    json::read_layout(&text).map(Some).map_err(|reason| {
        let message = format!("the layout file `{shown}` is no list of positions: {reason}");
        Box::new(Diagnostic::new(code::BAD_LAYOUT_FILE, message))
    })
}
