//! Physical dimensions and the table of units.

use std::fmt;

use paynter_algebra::{Expr, Pool, Rational};
use paynter_base::{FileId, Span};
use paynter_language::ast;

/// Exponents are kept in sixtieths, so that roots of small order stay exact.
const ONE: i32 = 60;

/// A physical dimension: exponents of m, kg, s, A, K, mol, cd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Dimension([i32; 7]);

impl Dimension {
    /// The dimension of a pure number.
    pub const NONE: Dimension = Dimension([0; 7]);

    /// Makes a dimension from whole exponents of m, kg, s, A, K, mol, cd.
    pub const fn new(exponents: [i32; 7]) -> Dimension {
        let mut scaled = [0; 7];
        let mut i = 0;
        while i < 7 {
            scaled[i] = exponents[i] * ONE;
            i += 1;
        }
        Dimension(scaled)
    }

    /// The dimension of a product.
    pub fn times(self, other: Dimension) -> Dimension {
        Dimension(std::array::from_fn(|i| self.0[i].saturating_add(other.0[i])))
    }

    /// The dimension of a quotient.
    pub fn over(self, other: Dimension) -> Dimension {
        Dimension(std::array::from_fn(|i| self.0[i].saturating_sub(other.0[i])))
    }

    /// The dimension of a power with exponent `numerator/denominator`; none where it has no exact form.
    pub fn power(self, numerator: i64, denominator: i64) -> Option<Dimension> {
        let mut out = [0; 7];
        for (to, from) in out.iter_mut().zip(self.0) {
            let scaled = i64::from(from).checked_mul(numerator)?;
            if denominator == 0 || scaled % denominator != 0 {
                return None;
            }
            *to = i32::try_from(scaled / denominator).ok()?;
        }
        Some(Dimension(out))
    }
}

impl fmt::Display for Dimension {
    /// Prints a well-known unit where there is one, else base units: `N*m`, `kg/s^2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Dimension::NONE {
            return f.write_str("1");
        }
        if let Some((name, _)) = COHERENT.iter().find(|(_, d)| d == self) {
            return f.write_str(name);
        }
        let part = |f: &mut fmt::Formatter<'_>, name: &str, sixtieths: i32| {
            f.write_str(name)?;
            if sixtieths == ONE {
                Ok(())
            } else if sixtieths % ONE == 0 {
                write!(f, "^{}", sixtieths / ONE)
            } else {
                let g = gcd(sixtieths, ONE);
                write!(f, "^({}/{})", sixtieths / g, ONE / g)
            }
        };
        let names = ["m", "kg", "s", "A", "K", "mol", "cd"];
        // Kilogram first reads as people write it: kg*m^2/s.
        let order = [1, 0, 3, 4, 5, 6, 2];
        let mut first = true;
        for i in order.into_iter().filter(|&i| self.0[i] > 0) {
            if !first {
                f.write_str("*")?;
            }
            first = false;
            part(f, names[i], self.0[i])?;
        }
        if first {
            f.write_str("1")?;
        }
        for i in order.into_iter().filter(|&i| self.0[i] < 0) {
            f.write_str("/")?;
            part(f, names[i], -self.0[i])?;
        }
        Ok(())
    }
}

fn gcd(a: i32, b: i32) -> i32 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// Units a person would name instead of base units.
const COHERENT: &[(&str, Dimension)] = &[
    ("N", Dimension::new([1, 1, -2, 0, 0, 0, 0])),
    ("N*m", Dimension::new([2, 1, -2, 0, 0, 0, 0])),
    ("Pa", Dimension::new([-1, 1, -2, 0, 0, 0, 0])),
    ("W", Dimension::new([2, 1, -3, 0, 0, 0, 0])),
    ("W/K", Dimension::new([2, 1, -3, 0, -1, 0, 0])),
    ("J/K", Dimension::new([2, 1, -2, 0, -1, 0, 0])),
    ("J/mol", Dimension::new([2, 1, -2, 0, 0, -1, 0])),
    ("C", Dimension::new([0, 0, 1, 1, 0, 0, 0])),
    ("V", Dimension::new([2, 1, -3, -1, 0, 0, 0])),
    ("V*s", Dimension::new([2, 1, -2, -1, 0, 0, 0])),
    ("F", Dimension::new([-2, -1, 4, 2, 0, 0, 0])),
    ("ohm", Dimension::new([2, 1, -3, -2, 0, 0, 0])),
    ("S", Dimension::new([-2, -1, 3, 2, 0, 0, 0])),
    ("H", Dimension::new([2, 1, -2, -2, 0, 0, 0])),
    ("N/m", Dimension::new([0, 1, -2, 0, 0, 0, 0])),
    ("N*s", Dimension::new([1, 1, -1, 0, 0, 0, 0])),
    ("N*s/m", Dimension::new([0, 1, -1, 0, 0, 0, 0])),
    ("N*m*s", Dimension::new([2, 1, -1, 0, 0, 0, 0])),
    ("N*m/A", Dimension::new([2, 1, -2, -1, 0, 0, 0])),
    ("Pa*s/m^3", Dimension::new([-4, 1, -1, 0, 0, 0, 0])),
    ("m^3/Pa", Dimension::new([4, -1, 2, 0, 0, 0, 0])),
];

/// How a unit symbol scales to SI.
#[derive(Debug, Clone, Copy)]
enum Scale {
    /// A fraction of whole numbers.
    Ratio(i64, i64),
    /// A fraction times π (angles in degrees, turns).
    PiRatio(i64, i64),
}

use Scale::{PiRatio, Ratio};

/// A symbol, its exponents of the base units, its scale, and whether it takes prefixes.
type Entry = (&'static str, [i32; 7], Scale, bool);

/// Symbol, dimension, scale to SI, whether prefixes are allowed.
const UNITS: &[Entry] = &[
    ("m", [1, 0, 0, 0, 0, 0, 0], Ratio(1, 1), true),
    ("g", [0, 1, 0, 0, 0, 0, 0], Ratio(1, 1000), true),
    ("s", [0, 0, 1, 0, 0, 0, 0], Ratio(1, 1), true),
    ("A", [0, 0, 0, 1, 0, 0, 0], Ratio(1, 1), true),
    ("K", [0, 0, 0, 0, 1, 0, 0], Ratio(1, 1), true),
    ("mol", [0, 0, 0, 0, 0, 1, 0], Ratio(1, 1), true),
    ("cd", [0, 0, 0, 0, 0, 0, 1], Ratio(1, 1), true),
    ("rad", [0; 7], Ratio(1, 1), true),
    ("sr", [0; 7], Ratio(1, 1), true),
    ("Hz", [0, 0, -1, 0, 0, 0, 0], Ratio(1, 1), true),
    ("N", [1, 1, -2, 0, 0, 0, 0], Ratio(1, 1), true),
    ("Pa", [-1, 1, -2, 0, 0, 0, 0], Ratio(1, 1), true),
    ("J", [2, 1, -2, 0, 0, 0, 0], Ratio(1, 1), true),
    ("W", [2, 1, -3, 0, 0, 0, 0], Ratio(1, 1), true),
    ("C", [0, 0, 1, 1, 0, 0, 0], Ratio(1, 1), true),
    ("V", [2, 1, -3, -1, 0, 0, 0], Ratio(1, 1), true),
    ("F", [-2, -1, 4, 2, 0, 0, 0], Ratio(1, 1), true),
    ("ohm", [2, 1, -3, -2, 0, 0, 0], Ratio(1, 1), true),
    ("Ω", [2, 1, -3, -2, 0, 0, 0], Ratio(1, 1), true),
    ("S", [-2, -1, 3, 2, 0, 0, 0], Ratio(1, 1), true),
    ("Wb", [2, 1, -2, -1, 0, 0, 0], Ratio(1, 1), true),
    ("T", [0, 1, -2, -1, 0, 0, 0], Ratio(1, 1), true),
    ("H", [2, 1, -2, -2, 0, 0, 0], Ratio(1, 1), true),
    ("lm", [0, 0, 0, 0, 0, 0, 1], Ratio(1, 1), true),
    ("lx", [-2, 0, 0, 0, 0, 0, 1], Ratio(1, 1), true),
    ("Bq", [0, 0, -1, 0, 0, 0, 0], Ratio(1, 1), true),
    ("Gy", [2, 0, -2, 0, 0, 0, 0], Ratio(1, 1), true),
    ("Sv", [2, 0, -2, 0, 0, 0, 0], Ratio(1, 1), true),
    ("kat", [0, 0, -1, 0, 0, 1, 0], Ratio(1, 1), true),
    ("l", [3, 0, 0, 0, 0, 0, 0], Ratio(1, 1000), true),
    ("L", [3, 0, 0, 0, 0, 0, 0], Ratio(1, 1000), true),
    ("t", [0, 1, 0, 0, 0, 0, 0], Ratio(1000, 1), true),
    ("M", [-3, 0, 0, 0, 0, 1, 0], Ratio(1000, 1), true),
    ("cal", [2, 1, -2, 0, 0, 0, 0], Ratio(4184, 1000), true),
    ("bar", [-1, 1, -2, 0, 0, 0, 0], Ratio(100_000, 1), true),
    ("atm", [-1, 1, -2, 0, 0, 0, 0], Ratio(101_325, 1), false),
    ("min", [0, 0, 1, 0, 0, 0, 0], Ratio(60, 1), false),
    ("h", [0, 0, 1, 0, 0, 0, 0], Ratio(3600, 1), false),
    ("d", [0, 0, 1, 0, 0, 0, 0], Ratio(86_400, 1), false),
    ("day", [0, 0, 1, 0, 0, 0, 0], Ratio(86_400, 1), false),
    ("deg", [0; 7], PiRatio(1, 180), false),
    ("°", [0; 7], PiRatio(1, 180), false),
    ("rev", [0; 7], PiRatio(2, 1), false),
    ("rpm", [0, 0, -1, 0, 0, 0, 0], PiRatio(1, 30), false),
    ("%", [0; 7], Ratio(1, 100), false),
];

/// Prefixes and their powers of ten; `µ` is normalised to `μ` before it comes here.
const PREFIXES: &[(&str, i32)] = &[
    ("Q", 30),
    ("R", 27),
    ("Y", 24),
    ("Z", 21),
    ("E", 18),
    ("P", 15),
    ("T", 12),
    ("G", 9),
    ("M", 6),
    ("k", 3),
    ("h", 2),
    ("da", 1),
    ("d", -1),
    ("c", -2),
    ("m", -3),
    ("μ", -6),
    ("u", -6),
    ("n", -9),
    ("p", -12),
    ("f", -15),
    ("a", -18),
    ("z", -21),
    ("y", -24),
    ("r", -27),
    ("q", -30),
];

/// Symbols that are a prefix and a unit and that people use for something else: what they are taken for, what
/// they may have been meant for, and how that is written.
const LOOK_ALIKES: &[(&str, &str, &str, &str)] = &[
    ("ft", "femtotonne, 1e-12 kg", "the foot", "write m; a foot is 0.3048 m"),
    ("pt", "picotonne, 1e-9 kg", "the pint", "write l; a pint is 0.473176 l (US) or 0.568261 l (imperial)"),
    (
        "qt",
        "quectotonne, 1e-27 kg",
        "the quart",
        "write l; a quart is 0.946353 l (US) or 1.136523 l (imperial)",
    ),
    ("kt", "kilotonne, 1e6 kg", "the knot", "write m/s; a knot is 0.514444 m/s"),
    ("ct", "centitonne, 10 kg", "the carat", "write mg; a carat is 200 mg"),
    ("at", "attotonne, 1e-15 kg", "the technical atmosphere", "write bar; an at is 0.980665 bar"),
    ("mt", "millitonne, 1 kg", "the metric ton", "write t"),
    ("PS", "petasiemens, 1e15 S", "the metric horsepower", "write W; a PS is 735.49875 W"),
    ("Ps", "petasecond, 1e15 s", "the picosecond", "write ps"),
    ("Gs", "gigasecond, 1e9 s", "the gauss", "write T; a gauss is 1e-4 T"),
    ("PA", "petaampere, 1e15 A", "the pascal", "write Pa"),
    ("PF", "petafarad, 1e15 F", "the picofarad", "write pF"),
    ("MF", "megafarad, 1e6 F", "the millifarad or the microfarad", "write mF or uF"),
    ("MH", "megahenry, 1e6 H", "the millihenry", "write mH"),
    ("MS", "megasiemens, 1e6 S", "the millisecond", "write ms"),
    ("Ms", "megasecond, 1e6 s", "the millisecond", "write ms"),
    ("kM", "kilomolar, 1e6 mol/m^3", "the kilometre", "write km"),
    ("MM", "megamolar, 1e9 mol/m^3", "the millimetre", "write mm"),
    ("cM", "centimolar, 10 mol/m^3", "the centimetre", "write cm"),
];

/// Questions the first symbol of a unit that people use for something else.
pub fn questioned(unit: &ast::Unit) -> Option<BadUnit> {
    unit.factors.iter().find_map(|factor| {
        let symbol = factor.symbol.text.as_str();
        let (_, taken, meant, remedy) = LOOK_ALIKES.iter().find(|entry| entry.0 == symbol)?;
        Some(BadUnit {
            span: factor.symbol.span,
            message: format!("`{symbol}` is taken for the {taken}; did you mean {meant}?"),
            help: format!("for {meant} {remedy}; for the other choose a prefix that nobody misreads"),
        })
    })
}

/// A unit as it stands in a model, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// As written, without the brackets: `N*m/A`.
    pub text: String,
    /// Its dimension.
    pub dimension: Dimension,
    /// One of it in SI, exact (may contain π).
    pub scale: Expr,
    /// The same as a number.
    pub factor: f64,
}

/// A part of a unit that is not understood.
#[derive(Debug, Clone, PartialEq)]
pub struct BadUnit {
    /// Where it stands.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// Understands a unit, or says what is wrong with it.
pub fn read_unit(pool: &mut Pool, unit: &ast::Unit) -> Result<Unit, BadUnit> {
    let mut dimension = Dimension::NONE;
    let mut scale = pool.one();
    let mut text = String::new();
    for factor in &unit.factors {
        let symbol = factor.symbol.text.as_str();
        let Some((base, one)) = lookup(pool, symbol) else {
            let message = format!("`{symbol}` is not a known unit");
            return Err(BadUnit { span: factor.symbol.span, message, help: suggestion(symbol) });
        };
        let Some(part) = base.power(i64::from(factor.power), i64::from(factor.root)) else {
            let message =
                format!("the exponent {}/{} of `{symbol}` is not understood", factor.power, factor.root);
            let help = "use a whole exponent or a simple fraction, such as 1/2".to_owned();
            return Err(BadUnit { span: factor.symbol.span, message, help });
        };
        dimension = dimension.times(part);
        let exponent = rational(pool, i64::from(factor.power), i64::from(factor.root));
        let power = pool.pow(one, exponent);
        scale = pool.mul(scale, power);
        if factor.power < 0 {
            text.push_str(if text.is_empty() { "1/" } else { "/" });
        } else if !text.is_empty() {
            text.push('*');
        }
        text.push_str(symbol);
        match (factor.power.abs(), factor.root) {
            (1, 1) => {}
            (n, 1) => text.push_str(&format!("^{n}")),
            (n, d) => text.push_str(&format!("^({n}/{d})")),
        }
    }
    if text.is_empty() {
        text.push('1');
    }
    let factor = pool.eval(scale, &|_| None).unwrap_or(0.0);
    if !factor.is_finite() || factor == 0.0 {
        let message = format!("the unit {text} is beyond the range of numbers");
        return Err(BadUnit { span: unit.span, message, help: "use a smaller exponent".to_owned() });
    }
    Ok(Unit { text, dimension, scale, factor })
}

/// Reads the text of a unit, without brackets, as the language does.
pub fn unit_of(text: &str) -> Option<Unit> {
    if text.contains(['[', ']', '{', '}', ';', '\n']) {
        return None;
    }
    let text = format!("model m {{ param p = 1 [{text}] }}");
    let (file, mistakes) = paynter_language::parse_syntax(&text, FileId(0));
    match file.models.first()?.statements.first()? {
        ast::Statement::Param(param) if mistakes.is_empty() => {
            read_unit(&mut Pool::new(), param.unit.as_ref()?).ok()
        }
        _ => None,
    }
}

/// Finds a symbol with the power of ten of its prefix: an exact one wins over prefix and symbol (`min`, `Pa`).
fn find(symbol: &str) -> Option<(i32, &'static Entry)> {
    if let Some(unit) = UNITS.iter().find(|unit| unit.0 == symbol) {
        return Some((0, unit));
    }
    PREFIXES.iter().find_map(|&(prefix, power)| {
        let rest = symbol.strip_prefix(prefix)?;
        Some((power, UNITS.iter().find(|unit| unit.3 && unit.0 == rest)?))
    })
}

fn lookup(pool: &mut Pool, symbol: &str) -> Option<(Dimension, Expr)> {
    let (power, &(_, exponents, scale, _)) = find(symbol)?;
    let scale = scale_expr(pool, scale);
    let (ten, exponent) = (pool.int(10), pool.int(i64::from(power)));
    let prefix = pool.pow(ten, exponent);
    Some((Dimension::new(exponents), pool.mul(prefix, scale)))
}

/// Prefixes that people mean when they get the case of letters wrong.
const COMMON_PREFIXES: &[&str] = &["", "k", "m", "M", "G", "c", "h", "μ", "u", "n", "p"];

/// Products that people write without a sign.
const COMPOUNDS: &[&str] =
    &["kWh", "Wh", "MWh", "GWh", "mWh", "Ah", "mAh", "kAh", "VA", "kVA", "MVA", "Nm", "kNm", "mNm"];

/// Units with which people write products without signs, beside those without prefixes.
const INNER: &[&str] = &["mm", "cm", "km", "kg"];

/// Known units that differ from a symbol in the case of letters alone.
fn other_cases(symbol: &str) -> Vec<String> {
    let same = |other: &str| other != symbol && other.to_lowercase() == symbol.to_lowercase();
    let mut found: Vec<String> =
        COMPOUNDS.iter().filter(|known| same(known)).filter_map(|known| with_signs(known)).collect();
    for (unit, .., prefixed) in UNITS {
        let prefixes = if *prefixed { COMMON_PREFIXES } else { &[""][..] };
        let names = prefixes.iter().map(|prefix| format!("{prefix}{unit}"));
        found.extend(names.filter(|name| same(name) && LOOK_ALIKES.iter().all(|entry| entry.0 != name)));
    }
    found.truncate(3);
    found
}

/// Units that were written without signs between them, with these: `kgm2` is kg*m^2, `kWh` is kW*h.
fn with_signs(symbol: &str) -> Option<String> {
    product(symbol, true)
}

/// See [`with_signs`]; only the first of a product has any prefix.
fn product(symbol: &str, first: bool) -> Option<String> {
    let known = |unit: &str| match find(unit)? {
        (0, _) => Some(()),
        _ => (first || INNER.contains(&unit)).then_some(()),
    };
    let letters = symbol.find(|c: char| c.is_ascii_digit()).unwrap_or(symbol.len());
    let ends = symbol[..letters].char_indices().map(|(at, c)| at + c.len_utf8()).collect::<Vec<_>>();
    ends.into_iter().rev().find_map(|end| {
        known(&symbol[..end])?;
        let digits = symbol[end..].find(|c: char| !c.is_ascii_digit()).map_or(symbol.len(), |n| end + n);
        let power = &symbol[end..digits];
        let first =
            if power.is_empty() { symbol[..end].to_owned() } else { format!("{}^{power}", &symbol[..end]) };
        match digits == symbol.len() {
            true => Some(first),
            false => Some(format!("{first}*{}", product(&symbol[digits..], false)?)),
        }
    })
}

fn scale_expr(pool: &mut Pool, scale: Scale) -> Expr {
    match scale {
        Ratio(n, d) => rational(pool, n, d),
        PiRatio(n, d) => {
            let ratio = rational(pool, n, d);
            let pi = pool.pi();
            pool.mul(ratio, pi)
        }
    }
}

fn rational(pool: &mut Pool, numerator: i64, denominator: i64) -> Expr {
    pool.number(Rational::from_parts(numerator.into(), denominator.unsigned_abs().into()))
}

fn suggestion(symbol: &str) -> String {
    match symbol {
        "degC" | "°C" | "Celsius" | "celsius" => {
            "temperatures are in kelvin; write K and add 273.15 to the value".to_owned()
        }
        "kph" | "kmh" => "write km/h".to_owned(),
        "mph" => "write m/s: 1 mph is 0.44704 m/s".to_owned(),
        "kn" => "write m/s: a knot is 0.514444 m/s".to_owned(),
        "in" | "inch" => "write mm: an inch is 25.4 mm".to_owned(),
        "foot" | "feet" => "write m: a foot is 0.3048 m".to_owned(),
        "lb" | "lbs" | "lbm" => "write kg: a pound is 0.45359237 kg".to_owned(),
        "lbf" => "write N: 1 lbf is 4.448222 N".to_owned(),
        "kgf" | "kp" => "write N: 1 kgf is 9.80665 N".to_owned(),
        "hp" | "HP" => "write W: a horsepower is 745.699872 W, a metric one (PS) 735.49875 W".to_owned(),
        "gal" => "write l: a US gallon is 3.785412 l".to_owned(),
        "mmHg" | "Torr" | "torr" => "write Pa: 1 mmHg is 133.322 Pa".to_owned(),
        "P" | "cP" => "write mPa*s: 1 cP is 1 mPa*s, 1 P is 100".to_owned(),
        "Cal" => "write kcal".to_owned(),
        "hr" | "hrs" | "hour" | "hours" => "write h".to_owned(),
        "days" => "write day".to_owned(),
        "yr" | "year" | "a" => "write day: a year is 365.25 day".to_owned(),
        "G" | "Gs" | "gauss" => "write T: 1 gauss is 1e-4 T".to_owned(),
        "eV" => "write J: 1 eV is 1.602176634e-19 J".to_owned(),
        "psi" => "write Pa: 1 psi is 6894.757 Pa".to_owned(),
        "Ohm" | "OHM" | "Ohms" | "ohms" => "write ohm or Ω".to_owned(),
        "sec" | "seconds" => "write s".to_owned(),
        "l/min" => "write l/min as two units".to_owned(),
        "lpm" | "LPM" => "write l/min".to_owned(),
        "gpm" | "GPM" => "write l/min: a US gallon per minute is 3.785412 l/min".to_owned(),
        "rps" => "write rev/s".to_owned(),
        "cc" | "ccm" => "write cm^3".to_owned(),
        "BTU" | "Btu" | "btu" => "write J: 1 BTU is 1055.056 J".to_owned(),
        "Å" | "Ang" | "Angstrom" | "angstrom" => "write nm: an angstrom is 0.1 nm".to_owned(),
        "dB" | "db" | "DB" => "write the ratio itself: 20 dB of an amplitude are a factor of 10".to_owned(),
        "ppm" => "write the ratio itself: 1 ppm is 1e-6".to_owned(),
        _ => {
            let near = || paynter_base::closest(symbol, UNITS.iter().map(|unit| unit.0)).map(str::to_owned);
            let plural = || symbol.strip_suffix('s').filter(|one| one.len() > 2 && find(one).is_some());
            let cases = || match other_cases(symbol) {
                list if list.is_empty() || COMPOUNDS.contains(&symbol) => None,
                list => Some(list.join("` or `")),
            };
            match plural().map(str::to_owned).or_else(cases).or_else(|| with_signs(symbol)).or_else(near) {
                Some(meant) => {
                    format!(
                        "did you mean `{meant}`? Units are SI names with prefixes, such as mH, kPa, N*m/A"
                    )
                }
                None => "units are SI names with prefixes, such as mH, kPa, N*m/A, kg*m^2".to_owned(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_without_signs_are_read_apart() {
        for (written, meant) in [
            ("kgm2", "kg*m^2"),
            ("cm2", "cm^2"),
            ("m3", "m^3"),
            ("VA", "V*A"),
            ("kWh", "kW*h"),
            ("Nm", "N*m"),
            ("bars", "bar"),
            ("Nmm", "N*mm"),
            ("Nms", "N*m*s"),
            ("kwh", "kW*h"),
            ("KWH", "kW*h"),
            ("mah", "mA*h"),
            ("khz", "kHz"),
            ("KM", "km"),
            ("RPM", "rpm"),
            ("kpa", "kPa"),
            ("mhz", "mHz` or `MHz"),
        ] {
            let help = suggestion(written);
            assert!(help.starts_with(&format!("did you mean `{meant}`?")), "{written}: {help}");
        }
    }
}
