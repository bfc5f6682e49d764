//! The generator makes everything it promises, often enough.

use paynter_testkit::linear::generic;
use paynter_testkit::{Census, Options, generate};

#[test]
fn four_hundred_samples_hold_every_class() {
    let mut census = Census::new();
    for seed in 0..200 {
        census.add(&generate(seed, &Options::linear()));
        census.add(&generate(seed, &Options::nonlinear()));
    }
    println!("{census}");
    census.require(0.05).unwrap();
}

#[test]
fn samples_keep_their_bounds_and_make_sense() {
    for seed in 0..60 {
        for options in
            [Options::linear(), Options::nonlinear(), Options::linear().small(), Options::nonlinear().tiny()]
        {
            let sample = generate(seed, &options);
            assert!(sample.structure.is_complete(), "{}", sample.text);
            assert!(sample.structure.bonds.len() <= options.bonds, "{}", sample.text);
            assert!(generic(&sample.structure, seed).unwrap().solvable, "{}", sample.text);
            assert_eq!(sample, generate(seed, &options));
        }
    }
}
