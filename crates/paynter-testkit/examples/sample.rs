//! Prints the random model of a seed: `cargo run -p paynter-testkit --example sample -- SEED [small|tiny] [nonlinear] [conflicts] [switching]`.

use paynter_testkit::{Options, generate, switching};

#[allow(clippy::print_stdout)]
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|other| other == word);
    let mut options = if has("nonlinear") { Options::nonlinear() } else { Options::linear() };
    if has("small") {
        options = options.small();
    }
    if has("tiny") {
        options = options.tiny();
    }
    if has("conflicts") {
        options = options.with_conflicts();
    }
    let seed = words.iter().find_map(|word| word.parse().ok()).unwrap_or(0);
    let sample = generate(seed, &options);
    println!("{}", if has("switching") { switching(&sample).text } else { sample.text });
}
