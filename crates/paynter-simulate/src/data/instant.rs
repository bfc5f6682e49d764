//! Instants as loggers write them: dates with times of day, times of day alone, and time stamps that count seconds from
//! 1970 on. They are read as whole nanoseconds, so that their differences are exact.

/// Nanoseconds in a second.
const SECOND: i128 = 1_000_000_000;

/// Numbers of seconds from this one on are time stamps: they would be runs of more than three years, and as numbers they
/// leave too few digits for the time between samples.
pub(super) const STAMP: f64 = 1e8;

/// An instant in nanoseconds, from an origin that all instants written alike share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Instant(i128);

impl Instant {
    /// Reads a date, `2026-11-19`, `2026/11/19` or `19.11.2026`, with a time of day behind a blank or a `T`, or a time of
    /// day alone, `20:39` or `20:39:24.5`; a `Z` or an offset such as `+01:00` may follow.
    pub fn read(text: &str) -> Option<Instant> {
        let text = text.trim();
        let (date, time) = match text.find(['T', ' ']) {
            Some(at) => (Some(&text[..at]), text[at + 1..].trim()),
            None if text.contains(':') => (None, text),
            None => (Some(text), ""),
        };
        let days = date.map_or(Some(0), days)?;
        let time = if time.is_empty() { 0 } else { time_of_day(time)? };
        Some(Instant(i128::from(days) * 86_400 * SECOND + time))
    }

    /// Reads a decimal number of units of so many seconds; one with an exponent has the digits of a floating-point number.
    pub fn stamp(text: &str, seconds: f64) -> Option<Instant> {
        let per_unit = (seconds * SECOND as f64).round();
        if per_unit < 1.0 {
            return None;
        }
        let per_unit = per_unit as i128;
        let decimal = || {
            let (sign, digits) = match text.strip_prefix('-') {
                Some(rest) => (-1, rest),
                None => (1, text.strip_prefix('+').unwrap_or(text)),
            };
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            if whole.len() > 18 || !plain(whole) || !plain(fraction) || whole.is_empty() {
                return None;
            }
            // Nanoseconds are less than any more digits.
            let fraction = &fraction[..fraction.len().min(15)];
            let scale = 10i128.pow(fraction.len() as u32);
            let parts = whole.parse::<i128>().ok()? * scale + fraction.parse::<i128>().unwrap_or(0);
            Some(Instant(sign * (parts * per_unit / scale)))
        };
        decimal().or_else(|| {
            let value = text.parse::<f64>().ok()? * seconds * SECOND as f64;
            (value.abs() < 1e30).then_some(Instant(value as i128))
        })
    }

    /// The seconds from another instant to this one.
    pub fn since(self, first: Instant) -> f64 {
        let nanoseconds = self.0 - first.0;
        // Whole seconds and the rest apart: both are exact.
        (nanoseconds / SECOND) as f64 + (nanoseconds % SECOND) as f64 / SECOND as f64
    }
}

/// The days from the first of January 1970 to a date.
fn days(text: &str) -> Option<i64> {
    let list = |sign: char| text.split(sign).map(|part| part.parse::<i64>().ok()).collect::<Option<Vec<_>>>();
    let (year, month, day) = match (list('-'), list('/'), list('.')) {
        (Some(list), ..) | (_, Some(list), _) if list.len() == 3 && list[0] >= 1000 => {
            (list[0], list[1], list[2])
        }
        (.., Some(list)) if list.len() == 3 && list[2] >= 1000 => (list[2], list[1], list[0]),
        _ => return None,
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=longest).contains(&day) || year > 9999 {
        return None;
    }
    // Years that begin in March have their leap day last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(365 * year + year / 4 - year / 100 + year / 400 + of_year - 719_468)
}

/// The nanoseconds from midnight, in universal time where an offset is told.
fn time_of_day(text: &str) -> Option<i128> {
    let (clock, offset) = match text.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, 0),
        None => match text.rfind(['+', '-']) {
            Some(at) => {
                let sign = if text.as_bytes()[at] == b'-' { -1 } else { 1 };
                (&text[..at], sign * offset(&text[at + 1..])?)
            }
            None => (text, 0),
        },
    };
    let mut parts = clock.trim().split(':');
    let whole = |text: &str, most: i128| {
        let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i128>().ok().filter(|value| digits && *value <= most)
    };
    let (hours, minutes) = (whole(parts.next()?, 24)?, whole(parts.next()?, 59)?);
    let seconds = match parts.next() {
        None => 0,
        Some(text) => {
            let (whole_part, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
            if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            let nanoseconds = format!("{:0<9}", &fraction[..fraction.len().min(9)]).parse::<i128>().ok()?;
            // A leap second is one more.
            whole(whole_part, 60)? * SECOND + nanoseconds
        }
    };
    if parts.next().is_some() {
        return None;
    }
    Some((hours * 3600 + minutes * 60 - offset * 60) * SECOND + seconds)
}

/// The minutes of an offset from universal time: `01:00`, `0100` or `01`.
fn offset(text: &str) -> Option<i128> {
    let digits: String = text.chars().filter(|sign| *sign != ':').collect();
    let number = |text: &str| text.parse::<i128>().ok();
    match (digits.len(), digits.bytes().all(|byte| byte.is_ascii_digit())) {
        (2, true) => number(&digits).map(|hours| 60 * hours),
        (4, true) => Some(60 * number(&digits[..2])? + number(&digits[2..])?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_of_day_are_read_exactly() {
        let read = |text: &str| Instant::read(text).unwrap();
        let seconds = |later: &str, first: &str| read(later).since(read(first));
        assert_eq!(read("1970-01-01").0, 0);
        assert_eq!(read("2026-11-19T20:39:24Z").0 / SECOND, 1_795_120_764);
        assert_eq!(seconds("2026-11-19 20:39:24.125", "2026-11-19T20:39:24"), 0.125);
        assert_eq!(seconds("2024-03-01", "2024-02-28"), 172_800.0);
        assert_eq!(seconds("2023/03/01", "2023/02/28"), 86_400.0);
        assert_eq!(seconds("01.01.2000 00:00:01", "31.12.1999 23:59:59"), 2.0);
        assert_eq!(seconds("12:01", "12:00:30"), 30.0);
        // Offsets are taken out: the same instant.
        assert_eq!(seconds("2026-01-01T01:30:00+01:30", "2026-01-01T00:00:00Z"), 0.0);
        assert_eq!(seconds("2026-01-01T00:00:00-0100", "2026-01-01 00:00"), 3600.0);
        for bad in [
            "",
            "12",
            "1.5",
            "2026-13-01",
            "2026-02-30",
            "12:60",
            "25:00:00",
            "12:00:00:00",
            "19-11-2026",
            "x:y",
        ] {
            assert!(Instant::read(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn time_stamps_keep_the_digits_between_samples() {
        let stamp = |text: &str, unit: f64| Instant::stamp(text, unit).unwrap();
        let first = stamp("1795120764.000123", 1.0);
        assert_eq!(stamp("1795120764.001123", 1.0).since(first), 1e-3);
        assert_eq!(stamp("1795120764125", 1e-3).since(stamp("1795120764000", 1e-3)), 0.125);
        assert_eq!(stamp("1.5e9", 1.0).since(stamp("1499999999", 1.0)), 1.0);
        assert!(Instant::stamp("x", 1.0).is_none() && Instant::stamp("nan", 1.0).is_none());
    }
}
