//! The colours of every picture, light, dark, or as the page around it decides.

use crate::plot::{COLOURS, SHADES};
use std::fmt::Write;

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Dark ink on light paper.
    #[default]
    Light,
    /// Light ink on dark paper.
    Dark,
    /// The colours of the page around it, by the variables of [`page_variables`].
    Page,
}

/// The colours of a theme. In grey those of drawings stay apart by lightness,
/// weight and dashes. The seven of curves differ in hue for people who see all
/// colours and in lightness for those who do not; the shades run from dark to
/// light, for curves that follow one another.
pub(crate) struct Palette {
    pub paper: &'static str,
    pub ink: &'static str,
    pub quiet: &'static str,
    pub source: &'static str,
    pub store: &'static str,
    pub loss: &'static str,
    pub signal: &'static str,
    pub mark: &'static str,
    pub mark_paper: &'static str,
    pub bad: &'static str,
    pub group: &'static str,
    pub plot_quiet: &'static str,
    pub plot_grid: &'static str,
    pub plot_fine: &'static str,
    pub curves: [&'static str; COLOURS],
    pub shades: [&'static str; SHADES],
}

const LIGHT: Palette = Palette {
    paper: "#ffffff",
    ink: "#16181d",
    quiet: "#5a6270",
    source: "#0b6b3a",
    store: "#1d4fa3",
    loss: "#a03412",
    signal: "#5a6270",
    mark: "#b3006b",
    mark_paper: "#fbe3f1",
    bad: "#c00000",
    group: "#f3f5f8",
    plot_quiet: "#4c5462",
    plot_grid: "#d5dae1",
    plot_fine: "#eceff3",
    curves: ["#0868ac", "#d1500b", "#00805c", "#a63a86", "#9b7400", "#3aa0d8", "#5b5f66"],
    shades: [
        "#0d0887", "#3a049a", "#5c01a6", "#7e03a8", "#9c179e", "#b52f8c", "#cc4778", "#d8576b", "#e4695e",
        "#ed7953", "#f48849", "#f89540",
    ],
};

const DARK: Palette = Palette {
    paper: "#14171c",
    ink: "#eceff4",
    quiet: "#a3acba",
    source: "#67d69a",
    store: "#8ab8ff",
    loss: "#ff9d76",
    signal: "#a3acba",
    mark: "#ff7ac8",
    mark_paper: "#43203a",
    bad: "#ff6b6b",
    group: "#1d2128",
    plot_quiet: "#b3bcc9",
    plot_grid: "#39404b",
    plot_fine: "#252a32",
    curves: ["#6fb7f2", "#ff9455", "#42c79d", "#e08bc4", "#e3bd4e", "#a8d8ff", "#a9afb9"],
    shades: [
        "#6f7bf7", "#8e6ff2", "#a966e6", "#c25fd2", "#d65db8", "#e5619b", "#ef6c7f", "#f67d66", "#fa9252",
        "#fcab45", "#fbc546", "#f4df5e",
    ],
};

const PAGE: Palette = Palette {
    paper: "var(--paper)",
    ink: "var(--ink)",
    quiet: "var(--quiet)",
    source: "var(--source)",
    store: "var(--store)",
    loss: "var(--loss)",
    signal: "var(--signal)",
    mark: "var(--mark)",
    mark_paper: "var(--mark-paper)",
    bad: "var(--bad)",
    group: "var(--group)",
    plot_quiet: "var(--plot-quiet)",
    plot_grid: "var(--plot-grid)",
    plot_fine: "var(--plot-fine)",
    curves: [
        "var(--curve-0)",
        "var(--curve-1)",
        "var(--curve-2)",
        "var(--curve-3)",
        "var(--curve-4)",
        "var(--curve-5)",
        "var(--curve-6)",
    ],
    shades: [
        "var(--shade-0)",
        "var(--shade-1)",
        "var(--shade-2)",
        "var(--shade-3)",
        "var(--shade-4)",
        "var(--shade-5)",
        "var(--shade-6)",
        "var(--shade-7)",
        "var(--shade-8)",
        "var(--shade-9)",
        "var(--shade-10)",
        "var(--shade-11)",
    ],
};

/// The colours of a theme.
pub(crate) fn palette(theme: Theme) -> &'static Palette {
    match theme {
        Theme::Light => &LIGHT,
        Theme::Dark => &DARK,
        Theme::Page => &PAGE,
    }
}

/// The variables that pictures with [`Theme::Page`] use, as CSS declarations
/// with the colours of a theme.
pub fn page_variables(theme: Theme) -> String {
    let palette = palette(theme);
    let single = [
        ("paper", palette.paper),
        ("ink", palette.ink),
        ("quiet", palette.quiet),
        ("source", palette.source),
        ("store", palette.store),
        ("loss", palette.loss),
        ("signal", palette.signal),
        ("mark", palette.mark),
        ("mark-paper", palette.mark_paper),
        ("bad", palette.bad),
        ("group", palette.group),
        ("plot-quiet", palette.plot_quiet),
        ("plot-grid", palette.plot_grid),
        ("plot-fine", palette.plot_fine),
    ];
    let mut out: String = single.iter().map(|(name, colour)| format!("--{name}:{colour};")).collect();
    for (index, colour) in palette.curves.iter().enumerate() {
        let _ = write!(out, "--curve-{index}:{colour};");
    }
    for (index, colour) in palette.shades.iter().enumerate() {
        let _ = write!(out, "--shade-{index}:{colour};");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every variable that a picture of the page uses has a value in both themes.
    #[test]
    fn the_page_knows_every_variable() {
        let page = page_variables(Theme::Page);
        for theme in [Theme::Light, Theme::Dark] {
            let declared = page_variables(theme);
            for used in page.split("var(").skip(1).filter_map(|rest| rest.split(')').next()) {
                assert!(declared.contains(&format!("{used}:#")), "{used}");
            }
        }
    }
}
