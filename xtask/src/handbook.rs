//! The handbook as web pages, and pictures of them as a browser shows them.

use crate::python::target;
use crate::run::{cargo, installed, output, root, run};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The version of mdBook that is installed below target/ where the system has none.
const VERSION: &str = "0.5.4";

/// The names under which systems install the browser.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Builds the handbook into target/handbook, with `--screenshots` a picture of every page as well.
pub fn docs(arguments: &[String]) -> Result<(), String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let screenshots = match words.as_slice() {
        [] => false,
        ["--screenshots"] => true,
        _ => return Err("say `cargo xtask docs [--screenshots]`".to_owned()),
    };
    let folder = target().join("handbook");
    let mut build = Command::new(mdbook()?);
    build.current_dir(root()).args(["build", "docs", "--dest-dir"]).arg(&folder);
    run(&mut build)?;
    println!("the handbook is {}", folder.join("index.html").display());
    if screenshots { photograph(&folder, &target().join("screenshots")) } else { Ok(()) }
}

/// The program `mdbook`: the system's, or one that is installed below target/ now.
fn mdbook() -> Result<PathBuf, String> {
    if installed("mdbook") {
        return Ok("mdbook".into());
    }
    let tools = target().join("tools");
    let program = tools.join("bin").join(if cfg!(windows) { "mdbook.exe" } else { "mdbook" });
    if !program.exists() {
        // Without what serves and watches, which is half of what there is to build.
        let features = ["--no-default-features", "--features", "search"];
        let mut install = cargo();
        install.args(["install", "mdbook", "--locked", "--version", VERSION]).args(features);
        run(install.arg("--root").arg(&tools))?;
    }
    Ok(program)
}

/// Takes a picture of every page below a folder.
fn photograph(handbook: &Path, pictures: &Path) -> Result<(), String> {
    let browser = BROWSERS
        .into_iter()
        .find(|name| installed(name))
        .ok_or("pictures of the pages need the browser chromium, which is a package of most systems")?;
    let mut pages = Vec::new();
    collect(handbook, &mut pages)?;
    // These are made of all others, or lead elsewhere.
    let made = ["print.html", "toc.html", "404.html"];
    pages.retain(|page| !made.iter().any(|name| page.ends_with(name)));
    std::fs::create_dir_all(pictures).map_err(|e| format!("{}: {e}", pictures.display()))?;
    for page in &pages {
        let name = page.strip_prefix(handbook).unwrap_or(page).with_extension("png");
        let name = name.to_string_lossy().replace(['/', '\\'], "-");
        photograph_page(browser, page, &pictures.join(name))?;
    }
    println!("{} pictures are in {}", pages.len(), pictures.display());
    Ok(())
}

/// Takes a picture of one page in its full height.
fn photograph_page(browser: &str, page: &Path, picture: &Path) -> Result<(), String> {
    let profile = target().join("browser");
    let _ = std::fs::remove_dir_all(&profile);
    let command = |arguments: &[String]| {
        let mut command = Command::new(browser);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
        command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
        command.arg("--hide-scrollbars").arg(format!("--user-data-dir={}", profile.display()));
        command.args(arguments).arg(format!("file://{}", page.display()));
        command
    };
    let text = std::fs::read_to_string(page).map_err(|e| format!("{}: {e}", page.display()))?;
    // A guess that is seldom too small: long pages have one line of HTML for one on the screen, and pictures.
    let height = (600 + 26 * text.lines().count() + 400 * text.matches("<img ").count()).clamp(1200, 32_000);
    // The browser's pictures have at most some 16,000 rows.
    let scale = if height > 16_000 { 0.5 } else { 1.0 };
    let mut shot = command(&[
        format!("--window-size=1200,{height}"),
        format!("--force-device-scale-factor={scale}"),
        format!("--screenshot={}", picture.display()),
    ]);
    output(shot.stderr(Stdio::null())).map(|_| ())
}

/// Collects the HTML files below a folder, in order.
fn collect(folder: &Path, pages: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            pages.push(path);
        }
    }
    Ok(())
}
