//! Writes pictures in the format that their file's name asks for.

use crate::args::{Global, ThemeName};
use crate::replace;
use paynter::draw::{self, SvgStyle, Theme};
use paynter::plot::{Figure, plot_svg};
use paynter::{Diagnostic, code};
use std::path::Path;

/// Pixels of a PNG for each unit of the picture.
const DENSITY: f64 = 2.0;

/// Refuses a target whose kind of picture is not known.
pub fn unknown_format(file: &Path) -> Option<Diagnostic> {
    match extension(file).as_str() {
        "svg" | "png" => None,
        // What is no file takes an SVG, as standard output does.
        _ if std::fs::metadata(file).is_ok_and(|found| !found.is_file() && !found.is_dir()) => None,
        _ => {
            let message = format!("`{}` is neither `.svg` nor `.png`", file.display());
            Some(
                Diagnostic::new(code::BAD_COMMAND_LINE, message)
                    .help("name the picture `NAME.svg` or `NAME.png`"),
            )
        }
    }
}

fn extension(file: &Path) -> String {
    file.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Writes a picture; `smaller` says how to make it smaller where it is too large.
pub fn write(svg: &str, file: &Path, smaller: &str) -> Result<(), Box<Diagnostic>> {
    if extension(file) != "png" {
        return write_text(svg, file);
    }
    let bytes = draw::png(svg, DENSITY)
        .map_err(|error| Box::new(unwritable(file, &error.to_string()).help(smaller)))?;
    whole(&bytes, file)
}

/// Writes a figure.
pub fn plot(figure: &Figure, file: &Path, theme: Theme) -> Result<(), Box<Diagnostic>> {
    let style = SvgStyle { theme, ..SvgStyle::default() };
    write(&plot_svg(figure, &style), file, "show fewer curves, or write SVG")
}

/// Writes the figure of an answer where one is asked for, in the units that people are shown; says what is in the way.
pub fn asked(
    file: Option<&Path>,
    theme: ThemeName,
    global: &Global,
    figure: impl FnOnce() -> Result<Figure, Box<Diagnostic>>,
) -> Option<Diagnostic> {
    let written = |file| plot(&global.shown(figure()?), file, theme.into());
    written(file?).err().map(|diagnostic| *diagnostic)
}

/// Whether a target stands for standard output.
pub fn is_stdout(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Writes a text file, whole or not at all.
pub fn write_text(text: &str, file: &Path) -> Result<(), Box<Diagnostic>> {
    whole(text.as_bytes(), file)
}

fn whole(content: &[u8], file: &Path) -> Result<(), Box<Diagnostic>> {
    replace::create(file, content).map_err(|error| Box::new(unwritable(file, &error.to_string())))
}

/// Says that a file cannot be written.
pub fn unwritable(file: &Path, reason: &str) -> Diagnostic {
    Diagnostic::new(code::FILE_UNWRITABLE, format!("`{}` cannot be written: {reason}", file.display()))
        .help("name another file, in a folder that exists and is yours")
}
