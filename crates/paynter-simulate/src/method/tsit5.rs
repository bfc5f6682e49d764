//! The pair of orders 5 and 4 of Tsitouras (Runge–Kutta pairs of order 5(4)
//! satisfying only the first column simplifying assumption, 2011).

#![allow(clippy::excessive_precision, reason = "the digits as published")]

use super::tableau::{Dense, Tableau, terms};
use std::sync::OnceLock;

impl Tableau {
    /// The pair of orders 5 and 4 of Tsitouras (2011).
    pub fn tsit5() -> &'static Tableau {
        static METHOD: OnceLock<Tableau> = OnceLock::new();
        let b = [
            0.096_460_766_818_065_23,
            0.01,
            0.479_889_650_414_499_6,
            1.379_008_574_103_742,
            -3.290_069_515_436_080_7,
            2.324_710_524_099_774,
        ];
        let embedded = [
            0.094_680_755_765_839_46,
            0.009_183_565_540_343_254,
            0.487_770_528_424_761_57,
            1.234_297_566_930_479,
            -2.707_712_349_983_525_5,
            1.866_628_418_170_587,
            1.0 / 66.0,
        ];
        METHOD.get_or_init(|| Tableau {
            name: "tsit5",
            stages: 7,
            extra: 0,
            a: [
                &[][..],
                &[0.161],
                &[-0.008_480_655_492_356_989, 0.335_480_655_492_357],
                &[2.897_153_057_105_493_4, -6.359_448_489_975_075, 4.362_295_432_869_581_5],
                &[
                    5.325_864_828_439_257,
                    -11.748_883_564_062_828,
                    7.495_539_342_889_836_5,
                    -0.092_495_066_361_755_25,
                ],
                &[
                    5.861_455_442_946_42,
                    -12.920_969_317_847_11,
                    8.159_367_898_576_159,
                    -0.071_584_973_281_401,
                    -0.028_269_050_394_068_383,
                ],
                &b,
            ]
            .map(terms)
            .to_vec(),
            c: vec![0.0, 0.161, 0.327, 0.9, 0.980_025_540_904_509_7, 1.0, 1.0],
            gamma: 0.0,
            guess: Vec::new(),
            errors: vec![(0..7).map(|i| (i, b.get(i).copied().unwrap_or(0.0) - embedded[i])).collect()],
            order: 5,
            rate: 5.0,
            stability: 3.3,
            inside: Vec::new(),
            dense: Dense::new(tsit5_dense().into_iter().enumerate()),
            nested: false,
            powers: OnceLock::new(),
        })
    }
}

/// The interpolation of Tsitouras, multiplied out.
fn tsit5_dense() -> Vec<Vec<f64>> {
    // k·θ²·(θ − a)·(θ − b), and for the first weight k·θ·(θ − a)·(θ² + b·θ + c).
    let square = |k: f64, a: f64, b: f64| vec![0.0, k * a * b, -k * (a + b), k];
    let plain = |k: f64, b: f64, c: f64| vec![0.0, k * c, k * b, k];
    let (k, a, b, c) = (
        -1.053_088_497_729_021_6,
        1.329_989_018_975_141_2,
        -1.436_402_854_171_635_1,
        0.713_981_691_707_420_9,
    );
    vec![
        vec![-k * a * c, k * (c - a * b), k * (b - a), k],
        plain(0.1017, -2.196_656_833_824_975_4, 1.294_985_250_737_463_1),
        plain(2.490_627_285_651_252_8, -2.385_356_454_720_616_6, 1.578_034_682_080_924_9),
        square(-16.548_102_889_244_903, 1.217_129_272_955_332_4, 0.616_204_060_378_000_9),
        square(47.379_521_962_819_28, 1.203_071_208_372_362_6, 0.658_047_292_653_547_4),
        square(-34.870_657_861_496_61, 1.2, 2.0 / 3.0),
        square(2.5, 1.0, 0.6),
    ]
}
