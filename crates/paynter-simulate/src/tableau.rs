//! Runge–Kutta methods as data. The last stage of each is the end of its step.

#![allow(clippy::excessive_precision, reason = "the digits as published")]

use crate::dop853;
use std::sync::OnceLock;

/// No interpolation is of a higher degree.
const DEGREE: usize = 8;

/// And none has more stages.
const STAGES: usize = 16;

/// The stages that interpolate, and power by power their coefficients.
#[derive(Debug, Clone, PartialEq)]
struct Dense {
    stages: Vec<usize>,
    rows: Vec<[f64; STAGES]>,
}

impl Dense {
    /// From stages with their coefficients.
    fn new(columns: impl IntoIterator<Item = (usize, Vec<f64>)>) -> Dense {
        let (stages, columns): (Vec<usize>, Vec<Vec<f64>>) = columns.into_iter().unzip();
        let degree = columns.iter().map(Vec::len).max().unwrap_or(0);
        let coefficient = |power: usize, i: usize| columns.get(i).and_then(|list| list.get(power)).copied();
        let row = |power| std::array::from_fn(|i| coefficient(power, i).unwrap_or(0.0));
        Dense { stages, rows: (0..degree).map(row).collect() }
    }
}

/// The stage of DOP853 that differs from the interpolation by about a fiftieth of its error where a step is
/// at the limit of stability, and the factor that lets this error be ten times the tolerance there. What
/// the interpolation of a smooth solution does is less than the error at the end of its step.
const INSIDE: usize = 14;
const WEIGHT: f64 = 5.0;

/// Stages with their factors, those that are not zero.
pub(crate) type Terms = Vec<(usize, f64)>;

/// Leaves out what is zero.
fn terms(row: &[f64]) -> Terms {
    row.iter().copied().enumerate().filter(|(_, factor)| *factor != 0.0).collect()
}

/// A Runge–Kutta method.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tableau {
    pub name: &'static str,
    /// The number of stages of a step.
    pub stages: usize,
    /// More stages that only interpolation needs.
    pub extra: usize,
    /// How each stage is made of those before it.
    pub a: Vec<Terms>,
    pub c: Vec<f64>,
    /// The diagonal of an implicit method, 0 for an explicit one.
    pub gamma: f64,
    /// Guesses of the stages of an implicit method from those before.
    pub guess: Vec<Vec<f64>>,
    /// Weights of the error; a second list tames the first, as in the code DOP853.
    pub errors: Vec<Terms>,
    /// The order of the method.
    pub order: usize,
    /// How fast the error falls with the step: h^rate.
    pub rate: f64,
    /// Steps times eigenvalue beyond which an explicit method is unstable on the negative axis.
    pub stability: f64,
    /// Weights of the error within a step, where it may be far larger than at the end.
    pub inside: Terms,
    /// How the stages interpolate within a step: their coefficients of θ, θ², …, or of θ, θ(1 − θ), θ²(1 − θ), …
    dense: Dense,
    /// Whether the latter, as in the code DOP853.
    nested: bool,
}

impl Tableau {
    /// The number of stages with those for interpolation.
    pub fn all_stages(&self) -> usize {
        self.stages + self.extra
    }

    /// The weights of stages for the place θ within a step.
    pub fn weights(&self, theta: f64, weights: &mut Terms) {
        let factors = [theta, if self.nested { 1.0 - theta } else { theta }];
        let mut product = 1.0;
        let products: [f64; DEGREE] = std::array::from_fn(|i| {
            product *= factors[i % 2];
            product
        });
        let mut sums = [0.0; STAGES];
        for (row, product) in self.dense.rows.iter().zip(products) {
            sums = std::array::from_fn(|i| sums[i] + product * row[i]);
        }
        weights.clear();
        weights.extend(self.dense.stages.iter().zip(sums).map(|(stage, sum)| (*stage, sum)));
    }

    /// Weights of the difference between a stage and the interpolation at its place, times a factor.
    fn apart(&self, stage: usize, factor: f64) -> Terms {
        let mut row = vec![0.0; self.all_stages()];
        let mut weights = Vec::new();
        self.weights(self.c[stage], &mut weights);
        weights.iter().for_each(|(i, weight)| row[*i] += factor * weight);
        self.a[stage].iter().for_each(|(i, weight)| row[*i] -= factor * weight);
        terms(&row)
    }

    /// Euler's method, as the papers use it.
    pub fn euler() -> &'static Tableau {
        static METHOD: OnceLock<Tableau> = OnceLock::new();
        METHOD.get_or_init(|| Tableau {
            name: "euler",
            stages: 2,
            extra: 0,
            a: vec![vec![], terms(&[1.0])],
            c: vec![0.0, 1.0],
            gamma: 0.0,
            guess: Vec::new(),
            errors: Vec::new(),
            order: 1,
            rate: 1.0,
            stability: 2.0,
            inside: Vec::new(),
            dense: Dense::new([(0, vec![1.0])]),
            nested: false,
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
            a: [&[][..], &[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0], &b].map(terms).to_vec(),
            c: vec![0.0, 0.5, 0.5, 1.0, 1.0],
            gamma: 0.0,
            guess: Vec::new(),
            errors: Vec::new(),
            order: 4,
            rate: 4.0,
            stability: 2.7,
            // Hermite's cubic: θ²(3 − 2θ)·Σ b k, with the slopes at both ends.
            inside: Vec::new(),
            dense: Dense::new(
                [
                    vec![1.0, 3.0 * b[0] - 2.0, 1.0 - 2.0 * b[0]],
                    vec![0.0, 3.0 * b[1], -2.0 * b[1]],
                    vec![0.0, 3.0 * b[2], -2.0 * b[2]],
                    vec![0.0, 3.0 * b[3], -2.0 * b[3]],
                    vec![0.0, -1.0, 1.0],
                ]
                .into_iter()
                .enumerate(),
            ),
            nested: false,
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
            let column = |stage: usize| (stage, rows.iter().map(|row| row[stage]).collect::<Vec<f64>>());
            let mut method = Tableau {
                name: "dop853",
                stages: 13,
                extra: 3,
                a: dop853::A.map(terms).to_vec(),
                c: dop853::C.to_vec(),
                gamma: 0.0,
                guess: Vec::new(),
                errors: vec![terms(&dop853::E5), terms(&dop853::E3)],
                order: 8,
                rate: 8.0,
                stability: 6.1,
                inside: Vec::new(),
                dense: Dense::new((0..16).map(column).filter(|(_, list)| list.iter().any(|c| *c != 0.0))),
                nested: true,
            };
            method.inside = method.apart(INSIDE, WEIGHT);
            method
        })
    }

    /// The L-stable, stiffly accurate method of orders 5 and 4 of Kværnø (2004).
    ///
    /// Its interpolation has order five as well, by two more implicit stages whose error is of order five.
    /// Weights follow from the order conditions, and from the demand that a fast decay which the step
    /// skips stays out of sight between its ends.
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
                vec![
                    0.078_958_711_658_212_43,
                    0.0,
                    -0.011_669_146_167_287_842,
                    -0.015_654_008_211_421_214,
                    -0.099_829_995_542_641_06,
                    0.0,
                    0.038_194_438_263_137_69,
                ],
                vec![
                    0.173_069_721_452_538_02,
                    0.0,
                    0.036_157_612_894_069_36,
                    -0.195_762_530_935_602_64,
                    0.243_811_451_940_559_12,
                    0.0,
                    0.032_723_744_648_436_15,
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
                extra: 2,
                c: vec![
                    0.0,
                    0.52,
                    1.230_333_209_967_908,
                    0.895_765_984_350_075_9,
                    0.436_393_609_858_647_56,
                    1.0,
                    1.0,
                    0.25,
                    0.55,
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
                    vec![
                        0.184_011_712_305_853_48,
                        0.0,
                        -0.299_817_715_087_816_6,
                        -2.387_556_739_539_038,
                        1.323_254_935_665_073_8,
                        0.0,
                        2.180_107_806_655_927_4,
                    ],
                    vec![
                        -0.025_004_807_494_900_767,
                        0.0,
                        0.129_154_654_962_874_37,
                        1.333_052_732_748_726_3,
                        0.649_041_566_500_956_2,
                        0.0,
                        -1.086_244_146_717_656,
                    ],
                ],
                errors: vec![terms(&error)],
                order: 5,
                rate: 5.0,
                stability: f64::INFINITY,
                inside: Vec::new(),
                dense: Dense::new([0, 2, 3, 4, 5, 6, 7, 8].into_iter().zip([
                    vec![
                        1.000_000_000_000_000_4,
                        -3.406_518_279_550_479,
                        4.351_942_592_998_037_5,
                        -1.801_342_788_462_625_4,
                        -0.007_484_013_208_530_787_6,
                    ],
                    vec![
                        0.0,
                        -0.604_659_967_619_220_5,
                        2.748_454_398_269_188,
                        -3.957_774_333_507_632_7,
                        1.759_010_814_892_281_6,
                    ],
                    vec![
                        0.0,
                        -0.453_048_940_115_312,
                        2.059_313_364_160_521,
                        -2.965_411_244_391_155_3,
                        1.317_960_553_062_736_7,
                    ],
                    vec![
                        0.0,
                        6.929_263_538_891_776,
                        -31.496_652_449_508_183,
                        45.355_179_527_291_83,
                        -20.157_857_567_685_27,
                    ],
                    vec![
                        1.336_365_757_789_810_5,
                        -5.794_468_253_484_044,
                        11.461_759_203_911_974,
                        -10.537_452_706_120_925,
                        3.603_420_792_385_21,
                    ],
                    vec![
                        -1.336_365_757_789_809,
                        7.926_513_832_292_511,
                        -21.017_073_002_087_41,
                        23.900_067_538_456_526,
                        -9.213_142_610_871_817,
                    ],
                    vec![
                        0.0,
                        3.259_259_259_259_271,
                        -1.777_777_777_777_786_8,
                        -6.222_222_222_222_23,
                        4.740_740_740_740_749,
                    ],
                    vec![
                        0.0,
                        -7.856_341_189_674_504,
                        33.670_033_670_033_66,
                        -43.771_043_771_043_786,
                        17.957_351_290_684_638,
                    ],
                ])),
                nested: false,
                a: a.iter().map(|row| terms(row)).collect(),
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

    /// One factor for each stage.
    fn whole(method: &Tableau, terms: &Terms) -> Vec<f64> {
        let mut row = vec![0.0; method.all_stages()];
        terms.iter().for_each(|(stage, factor)| row[*stage] = *factor);
        row
    }

    fn weights(method: &Tableau, theta: f64) -> Vec<f64> {
        let mut weights = Vec::new();
        method.weights(theta, &mut weights);
        whole(method, &weights)
    }

    fn all() -> [&'static Tableau; 5] {
        [Tableau::euler(), Tableau::rk4(), Tableau::tsit5(), Tableau::dop853(), Tableau::kvaerno5()]
    }

    #[test]
    fn nodes_are_sums_of_their_rows() {
        for method in all() {
            for (i, row) in method.a.iter().enumerate() {
                let diagonal = if i == 0 { 0.0 } else { method.gamma };
                let sum = row.iter().map(|(_, factor)| factor).sum::<f64>() + diagonal;
                assert!((sum - method.c[i]).abs() < 1e-13, "{} row {i}: {sum}", method.name);
            }
        }
    }

    /// All stages but the second have order three and more, so that three conditions beside those of
    /// quadrature make a method of order five, at any place within the step (Hairer and Wanner, IV.5).
    #[test]
    fn the_stiff_method_interpolates_with_its_order() {
        let method = Tableau::kvaerno5();
        let whole: Vec<Vec<f64>> = (0..method.all_stages())
            .map(|i| {
                let mut row = whole(method, &method.a[i]);
                row[i] = if i == 0 { 0.0 } else { method.gamma };
                row
            })
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let defect = |power: i32| -> Vec<f64> {
            let powers: Vec<f64> = method.c.iter().map(|c| c.powi(power)).collect();
            let exact = method.c.iter().map(|c| c.powi(power + 1) / f64::from(power + 1));
            whole.iter().zip(exact).map(|(row, exact)| dot(row, &powers) - exact).collect()
        };
        let (third, fourth) = (defect(2), defect(3));
        let carried: Vec<f64> = whole.iter().map(|row| dot(row, &third)).collect();
        // What is left of a fast decay at each stage.
        let mut left = vec![1.0];
        for row in &whole[1..] {
            left.push(-dot(row, &left) / method.gamma);
        }
        for theta in [0.1, 0.35, 0.8, 1.0] {
            let weights = weights(method, theta);
            for condition in [&third, &fourth, &carried, &left] {
                let sum = dot(&weights, condition);
                assert!(sum.abs() < 1e-13, "at {theta}: {sum}");
            }
        }
    }

    #[test]
    fn interpolation_meets_the_ends_and_integrates_polynomials() {
        for (method, degree) in all().into_iter().zip([1, 4, 4, 7, 5]) {
            let end = weights(method, 1.0);
            let last = method.stages - 1;
            let mut step = whole(method, &method.a[last]);
            step[last] = method.gamma;
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
