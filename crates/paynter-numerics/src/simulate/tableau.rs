//! Runge–Kutta methods as data. The last stage of each is the end of its step.

#![allow(clippy::excessive_precision, reason = "the digits as published")]

use super::dop853;
use std::sync::OnceLock;

/// How a method interpolates within a step.
#[derive(Debug, Clone, PartialEq)]
enum Dense {
    /// Weights of the stages as polynomials: coefficients of θ, θ², …
    Polynomials(Vec<Vec<f64>>),
    /// Nested products of θ and 1 − θ, as in the code DOP853.
    Nested(Vec<Vec<f64>>),
}

/// A Runge–Kutta method.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tableau {
    pub name: &'static str,
    /// The number of stages of a step.
    pub stages: usize,
    /// More stages that only interpolation needs.
    pub extra: usize,
    pub a: Vec<Vec<f64>>,
    pub c: Vec<f64>,
    /// The diagonal of an implicit method, 0 for an explicit one.
    pub gamma: f64,
    /// Guesses of the stages of an implicit method from those before.
    pub guess: Vec<Vec<f64>>,
    /// Weights of the error; a second list tames the first, as in the code DOP853.
    pub errors: Vec<Vec<f64>>,
    /// The order of the method.
    pub order: usize,
    /// How fast the error falls with the step: h^rate.
    pub rate: f64,
    /// Steps times eigenvalue beyond which an explicit method is unstable on the negative axis.
    pub stability: f64,
    dense: Dense,
}

impl Tableau {
    /// The weights of all stages for the place θ within a step.
    pub fn weights(&self, theta: f64, weights: &mut Vec<f64>) {
        weights.clear();
        match &self.dense {
            Dense::Polynomials(list) => {
                weights
                    .extend(list.iter().map(|poly| poly.iter().rev().fold(0.0, |sum, c| (sum + c) * theta)));
            }
            Dense::Nested(rows) => {
                let mut factor = 1.0;
                weights.resize(self.stages + self.extra, 0.0);
                for (i, row) in rows.iter().enumerate() {
                    factor *= if i % 2 == 0 { theta } else { 1.0 - theta };
                    for (weight, value) in weights.iter_mut().zip(row) {
                        *weight += factor * value;
                    }
                }
            }
        }
    }

    /// Euler's method, as the papers use it.
    pub fn euler() -> &'static Tableau {
        static METHOD: OnceLock<Tableau> = OnceLock::new();
        METHOD.get_or_init(|| Tableau {
            name: "euler",
            stages: 2,
            extra: 0,
            a: vec![vec![], vec![1.0]],
            c: vec![0.0, 1.0],
            gamma: 0.0,
            guess: Vec::new(),
            errors: Vec::new(),
            order: 1,
            rate: 1.0,
            stability: 2.0,
            dense: Dense::Polynomials(vec![vec![1.0], vec![0.0]]),
        })
    }

    /// The classical method of order four.
    pub fn rk4() -> &'static Tableau {
        static METHOD: OnceLock<Tableau> = OnceLock::new();
        let b = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];
        METHOD.get_or_init(|| Tableau {
            name: "rk4",
            stages: 5,
            extra: 0,
            a: vec![vec![], vec![0.5], vec![0.0, 0.5], vec![0.0, 0.0, 1.0], b.to_vec()],
            c: vec![0.0, 0.5, 0.5, 1.0, 1.0],
            gamma: 0.0,
            guess: Vec::new(),
            errors: Vec::new(),
            order: 4,
            rate: 4.0,
            stability: 2.7,
            // Hermite's cubic: θ²(3 − 2θ)·Σ b k, with the slopes at both ends.
            dense: Dense::Polynomials(vec![
                vec![1.0, 3.0 * b[0] - 2.0, 1.0 - 2.0 * b[0]],
                vec![0.0, 3.0 * b[1], -2.0 * b[1]],
                vec![0.0, 3.0 * b[2], -2.0 * b[2]],
                vec![0.0, 3.0 * b[3], -2.0 * b[3]],
                vec![0.0, -1.0, 1.0],
            ]),
        })
    }

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
            a: vec![
                vec![],
                vec![0.161],
                vec![-0.008_480_655_492_356_989, 0.335_480_655_492_357],
                vec![2.897_153_057_105_493_4, -6.359_448_489_975_075, 4.362_295_432_869_581_5],
                vec![
                    5.325_864_828_439_257,
                    -11.748_883_564_062_828,
                    7.495_539_342_889_836_5,
                    -0.092_495_066_361_755_25,
                ],
                vec![
                    5.861_455_442_946_42,
                    -12.920_969_317_847_11,
                    8.159_367_898_576_159,
                    -0.071_584_973_281_401,
                    -0.028_269_050_394_068_383,
                ],
                b.to_vec(),
            ],
            c: vec![0.0, 0.161, 0.327, 0.9, 0.980_025_540_904_509_7, 1.0, 1.0],
            gamma: 0.0,
            guess: Vec::new(),
            errors: vec![(0..7).map(|i| b.get(i).copied().unwrap_or(0.0) - embedded[i]).collect()],
            order: 5,
            rate: 5.0,
            stability: 3.3,
            dense: Dense::Polynomials(tsit5_dense()),
        })
    }

    /// The method of order eight of Dormand and Prince, with interpolation of order seven.
    pub fn dop853() -> &'static Tableau {
        static METHOD: OnceLock<Tableau> = OnceLock::new();
        METHOD.get_or_init(|| {
            let wide = |list: &[f64]| {
                let mut row = list.to_vec();
                row.resize(16, 0.0);
                row
            };
            let b = wide(&dop853::B);
            let unit = |i: usize| (0..16).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
            let (first, last) = (unit(0), unit(12));
            let mut rows = vec![
                b.clone(),
                (0..16).map(|i| first[i] - b[i]).collect(),
                (0..16).map(|i| 2.0 * b[i] - first[i] - last[i]).collect(),
            ];
            rows.extend(dop853::D.iter().map(|row| row.to_vec()));
            Tableau {
                name: "dop853",
                stages: 13,
                extra: 3,
                a: dop853::A.iter().map(|row| row.to_vec()).collect(),
                c: dop853::C.to_vec(),
                gamma: 0.0,
                guess: Vec::new(),
                errors: vec![dop853::E5.to_vec(), dop853::E3.to_vec()],
                order: 8,
                rate: 8.0,
                stability: 6.1,
                dense: Dense::Nested(rows),
            }
        })
    }

    /// The L-stable, stiffly accurate method of orders 5 and 4 of Kværnø (2004).
    ///
    /// Its interpolation has order four and continuous slopes; the weights follow from the order conditions.
    pub fn kvaerno5() -> &'static Tableau {
        static METHOD: OnceLock<Tableau> = OnceLock::new();
        const GAMMA: f64 = 0.26;
        METHOD.get_or_init(|| {
            let a = vec![
                vec![],
                vec![GAMMA],
                vec![0.13, 0.840_333_209_967_908_1],
                vec![0.223_719_614_783_205_05, 0.476_755_323_197_997, -0.064_708_953_631_126_15],
                vec![
                    0.166_485_643_232_483_21,
                    0.104_500_188_415_917_2,
                    0.036_314_822_720_987_15,
                    -0.130_907_044_510_739_98,
                ],
                vec![
                    0.138_556_402_312_682_24,
                    0.0,
                    -0.042_453_372_017_520_43,
                    0.024_466_578_980_031_41,
                    0.619_430_390_724_806_8,
                ],
                vec![
                    0.136_597_511_776_402_91,
                    0.0,
                    -0.054_969_087_965_383_76,
                    -0.041_186_267_283_210_46,
                    0.629_933_048_990_164,
                    0.069_624_794_482_027_28,
                ],
            ];
            let mut error = a[6].clone();
            error.push(GAMMA);
            for (value, other) in error.iter_mut().zip(a[5].iter().chain(&[GAMMA])) {
                *value -= other;
            }
            Tableau {
                name: "kvaerno5",
                stages: 7,
                extra: 0,
                c: vec![
                    0.0,
                    0.52,
                    1.230_333_209_967_908,
                    0.895_765_984_350_075_9,
                    0.436_393_609_858_647_56,
                    1.0,
                    1.0,
                ],
                gamma: GAMMA,
                guess: vec![
                    vec![],
                    vec![1.0],
                    vec![-1.366_025_403_784_441, 2.366_025_403_784_435_7],
                    vec![-0.196_505_526_131_222_07, 0.811_357_954_649_662_3, 0.385_147_571_481_559_54],
                    vec![0.103_753_043_699_586_93, 0.937_994_698_066_431, -0.041_747_741_766_017_81],
                    vec![-0.172_811_128_738_980_72, 0.623_578_448_102_584_7, 0.549_232_680_636_395_9],
                    vec![
                        0.138_556_402_312_682_24,
                        0.0,
                        -0.042_453_372_017_520_43,
                        0.024_466_578_980_031_41,
                        0.619_430_390_724_806_8,
                        GAMMA,
                    ],
                ],
                errors: vec![error],
                order: 5,
                rate: 5.0,
                stability: f64::INFINITY,
                dense: Dense::Polynomials(vec![
                    vec![
                        1.0,
                        -2.070_637_858_517_131,
                        1.689_765_359_557_703_6,
                        -0.484_629_584_681_994_1,
                        0.002_099_595_417_825_448_4,
                    ],
                    vec![0.0],
                    vec![
                        0.0,
                        0.851_667_456_131_087_5,
                        -1.909_796_558_519_566_2,
                        0.989_745_308_818_957_5,
                        0.013_414_705_604_138_304,
                    ],
                    vec![
                        0.0,
                        -0.619_673_303_231_490_6,
                        1.144_970_152_946_223_3,
                        -0.636_851_732_614_033_6,
                        0.070_368_615_616_089_56,
                    ],
                    vec![
                        0.0,
                        3.249_424_112_882_321,
                        -3.990_373_082_079_522_2,
                        1.382_139_070_462_902_4,
                        -0.011_257_052_275_536_757,
                    ],
                    vec![
                        0.0,
                        -0.679_134_087_219_078_6,
                        1.525_604_502_392_216,
                        -0.665_682_770_717_056_3,
                        -0.111_162_849_974_052_94,
                    ],
                    vec![
                        0.0,
                        -0.731_646_320_045_721_6,
                        1.539_829_625_702_961_8,
                        -0.584_720_291_268_762_5,
                        0.036_536_985_611_521_99,
                    ],
                ]),
                a,
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(method: &Tableau, theta: f64) -> Vec<f64> {
        let mut weights = Vec::new();
        method.weights(theta, &mut weights);
        weights
    }

    fn all() -> [&'static Tableau; 5] {
        [Tableau::euler(), Tableau::rk4(), Tableau::tsit5(), Tableau::dop853(), Tableau::kvaerno5()]
    }

    #[test]
    fn nodes_are_sums_of_their_rows() {
        for method in all() {
            for (i, row) in method.a.iter().enumerate() {
                let diagonal = if i == 0 || i >= method.stages { 0.0 } else { method.gamma };
                let sum = row.iter().sum::<f64>() + diagonal;
                assert!((sum - method.c[i]).abs() < 1e-13, "{} row {i}: {sum}", method.name);
            }
        }
    }

    #[test]
    fn interpolation_meets_the_ends_and_integrates_polynomials() {
        for (method, degree) in all().into_iter().zip([1, 4, 4, 7, 4]) {
            let end = weights(method, 1.0);
            let mut step = method.a[method.stages - 1].clone();
            step.push(method.gamma);
            step.resize(end.len(), 0.0);
            for (i, (a, b)) in end.iter().zip(&step).enumerate() {
                assert!((a - b).abs() < 2e-14, "{} weight {i}: {a} {b}", method.name);
            }
            // The last power is lost where the cubic of RK4 interpolates.
            let degree = if method.name == "rk4" { 3 } else { degree };
            for theta in [0.1, 0.35, 0.8] {
                let weights = weights(method, theta);
                for power in 0..degree {
                    let sum: f64 = weights.iter().zip(&method.c).map(|(w, c)| w * c.powi(power)).sum();
                    let exact = theta.powi(power + 1) / f64::from(power + 1);
                    assert!(
                        (sum - exact).abs() < 1e-12,
                        "{} at {theta}, power {power}: {sum} {exact}",
                        method.name
                    );
                }
            }
        }
    }
}
